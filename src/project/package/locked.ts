import { join } from 'node:path';
import { readJsonSync } from 'fs-extra/esm';
import type { JsonObject } from 'market-mcp-contract/json';

/** An entry of a package-lock.json. */
export interface LockedPackage {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/**
 * What projects install from the registry, by name, as the package-lock.json of this checkout has it. The build replaces this module
 * by what it reads.
 */
export const lockedPackages: Readonly<Record<string, LockedPackage>> = lockedIn(
  readJsonSync(join(import.meta.dirname, '../../../package-lock.json')).packages,
  ['@types/node', 'typescript', 'ky', 'lru-cache', 'p-queue', 'ioredis'],
);

/** Packages and all that they need. @throws Error if one of them has a nested package. */
function lockedIn(entries: JsonObject, roots: readonly string[]): Record<string, LockedPackage> {
  const found = new Set(roots);
  const locked: Record<string, LockedPackage> = {};
  for (const name of found) {
    const place = `node_modules/${name}`;
    const nestedEntry = Object.keys(entries).find((entryPath) =>
      entryPath.startsWith(`${place}/node_modules/`),
    );
    if (nestedEntry !== undefined)
      throw new Error(`package-lock.json: ${nestedEntry} is not at the top level`);
    const { dev: _, devOptional: __, peer: ___, ...entry } = entries[place] as unknown as LockedPackage;
    locked[name] = entry;
    for (const needed of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      found.add(needed);
  }
  return locked;
}
