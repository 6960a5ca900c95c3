import { join } from 'node:path';
import type { Runtime } from '../contract/target.ts';
import { version } from '../plan/versions.ts';
import { isAsWrittenAt } from './files.ts';
import { type Manifest, manifestFile, readAnyManifest } from './manifest.ts';
import { isEntry } from './read.ts';

/**
 * The runtime of a project, according to its manifest and its files; undefined if there is no manifest.
 *
 * @throws ProjectError `MANIFEST_DAMAGED`
 */
export function runtimeOf(directory: string): Runtime | undefined {
  if (!isEntry(join(directory, manifestFile))) return undefined;
  const manifest = readAnyManifest(directory);
  const edited = editedFiles(directory, manifest).filter((path) => manifest.files[path]?.owner === 'sealed');
  return { version: manifest.template, newest: version, edited };
}

/** The files that were edited or removed. */
export function editedFiles(directory: string, { files }: Manifest): readonly string[] {
  return Object.entries(files)
    .filter(([path, { sha256 }]) => !isAsWrittenAt(directory, path, sha256))
    .map(([path]) => path);
}
