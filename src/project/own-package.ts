import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FileSet } from '../plan/model.ts';
import { isPublished } from '../plan/published.ts';
import { version } from '../plan/versions.ts';
import { type PackedPackage, packedDirectory, packPackage } from './pack.ts';

/** How a project gets this program. */
export interface OwnPackage {
  /** The specifier in its package.json: an exact version, or `file:vendor/….tgz`. */
  readonly specifier: string;
  /** The files for it in the project. */
  readonly files: FileSet;
}

/** The directory of this package: the parent of `dist` if built, two levels up in a checkout. */
const root = [join(import.meta.dirname, '..'), join(import.meta.dirname, '../..')].find((directory) =>
  existsSync(join(directory, 'package.json')),
);

/**
 * This package as a development dependency of a project: from the registry if published, else packed into the project.
 *
 * @throws Error if a checkout was not built.
 */
export function ownPackage(): OwnPackage {
  if (isPublished) return { specifier: version, files: new Map() };
  const { name, content } = packed(rootDirectory());
  const path = `vendor/${name}`;
  return { specifier: `file:${path}`, files: new Map([[path, { content, owner: 'generated' }]]) };
}

/** The package that the build packed; an installed copy packs itself. */
function packed(directory: string): PackedPackage {
  const place = join(directory, packedDirectory);
  const [name] = existsSync(place) ? readdirSync(place) : [];
  return name === undefined ? packPackage(directory) : { name, content: readFileSync(join(place, name)) };
}

/** The command that runs a program of this package when it is not installed: with npx if published, else by path. */
export function ownCommand(name: 'create-market-mcp' | 'market-mcp'): readonly string[] {
  if (isPublished) {
    return name === 'create-market-mcp' ? ['npx', name] : ['npx', '--package', 'create-market-mcp', name];
  }
  const script = join(rootDirectory(), 'bin', `${name}.js`);
  const near = relative(process.cwd(), script);
  return ['node', near.startsWith('..') ? script : near];
}

function rootDirectory(): string {
  if (root === undefined) throw new Error('the package of this program is incomplete; install it again');
  return root;
}
