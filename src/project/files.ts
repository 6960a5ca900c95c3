import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSet } from '../plan/model.ts';
import { sha256 } from './hash.ts';
import { type Manifest, manifestFile } from './manifest.ts';
import { readRegular } from './read.ts';

/** Whether a file is unchanged since it was written, except for line ends that git changed on Windows. */
export function isAsWritten(content: Buffer, written: string | undefined): boolean {
  return sha256(content) === written || sha256(content.toString('utf8').replaceAll('\r\n', '\n')) === written;
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
    const place = join(directory, path);
    if (!existsSync(place) || (path === manifestFile && manifest !== undefined)) return [];
    const there = readRegular(place);
    const isOurs = there.equals(content) || isAsWritten(there, manifest?.files[path]?.sha256);
    return isOurs ? [] : [path];
  });
}

/** Whether a path exists: a file, a directory or a link, even a dangling one. */
export function isEntry(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
