import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** Maximum size of a project's file in bytes. */
const largest = 64 * 1024 * 1024;

/**
 * The content of a regular file. Projects are untrusted: reading a pipe or a device instead of a file would never
 * end.
 *
 * @throws Error of the file system, or one with the code `ENOTFILE` or `EFBIG`.
 */
export function readRegular(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw withCode('ENOTFILE', `${path} is not a regular file`);
    if (stats.size > largest) throw withCode('EFBIG', `${path} has more than ${largest} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
