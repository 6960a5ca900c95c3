import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { createTar } from 'nanotar';
import { sha256 } from './hash.ts';

/** A package as one file, as `npm pack` makes it. */
export interface PackedPackage {
  /** `create-market-mcp-1.2.3-0123456789.tgz`: name, version and hash of the content. */
  readonly name: string;
  readonly content: Uint8Array;
}

/** The build's output directory for the packed package, which is excluded from the package itself. */
export const packedDirectory = 'dist/vendor';

/** Parts that a project does not need: the package itself, and earlier releases. */
const leftOut = [packedDirectory, 'dist/releases'];

/** The members of our package.json that an installed copy needs. */
const neededMembers = ['name', 'version', 'description', 'license', 'type', 'engines', 'bin'];

/**
 * Packs this package from a built or installed directory. The same content gives the same name: order,
 * times, modes and owners are fixed, and neither npm nor Yarn 1 accepts new content under a known name.
 */
export function packPackage(directory: string): PackedPackage {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const kept = Object.fromEntries(neededMembers.map((name) => [name, manifest[name]]));
  const files = new Map<string, Uint8Array>([
    ['package.json', Buffer.from(`${JSON.stringify(kept, null, 2)}\n`)],
    ...['LICENSE', ...filesBelow(directory, 'bin'), ...filesBelow(directory, 'dist')]
      .filter((path) => !leftOut.some((place) => path.startsWith(`${place}/`)))
      .map((path) => [path, readFileSync(join(directory, path))] as const),
  ]);
  const tar = archiveOf(files);
  const hash = sha256(tar).slice(0, 10);
  return { name: `${manifest.name}-${manifest.version}-${hash}.tgz`, content: compressed(tar) };
}

/** The modification time that npm gives to every packed file. */
const mtime = Date.UTC(1985, 9, 26, 8, 15);

function archiveOf(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const members = [...files].map(([path, data]) => ({
    name: `package/${path}`,
    data,
    attrs: { mode: path.startsWith('bin/') ? '755' : '644' },
  }));
  const tar = createTar(members, { attrs: { mtime, uid: 0, gid: 0 } });
  const end = new Uint8Array(1024); // an archive ends with two empty blocks
  return Buffer.concat([tar, end]);
}

/** The header names no operating system, so every machine writes the same bytes. */
function compressed(tar: Uint8Array): Uint8Array {
  // Imported on demand: the built package creates projects without packing anything.
  const { gzipSync }: typeof import('node:zlib') = createRequire(import.meta.url)('node:zlib');
  const packed = gzipSync(tar, { level: 9 });
  packed[9] = 255;
  return packed;
}

function filesBelow(directory: string, place: string): readonly string[] {
  return readdirSync(join(directory, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}
