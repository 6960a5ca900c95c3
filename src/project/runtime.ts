import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtimePackage } from '../plan/versions.ts';
import { isAsWrittenAt } from './files.ts';
import type { Manifest } from './manifest.ts';

/** The version of the runtime that is installed in a project; null if there is none. */
export function installedRuntime(directory: string): string | null {
  try {
    const file = join(directory, 'node_modules', runtimePackage, 'package.json');
    return JSON.parse(readFileSync(file, 'utf8')).version;
  } catch {
    return null;
  }
}

/** The files that were edited or removed. */
export function editedFiles(directory: string, { files }: Manifest): readonly string[] {
  return Object.entries(files)
    .filter(([path, { sha256 }]) => !isAsWrittenAt(directory, path, sha256))
    .map(([path]) => path);
}
