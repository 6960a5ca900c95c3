import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtimePackage } from '../../plan/versions.ts';
import { isAsWrittenAt } from '../read/files.ts';
import type { Manifest } from './manifest.ts';

/** The version of a project's runtime: that of the installed package, else the recorded one. */
export function runtimeVersion(directory: string, { template }: Manifest): string {
  try {
    const file = join(directory, 'node_modules', runtimePackage, 'package.json');
    return JSON.parse(readFileSync(file, 'utf8')).version;
  } catch {
    return template;
  }
}

/** The files that were edited or removed. */
export function editedFiles(directory: string, { files }: Manifest): readonly string[] {
  return Object.entries(files)
    .filter(([path, { sha256 }]) => !isAsWrittenAt(directory, path, sha256))
    .map(([path]) => path);
}
