import { join } from 'node:path';
import type { Runtime } from '../contract/target.ts';
import { version } from '../plan/versions.ts';
import { isAsWritten, isEntry } from './files.ts';
import { type Manifest, manifestFile, readAnyManifest } from './manifest.ts';
import { readRegular } from './read.ts';

/**
 * The runtime of a project, as its manifest and its files tell; undefined where there is no manifest.
 *
 * @throws ProjectError `MANIFEST_DAMAGED`
 */
export function runtimeOf(directory: string): Runtime | undefined {
  if (!isEntry(join(directory, manifestFile))) return undefined;
  const manifest = readAnyManifest(directory);
  const edited = editedFiles(directory, manifest).filter((path) => manifest.files[path]?.owner === 'sealed');
  return { version: manifest.template, newest: version, edited };
}

/** The files that are not as they were written, or gone. */
export function editedFiles(directory: string, { files }: Manifest): readonly string[] {
  return Object.entries(files)
    .filter(([path, { sha256 }]) => !isAsWrittenAt(join(directory, path), sha256))
    .map(([path]) => path);
}

function isAsWrittenAt(place: string, sha256: string): boolean {
  try {
    return isAsWritten(readRegular(place), sha256);
  } catch {
    return false; // gone, or no regular file any more
  }
}
