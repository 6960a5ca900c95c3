import { randomUUID } from 'node:crypto';
// Not node:fs/promises, which loads node:readline.
import { constants, fstatSync, promises, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from './command-error.ts';

/**
 * Writes a file, atomically. A link at its path is replaced, not followed.
 *
 * @throws CommandError `NOT_WRITABLE`.
 */
export async function replaceAtPath(path: string, text: string): Promise<void> {
  await replaceFile(path, 0o666, (file) => file.writeFile(text));
}

/** Writes a value as JSON, like `replaceAtPath` or as `save` does. @throws CommandError `NOT_WRITABLE`. */
export async function saveJson(
  path: string,
  value: object,
  save: (path: string, text: string) => Promise<void> = replaceAtPath,
): Promise<void> {
  await save(path, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Writes text to a path that the user gave: to where a link leads, and into what is no regular file, such as a FIFO or a device.
 * A regular file is replaced atomically and keeps its owner and mode, unless the text is appended.
 *
 * @throws CommandError `NOT_WRITABLE`.
 */
export async function writeWhereLinksLead(path: string, text: string, isAppended = false): Promise<void> {
  const found = await promises.stat(path).catch(() => undefined);
  const target = isAppended ? undefined : await replaceable(path, found);
  if (target === undefined) return appendText(path, text);
  await replaceFile(target, 0o666, async (file) => {
    if (found) {
      // Only root may give a file to its earlier owner.
      await file.chown(found.uid, found.gid).catch(() => {});
      await file.chmod(found.mode & 0o777);
    }
    await file.writeFile(text);
  });
}

async function appendText(path: string, text: string): Promise<void> {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
  try {
    // Fails if nobody reads a FIFO: the open below would wait for a reader, and no signal could end the program.
    const file = await promises.open(path, O_APPEND | O_CREAT | O_NONBLOCK | O_WRONLY);
    await promises.appendFile(path, text).finally(() => file.close());
  } catch (error) {
    throw notWritable(path, error);
  }
}

/** The path of the regular file that can be replaced or created; undefined if the text must go into what is there. */
async function replaceable(path: string, found: Stats | undefined): Promise<string | undefined> {
  if (!found) return (await promises.lstat(path).catch(() => undefined)) ? undefined : path;
  const isOpen = [1, 2]
    .map((fd) => fstatSync(fd))
    .some(({ dev, ino }) => dev === found.dev && ino === found.ino);
  if (found.isFile() && !isOpen) return promises.realpath(path).catch(() => undefined);
  return undefined;
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
  const found = await promises.stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw notWritable(path, { code: 'EISDIR' });
  const isReplaced = !found || found.isFile();
  const changed = isReplaced ? dirname(await promises.realpath(path).catch(() => path)) : path;
  try {
    await promises.access(changed, constants.W_OK);
  } catch (error) {
    throw notWritable(path, error);
  }
}

/** The error of a path that cannot be written. */
export function notWritable(path: string, cause: unknown): CommandError {
  const { code } = cause as NodeJS.ErrnoException;
  return new CommandError('NOT_WRITABLE', `${path} cannot be written (${code})`, 'Check the path.', {
    cause,
  });
}
