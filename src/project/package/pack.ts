import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { readJsonSync } from 'fs-extra/esm';
import { createTar } from 'nanotar';
import { runtimePackage, sourceDependencies, version } from '../../plan/package-versions.ts';
import { sha256 } from '../read/file-text.ts';
import { filesBelow } from './templates.ts';

/** A package as one file, as `npm pack` makes it. */
export interface PackedPackage {
  /** `create-market-mcp-1.2.3-0123456789.tgz`: name, version and hash of the content. */
  readonly name: string;
  readonly content: Uint8Array;
}

/** The build's output directory for packed packages. */
export const packedDirectory = 'dist/vendor';

/** The runtime as a tar file in a third less than its package: an installed copy of this program packs it from there. */
export const smallRuntime = 'dist/runtime.tar.br';

/** The members of our package.json that an installed copy needs. */
const neededMembers = ['name', 'version', 'description', 'license', 'type', 'engines', 'bin'];

/** Packs this package from a built or installed directory. */
export function packPackage(directory: string): PackedPackage {
  const manifest = manifestIn(directory);
  const paths = ['LICENSE', ...filesBelow(directory, 'bin'), ...filesBelow(directory, 'dist')];
  // What a project does not need: what this one packs itself, and earlier releases.
  const leftOut = [`${packedDirectory}/`, 'dist/releases/'];
  return packFiles(
    Object.fromEntries(neededMembers.map((name) => [name, manifest[name]])),
    directory,
    paths.filter((path) => !leftOut.some((start) => path.startsWith(start))),
  );
}

/**
 * Packs the built runtime of a checkout. What projects with an API install beside it gets the versions in this program's
 * package.json.
 */
export function packRuntime(directory: string, metadata: Manifest = {}): PackedPackage {
  const place = join(directory, 'packages/runtime');
  const paths = ['README.md', 'grafana.json', 'alerts.yml', 'renamed.json', ...filesBelow(place, 'dist')];
  const peers = Object.entries(sourceDependencies);
  const needs = {
    peerDependencies: Object.fromEntries(peers.map(([name, version]) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(peers.map(([name]) => [name, { optional: true }])),
  };
  return packFiles({ ...manifestIn(place), ...metadata, ...needs }, place, paths, licenceIn(directory));
}

/** The packed runtime of a built or installed directory; undefined if there is none. */
export function unpackedRuntime(directory: string): PackedPackage | undefined {
  const file = join(directory, smallRuntime);
  if (!existsSync(file)) return undefined;
  return packedAs(`${runtimePackage}-${version}`, brotliDecompressSync(readFileSync(file)));
}

/** Packs this program as it is published, from a checkout that was built with `--published`. */
export function packProgram(directory: string, metadata: Manifest): PackedPackage {
  const manifest = manifestIn(directory);
  const members = [...neededMembers, 'keywords'].map((name) => [name, manifest[name]]);
  const paths = ['LICENSE', 'README.md', ...filesBelow(directory, 'bin'), ...filesBelow(directory, 'dist')];
  return packFiles({ ...Object.fromEntries(members), ...metadata }, directory, paths);
}

/** Packs the built contract of a checkout: only its public entries, without its dependencies. */
export function packContract(directory: string, metadata: Manifest = {}): PackedPackage {
  const place = join(directory, 'packages/contract');
  const manifest = manifestIn(place);
  const entries = Object.entries(
    manifest.exports as Readonly<Record<string, Readonly<Record<string, string>>>>,
  );
  const exports = entries.flatMap(([name, { types, default: file }]) =>
    file === undefined ? [] : [[name, { types, default: file }]],
  );
  const paths = ['README.md', ...filesBelow(place, 'bin'), ...filesBelow(place, 'dist')];
  const ownManifest = { ...manifest, ...metadata, exports: Object.fromEntries(exports) };
  return packFiles(ownManifest, place, paths, licenceIn(directory));
}

/**
 * The same content gives the same name: order, times, modes and owners are fixed, and neither npm nor Yarn 1 accepts
 * new content under a known name.
 */
function packFiles(
  manifest: Manifest,
  directory: string,
  paths: readonly string[],
  extraFiles: ReadonlyMap<string, Uint8Array> = new Map(),
): PackedPackage {
  const files = new Map<string, Uint8Array>([
    ['package.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)],
    ...extraFiles,
    ...paths.map((path) => [path, readFileSync(join(directory, path))] as const),
  ]);
  return packedAs(`${manifest.name}-${manifest.version}`, archiveOf(files));
}

function packedAs(label: string, tar: Uint8Array): PackedPackage {
  return { name: `${label}-${sha256(tar).slice(0, 10)}.tgz`, content: compressed(tar) };
}

function licenceIn(directory: string): ReadonlyMap<string, Uint8Array> {
  return new Map([['LICENSE', readFileSync(join(directory, 'LICENSE'))]]);
}

type Manifest = { readonly [member: string]: unknown };

function manifestIn(directory: string): Manifest {
  return readJsonSync(join(directory, 'package.json'));
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
  const packed = gzipSync(tar, { level: 9 });
  packed[9] = 255;
  return packed;
}
