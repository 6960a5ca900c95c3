import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { compareVersions } from 'market-mcp-contract/report';
import type { CommandTable } from '../../plan/package-manager-commands.ts';
import type { TemplateSet } from '../../plan/planned-file.ts';
import type { SourceNeeds } from '../source/sources.ts';

/** The templates and facts of an earlier version, as `scripts/archive-release.js` archived them. */
export interface Release {
  readonly templates: TemplateSet;
  readonly facts: ReleaseFacts;
}

/** The values that its templates were rendered with, in addition to the answers. */
export interface ReleaseFacts {
  readonly version: string;
  readonly devDependencies: { readonly [name: string]: string };
  readonly packageManagerCommands: CommandTable;
  readonly redisDependencies: { readonly [name: string]: string };
  readonly sources: SourceNeeds;
  /** Its built-in profiles. */
  readonly platforms: readonly PlatformProfile[];
}

const ending = '.br';
const factsFile = 'facts.json';

/** Beside the code in the package, at the root of a checkout. */
const directory = [
  join(import.meta.dirname, 'releases'),
  join(import.meta.dirname, '../../../releases'),
].find(existsSync);

/** The earlier versions whose projects can be upgraded, oldest first. */
export function archivedVersions(): readonly string[] {
  if (directory === undefined) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort(compareVersions);
}

/** An earlier version; undefined if this program does not contain it. */
export function readRelease(version: string): Release | undefined {
  if (directory === undefined || !archivedVersions().includes(version)) return undefined;
  return releaseIn(readFileSync(join(directory, version + ending)));
}

/** The version in an archive. */
export function releaseIn(archive: Uint8Array): Release {
  const templates = new Map(unpack(brotliDecompressSync(archive)));
  const facts = JSON.parse(new TextDecoder().decode(templates.get(factsFile)));
  templates.delete(factsFile);
  return { templates, facts };
}

/** Joins the entries of an archive: a line of JSON with their names and sizes, then their contents. */
export function pack(templates: TemplateSet): Uint8Array {
  const sizes = [...templates].map(([path, { byteLength }]) => [path, byteLength]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(sizes)}\n`), ...templates.values()]);
}

/** The inverse of `pack`. */
export function unpack(packed: Uint8Array): TemplateSet {
  const first = packed.indexOf('\n'.charCodeAt(0)) + 1;
  const sizes: readonly [string, number][] = JSON.parse(new TextDecoder().decode(packed.subarray(0, first)));
  let start = first;
  return new Map(
    sizes.map(([path, size]) => {
      const content = packed.subarray(start, start + size);
      start += size;
      return [path, content];
    }),
  );
}
