import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { FileSet } from '../plan/model.ts';
import { isPublished } from '../plan/published.ts';
import { version } from '../plan/versions.ts';
import { type PackedPackage, packedDirectory, packPackage } from './pack.ts';

/** How a project comes by this program. */
export interface OwnPackage {
  /** What its package.json says: an exact version, or `file:vendor/….tgz`. */
  readonly specifier: string;
  /** The files that the project carries for it. */
  readonly files: FileSet;
}

/** The directory of this package: the parent of `dist` where it is built, two levels up in a checkout. */
const root = [join(import.meta.dirname, '..'), join(import.meta.dirname, '../..')].find((directory) =>
  existsSync(join(directory, 'package.json')),
);

/**
 * This package as a development dependency of a project: from the registry where it is published, else packed beside it.
 *
 * @throws Error where a checkout was not built.
 */
export function ownPackage(): OwnPackage {
  if (isPublished) return { specifier: version, files: new Map() };
  const { name, content } = packed(rootDirectory());
  const path = `vendor/${name}`;
  return { specifier: `file:${path}`, files: new Map([[path, { content, owner: 'generated' }]]) };
}

/** What the build has packed; an installed copy packs itself. */
function packed(directory: string): PackedPackage {
  const place = join(directory, packedDirectory);
  const [name] = existsSync(place) ? readdirSync(place) : [];
  return name === undefined ? packPackage(directory) : { name, content: readFileSync(join(place, name)) };
}

/** The words that call a program of this package where none is installed: with npx once it is published, else by its path. */
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
