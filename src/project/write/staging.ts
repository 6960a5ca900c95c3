import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { outputFileSync, removeSync } from 'fs-extra/esm';
import { attempt } from 'market-mcp-contract/json';
import type { FileSet } from '../../plan/planned-file.ts';
import { sha256 } from '../read/file-text.ts';
import { sealOf } from '../read/read-files.ts';

const prefix = '.create-market-mcp-';
const hostTag = sha256(hostname()).slice(0, 8);
const pattern = /^\.create-market-mcp-([0-9a-f]{8})-(\d+)-([0-9a-f]{16})$/;
const oneHour = 3_600_000;

/**
 * Creates a directory for unfinished files in `parent`. Its name identifies the process and the machine that use it, and
 * contains a hash of its inode and birth time: a directory from a repository or an archive does not count as ours.
 */
export function makeStaging(parent: string): string {
  const name = (last: string) => join(parent, `${prefix}${hostTag}-${process.pid}-${last}`);
  const unsealed = name(randomBytes(8).toString('hex'));
  mkdirSync(unsealed);
  const staging = name(sealOf(lstatSync(unsealed, { bigint: true })));
  renameSync(unsealed, staging);
  return staging;
}

/** Writes a file set below a directory, in the set's order. */
export function writeFiles(directory: string, files: FileSet): void {
  for (const [path, { content }] of files) {
    outputFileSync(join(directory, path), content, { flag: 'wx', mode: 0o644 });
  }
}

/** Staging directories in `parent` whose process has ended, except `own`; none if the directory cannot be read. */
export function staleStagings(parent: string, ownStaging?: string): string[] {
  return stagings(parent, ownStaging).filter((staging) => isStaleStaging(staging));
}

/** Staging directories in `parent` that a running process uses, except `own`. */
export function liveStagings(parent: string, ownStaging?: string): string[] {
  return stagings(parent, ownStaging).filter((staging) => !isStaleStaging(staging));
}

function stagings(parent: string, ownStaging?: string): string[] {
  return directoryEntries(parent)
    .map((name) => join(parent, name))
    .filter((path) => path !== ownStaging && isStaging(path));
}

function directoryEntries(directory: string): string[] {
  return attempt(() => readdirSync(directory), []);
}

/** Whether a path is a staging directory that a run of this program created there, stale or not. */
export function isStaging(path: string): boolean {
  const [, , , seal] = pattern.exec(basename(path)) ?? [];
  if (seal === undefined) return false;
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() === true && (seal === sealOf(stats) || directoryEntries(path).length === 0);
}

export function removeStaging(staging: string): void {
  // Mostly it is gone already: its last step is a rename, and Node loads an extra module to remove a missing path.
  if (existsSync(staging)) removeSync(staging);
}

function isStaleStaging(staging: string): boolean {
  const [, tag, id] = pattern.exec(basename(staging)) ?? [];
  const pid = Number(id);
  const touched = statSync(staging, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  // No run takes that long or works in the future: the process id may have been reused.
  if (Math.abs(Date.now() - touched) > oneHour) return true;
  // The own directory does not exist yet or was filtered out before: an earlier process with the same id left this one.
  return tag === hostTag && (pid === process.pid || !isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
