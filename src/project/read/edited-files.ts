import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from 'market-mcp-contract/json';
import { runtimePackage } from '../../plan/package-versions.ts';
import type { FileSet } from '../../plan/planned-file.ts';
import { type Manifest, type ManifestFile, manifestFile } from '../manifest/manifest.ts';
import { decodeText, encodeText, sha256 } from './file-text.ts';
import { packageDirectory } from './installed.ts';
import { isEntry } from './read-files.ts';
import { readIfThere, readIn, resolveInside } from './resolve-inside.ts';

/** Whether a file is unchanged since it was written, except for line ends that git changed on Windows. */
export function isAsWritten(content: Uint8Array, recordedHash: string | undefined): boolean {
  return (
    sha256(content) === recordedHash ||
    sha256(encodeText(decodeText(content).replaceAll('\r\n', '\n'))) === recordedHash
  );
}

/**
 * The files of a file set that exist in a directory with contents that this program did not write, according to its manifest.
 *
 * @param manifest of the project in the directory; undefined if there is none: then every file is the author's
 */
export function conflictingFiles(
  directory: string,
  files: FileSet,
  manifest: Manifest | undefined,
): readonly string[] {
  return [...files].flatMap(([path, { content }]) => {
    if (!isEntry(resolveInside(directory, path)) || (path === manifestFile && manifest !== undefined))
      return [];
    const recordedHashes = [sha256(content), manifest?.files[path]?.sha256];
    if (recordedHashes.some((hash) => isAsWrittenAt(directory, path, hash))) return [];
    return [path];
  });
}

/** The text of a file of a project; undefined if there is no such file. */
export function textAt(directory: string, path: string): string | undefined {
  const content = readIfThere(directory, path);
  return content && decodeText(content);
}

/** Whether a file of a project is unchanged since it was written. A link or a directory in its place is a change. */
export function isAsWrittenAt(directory: string, path: string, recordedHash: string | undefined): boolean {
  return attempt(() => isAsWritten(readIn(directory, path), recordedHash), false);
}

/** What the manifest records of those of these files that their author has edited, so that they stay known as edited after a change. */
export function recordsOfEdited(
  directory: string,
  { files }: Pick<Manifest, 'files'>,
  paths: readonly string[],
): { readonly [path: string]: ManifestFile | undefined } {
  const edited = paths.filter(
    (path) => textAt(directory, path) !== undefined && !isAsWrittenAt(directory, path, files[path]?.sha256),
  );
  return Object.fromEntries(edited.map((path) => [path, files[path]]));
}

/** The version of a project's runtime: the version of the installed package, else the recorded one. */
export function runtimeVersion(directory: string, { template }: Manifest): string {
  const place = packageDirectory(runtimePackage, directory);
  if (place === undefined) return template;
  return attempt(() => JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')).version, template);
}

/** The files that were edited or removed. */
export function editedFiles(directory: string, { files }: Manifest): readonly string[] {
  return Object.entries(files)
    .filter(([path, { sha256 }]) => !isAsWrittenAt(directory, path, sha256))
    .map(([path]) => path);
}
