import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { programPackage, runtimePackage, version } from '../../plan/package-versions.ts';
import type { PackageSpecifiers } from '../../plan/plan-project.ts';
import type { FileSet } from '../../plan/planned-file.ts';
import { isPublished } from '../../plan/published.ts';
import { type PackedPackage, packedDirectory, packPackage, unpackedRuntime } from './pack.ts';

/** How a project gets this program and its runtime. */
export interface OwnPackages {
  readonly specifiers: PackageSpecifiers;
  /** The files for them in the project. */
  readonly files: FileSet;
}

const incomplete = 'the package of this program is incomplete; install it again';

/** The directory of this package: the parent of `dist` if built, three levels up in a checkout. */
const root = [join(import.meta.dirname, '..'), join(import.meta.dirname, '../../..')].find((directory) =>
  existsSync(join(directory, 'package.json')),
);

/**
 * This program and the runtime as dependencies of a project: from the registry if published, else packed into the project.
 *
 * @throws Error if a checkout was not built.
 */
export function ownPackages(): OwnPackages {
  if (isPublished) return { specifiers: { program: version, runtime: version }, files: new Map() };
  const directory = packageRoot();
  // An installed copy of this program packs itself, and the runtime inside it.
  const program = packedIn(directory, programPackage) ?? packPackage(directory);
  const runtime = packedIn(directory, runtimePackage) ?? unpackedRuntime(directory);
  if (runtime === undefined) throw new Error(incomplete);
  const pathOf = ({ name }: PackedPackage) => `vendor/${name}`;
  return {
    specifiers: { program: `file:${pathOf(program)}`, runtime: `file:${pathOf(runtime)}` },
    files: new Map(
      [program, runtime].map((packed) => [pathOf(packed), { content: packed.content, owner: 'generated' }]),
    ),
  };
}

/** A package that the build packed. */
function packedIn(directory: string, name: string): PackedPackage | undefined {
  const place = join(directory, packedDirectory);
  const file = existsSync(place) ? readdirSync(place).find((file) => file.startsWith(`${name}-`)) : undefined;
  if (file === undefined) return undefined;
  return { name: file, content: readFileSync(join(place, file)) };
}

/** The command that runs a program of this package when it is not installed: with npx if published, else by path. */
export function ownCommand(name: 'create-market-mcp' | 'market-mcp'): readonly string[] {
  if (isPublished) {
    if (name === 'create-market-mcp') return ['npx', name];
    return ['npx', '--package', 'create-market-mcp', name];
  }
  const script = ownScript(name);
  const near = relative(process.cwd(), script);
  return ['node', near.startsWith('..') ? script : near];
}

/** The absolute path of a program of this package. */
export function ownScript(name: 'create-market-mcp' | 'market-mcp'): string {
  return join(packageRoot(), 'bin', `${name}.js`);
}

/** Where a newer version of this program comes from, as a sentence. */
export function newerProgram(): string {
  if (isPublished)
    return 'To use the newest version: npx --package create-market-mcp@latest market-mcp upgrade';
  return 'The package is not in a registry: a newer version comes from a newer clone of create-market-mcp. Run npm ci && npm run build there, and here: node <clone>/bin/market-mcp.js upgrade';
}

function packageRoot(): string {
  if (root === undefined) throw new Error(incomplete);
  return root;
}
