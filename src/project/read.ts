import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isObject } from '../contract/json.ts';
import type { JsonObject } from '../contract/model.ts';
import { sealOf } from './staging.ts';

/** Maximum size of a project's file in bytes. */
const largest = 64 * 1024 * 1024;

/**
 * The content of a regular file. Projects are untrusted: reading a pipe or a device instead of a file would never
 * end.
 *
 * @throws Error of the file system, or one with the code `ENOTFILE` or `EFBIG`.
 */
export function readRegular(path: string): Buffer {
  return readOpen(path, 0).content;
}

/**
 * What `saveSealed` (save.ts) has written to a file. Undefined if that is no such file: a link, a file of another user or one that
 * others may read, or a copy, which a clone or an archive may contain.
 */
export function readSealed(path: string): JsonObject | undefined {
  try {
    const { content, stats } = readOpen(path, constants.O_NOFOLLOW ?? 0);
    const value: unknown = JSON.parse(content.toString('utf8'));
    return isPrivate(stats) && isObject(value) && value.seal === sealOf(stats) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Windows knows neither users by number nor modes. */
function isPrivate({ mode, uid }: BigIntStats): boolean {
  const user = process.geteuid?.();
  return user === undefined || ((mode & 0o077n) === 0n && uid === BigInt(user));
}

function readOpen(path: string, flags: number): { readonly content: Buffer; readonly stats: BigIntStats } {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) throw withCode('ENOTFILE', `${path} is not a regular file`);
    if (stats.size > largest) throw withCode('EFBIG', `${path} has more than ${largest} bytes`);
    return { content: readFileSync(file), stats };
  } finally {
    closeSync(file);
  }
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
