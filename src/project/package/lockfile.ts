import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseTar } from 'nanotar';
import { parsedJson } from '../read/file-text.ts';
import { type LockedPackage, lockedPackages } from './locked.ts';

/**
 * The package-lock.json that npm would write for a project without one, as far as it is known without a request: npm asks no registry
 * and reads no archive to make it. Unknown parts are left out, and npm adds them.
 */
export function knownLock(directory: string): string {
  const { name, version, license, dependencies, devDependencies, engines } = parsedJson(
    readFileSync(join(directory, 'package.json')),
  );
  const root = { name, version, license, dependencies, devDependencies, engines };
  const needed = new Map<string, LockedPackage>();
  const add = (names: Readonly<Record<string, string>> | undefined, kind: object): void => {
    for (const [name, range] of Object.entries(names ?? {})) {
      const entry = archive.test(range) ? packedEntry(directory, range) : lockedPackages[name];
      const isExact = /^\d/.test(range);
      if (entry === undefined || needed.has(name) || (isExact && range !== entry.version)) continue;
      needed.set(name, { ...entry, ...kind });
      add({ ...entry.dependencies, ...entry.optionalDependencies }, kind);
    }
  };
  add(dependencies, {});
  add(devDependencies, { dev: true });
  const sorted = [...needed].sort(([a], [b]) => (a < b ? -1 : 1));
  const packages = Object.fromEntries(sorted.map(([name, entry]) => [`node_modules/${name}`, entry]));
  const lock = { name, version, lockfileVersion: 3, requires: true, packages: { '': root, ...packages } };
  return `${JSON.stringify(lock, null, 2)}\n`;
}

const archive = /^file:vendor\/[^/]+\.tgz$/;

/** The entry of a package that the project contains as an archive. */
function packedEntry(directory: string, resolved: string): LockedPackage {
  const content = readFileSync(join(directory, resolved.slice('file:'.length)));
  const [manifest] = parseTar(gunzipSync(content), { filter: ({ name }) => name === 'package/package.json' });
  const { version, license, dependencies, bin, engines, peerDependencies, peerDependenciesMeta } = JSON.parse(
    manifest?.text ?? '{}',
  );
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const needs = { dependencies, bin, engines, peerDependencies, peerDependenciesMeta };
  return { version, resolved, integrity, license, ...needs };
}
