import { randomUUID } from 'node:crypto';
import { access, constants, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ProjectError } from './errors.ts';

/**
 * Writes a value as JSON to a file, atomically.
 *
 * @throws ProjectError `NOT_WRITABLE`.
 */
export async function saveJson(path: string, value: object): Promise<void> {
  // An unpredictable name; an existing link is not followed.
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { flag: 'wx' });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw notWritable(path, error);
  }
}

/**
 * Refuses early what `saveJson` would refuse after all the work: a path in a missing directory, or a path that is a directory.
 *
 * @throws ProjectError `NOT_WRITABLE`.
 */
export async function refuseUnwritable(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    throw notWritable(path, error);
  }
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw notWritable(path, { code: 'EISDIR' });
}

function notWritable(path: string, cause: unknown): ProjectError {
  const { code } = cause as NodeJS.ErrnoException;
  return new ProjectError('NOT_WRITABLE', `${path} cannot be written (${code})`, 'Check the path.', {
    cause,
  });
}
