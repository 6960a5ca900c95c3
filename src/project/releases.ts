import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { PlatformProfile } from '../contract/profile.ts';
import { compareVersions } from '../contract/versions.ts';
import type { TemplateSet } from '../plan/model.ts';
import type { PackageManagerCommands } from '../plan/package-manager.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { unpack } from './templates.ts';

/** What an earlier version of this program wrote into projects, as `scripts/archive-release.js` has kept it. */
export interface Release {
  readonly templates: TemplateSet;
  readonly facts: ReleaseFacts;
}

/** What its templates were rendered with, beside the answers. */
export interface ReleaseFacts {
  readonly version: string;
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
  readonly packageManagerCommands: { readonly [name in PackageManager]: PackageManagerCommands };
  /** The profiles that shipped with it. */
  readonly platforms: readonly PlatformProfile[];
}

const ending = '.br';
const factsFile = 'facts.json';

/** In the package beside the code, in a checkout at its root. */
const directory = [join(import.meta.dirname, 'releases'), join(import.meta.dirname, '../../releases')].find(
  existsSync,
);

/** The earlier versions whose projects can be upgraded, oldest first. */
export function archivedVersions(): readonly string[] {
  if (directory === undefined) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort(compareVersions);
}

/** An earlier version; undefined where this program does not carry it. */
export function readRelease(version: string): Release | undefined {
  if (directory === undefined || !archivedVersions().includes(version)) return undefined;
  const packed = brotliDecompressSync(readFileSync(join(directory, version + ending)));
  const templates = new Map(unpack(packed));
  const facts = JSON.parse(new TextDecoder().decode(templates.get(factsFile)));
  templates.delete(factsFile);
  return { templates, facts };
}
