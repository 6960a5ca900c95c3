import { randomUUID } from 'node:crypto';
// Not node:fs/promises, which loads node:readline.
import { constants, promises } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from './command-error.ts';

/**
 * Writes a file, atomically. A link at its path is replaced, not followed.
 *
 * @throws CommandError `NOT_WRITABLE`.
 */
export async function saveText(path: string, text: string): Promise<void> {
  await replaceFile(path, 0o666, (file) => file.writeFile(text));
}

/** Writes a value as JSON, like `saveText`. @throws CommandError `NOT_WRITABLE`. */
export async function saveJson(path: string, value: object): Promise<void> {
  await saveText(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Writes a file with a mode, atomically. @throws CommandError `NOT_WRITABLE`. */
export async function replaceFile(
  path: string,
  mode: number,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  // An unpredictable name; an existing link is not followed.
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await promises.open(unfinished, 'wx', mode);
    await write(file).finally(() => file.close());
    await promises.rename(unfinished, path);
  } catch (error) {
    await promises.rm(unfinished, { force: true });
    throw notWritable(path, error);
  }
}

/**
 * Refuses early what `saveJson` would refuse after all the work: a path in a missing directory, or a path that is a directory.
 *
 * @throws CommandError `NOT_WRITABLE`.
 */
export async function refuseUnwritable(path: string): Promise<void> {
  try {
    await promises.access(dirname(path), constants.W_OK);
  } catch (error) {
    throw notWritable(path, error);
  }
  const found = await promises.stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw notWritable(path, { code: 'EISDIR' });
}

/** The error of a path that cannot be written. */
export function notWritable(path: string, cause: unknown): CommandError {
  const { code } = cause as NodeJS.ErrnoException;
  return new CommandError('NOT_WRITABLE', `${path} cannot be written (${code})`, 'Check the path.', {
    cause,
  });
}
