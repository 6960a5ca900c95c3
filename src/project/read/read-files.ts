import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { attempt, isObject, type JsonObject } from 'market-mcp-contract/json';
import { sha256 } from './file-text.ts';

/** Maximum size of a project's file in bytes. */
const largest = 64 * 1024 * 1024;

/**
 * The content of a regular file. Projects are untrusted: reading a pipe or a device instead of a file would never
 * end, and a link may lead to any file of the user.
 *
 * @throws Error of the file system, or CommandError `NOT_A_FILE`.
 */
export function readRegular(path: string): Buffer {
  return readOpen(path).content;
}

/**
 * What `saveSealed` (save.ts) has written to a file. Undefined if that is no such file: a link, a file of another user or one that
 * others may read, or a copy, which a clone or an archive may contain.
 */
export function readSealed(path: string): JsonObject | undefined {
  return attempt(() => {
    const { content, stats } = readOpen(path);
    const value: unknown = JSON.parse(content.toString('utf8'));
    if (isPrivate(stats) && isObject(value) && value.seal === sealOf(stats)) return value;
    return undefined;
  }, undefined);
}

/** A hash that nobody can predict before the entry exists. */
export function sealOf({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): string {
  return sha256(`${ino} ${birthtimeNs}`).slice(0, 16);
}

/** Windows knows neither users by number nor modes. */
function isPrivate({ mode, uid }: BigIntStats): boolean {
  const user = process.geteuid?.();
  return user === undefined || ((mode & 0o077n) === 0n && uid === BigInt(user));
}

function readOpen(path: string): { readonly content: Buffer; readonly stats: BigIntStats } {
  if (lstatSync(path).isSymbolicLink()) throw notAFile(`${path} is a link`);
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = openSync(path, flags);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) throw notAFile(`${path} is not a regular file`);
    if (stats.size > largest) throw notAFile(`${path} has more than ${largest} bytes`);
    return { content: readFileSync(file), stats };
  } finally {
    closeSync(file);
  }
}

/** The permissions of a file. */
export function modeOf({ mode }: Stats): number {
  return mode & 0o777;
}

/** Whether a path exists: a file, a directory or a link, even a dangling one. */
export function isEntry(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }), undefined) !== undefined;
}

/** A directory and all above it, innermost first. */
export function parentsOf(directory: string): readonly string[] {
  const parent = dirname(directory);
  if (parent === directory) return [directory];
  return [directory, ...parentsOf(parent)];
}

function notAFile(message: string): CommandError {
  return new CommandError('NOT_A_FILE', message, 'Replace it by a file, or remove it.');
}
