import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { parsedJson } from './file-text.ts';
import { parentsOf } from './read-files.ts';
import { isInside } from './resolve-inside.ts';

/** The members of a package.json that name packages. */
interface Needs {
  readonly dependencies?: object;
  readonly optionalDependencies?: object;
  readonly devDependencies?: object;
}

/**
 * The packages that are installed for a project, with those that they need: `name@version`, sorted. They are found as Node
 * finds them, so the layout of the package manager does not matter. Packages without a directory are left out.
 */
export function installedPackages(directory: string): readonly string[] {
  const places = new Map<string, string>();
  const visit = (from: string, { dependencies, optionalDependencies, devDependencies }: Needs) => {
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
    for (const name of names.filter(isInside)) {
      const place = packageDirectory(name, from);
      if (place === undefined || places.has(place)) continue;
      const { version, ...needs } = manifestOf(place);
      places.set(place, `${name}@${version}`);
      visit(place, { ...needs, devDependencies: {} });
    }
  };
  visit(directory, manifestOf(directory));
  return [...new Set(places.values())].sort();
}

function manifestOf(directory: string): Needs & { readonly version?: string } {
  return parsedJson(readFileSync(join(directory, 'package.json')));
}

/** The directory of a package that a directory or another package needs, without links. */
export function packageDirectory(name: string, from: string): string | undefined {
  const places = parentsOf(from).map((directory) => join(directory, 'node_modules', name));
  const place = places.find((path) => existsSync(join(path, 'package.json')));
  return place && realpathSync(place);
}
