import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ProjectError } from './errors.ts';

let standardInput: Promise<string> | undefined;

/**
 * The text of a file that an author names; `-` is standard input, which is read once.
 *
 * @throws ProjectError `NOT_READABLE`.
 */
export async function readInput(path: string): Promise<string> {
  if (path === '-') {
    standardInput ??= text(process.stdin);
    return standardInput;
  }
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new ProjectError('NOT_READABLE', `${path}: ${why}`, 'Check the path.', { cause: error });
  }
}
