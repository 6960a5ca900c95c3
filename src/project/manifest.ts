import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PlatformProfile } from '../contract/profile.ts';
import type { FileSet, Ownership } from '../plan/model.ts';
import { version } from '../plan/versions.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { ProjectError } from './errors.ts';

/** Name of the manifest, which also marks a directory as a project. */
export const manifestFile = 'market-mcp.json';

/** What `market-mcp.json` records: enough to render the project again and to tell which files were changed since. */
export interface Manifest {
  /** Version of this format. */
  readonly schema: 1;
  /** Version of the program, and so of the templates, that wrote the files. */
  readonly template: string;
  readonly platform: string;
  readonly answers: ManifestAnswers;
  readonly files: { readonly [path: string]: ManifestFile };
}

/** The answers behind the project; none of them is a secret. */
export interface ManifestAnswers {
  readonly name: string;
  readonly packageManager: PackageManager;
  /** The name of a profile that ships with the program, or the profile itself. */
  readonly profile: string | PlatformProfile;
  readonly tools: readonly string[];
}

export interface ManifestFile {
  /** SHA-256 of the content as written, in hex. */
  readonly sha256: string;
  readonly owner: Ownership;
}

/** The file set with its manifest as the last file. */
export function withManifest(files: FileSet, platform: string, answers: ManifestAnswers): FileSet {
  const entries = [...files].map(([path, { content, owner }]) => [path, { sha256: sha256(content), owner }]);
  const manifest: Manifest = {
    schema: 1,
    template: version,
    platform,
    answers,
    files: Object.fromEntries(entries),
  };
  const content = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
  return new Map([...files, [manifestFile, { content, owner: 'generated' }]]);
}

/**
 * The directory of the project that `from` lies in.
 *
 * @throws ProjectError `NOT_A_PROJECT` where no directory upwards holds a manifest.
 */
export function findProject(from: string): string {
  const start = resolve(from);
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, manifestFile))) return directory;
    if (directory === dirname(directory)) {
      throw new ProjectError(
        'NOT_A_PROJECT',
        `neither ${start} nor a directory above it holds ${manifestFile}`,
        'Change into a project, or make one with create-market-mcp.',
      );
    }
  }
}

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The manifest in a file; undefined where the file is absent or cut off. */
export function readManifest(path: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
