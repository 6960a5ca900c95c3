import { rename, writeFile } from 'node:fs/promises';
import { ProjectError } from './errors.ts';

/**
 * Writes a value as JSON to a file that the author names, all of it or nothing.
 *
 * @throws ProjectError `NOT_WRITABLE`.
 */
export async function saveJson(path: string, value: object): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`);
    await rename(unfinished, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ProjectError('NOT_WRITABLE', `${path} cannot be written (${code})`, 'Check the path.', {
      cause: error,
    });
  }
}
