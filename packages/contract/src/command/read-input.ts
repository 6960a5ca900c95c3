import { isUtf8 } from 'node:buffer';
// Not node:fs/promises, which loads node:readline.
import { promises } from 'node:fs';
import { grouped } from '../json/grouped.ts';
import { limits } from '../json/limits.ts';
import { CommandError } from './command-error.ts';

let standardInput: Promise<string> | undefined;

/** The maximum in UTF-8. */
const bytesPerCharacter = 4;

/**
 * The text of a regular file; `-` is standard input, which is read once.
 *
 * @throws CommandError `NOT_READABLE`.
 */
export async function readInput(
  path: string,
  maxBytes = limits.characters * bytesPerCharacter,
): Promise<string> {
  if (path === '-') {
    const name = 'standard input';
    standardInput ??= allOf(process.stdin, maxBytes, () => tooLarge(name, maxBytes)).then((bytes) =>
      utf8Text(bytes, name),
    );
    return standardInput;
  }
  try {
    const found = await promises.stat(path);
    if (!found.isFile()) {
      const hint = 'Write "-" to read from standard input.';
      throw new CommandError('NOT_READABLE', `${path}: it is not a regular file`, hint);
    }
    if (found.size > maxBytes) {
      throw tooLarge(path, maxBytes);
    }
    return utf8Text(await promises.readFile(path), path);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new CommandError('NOT_READABLE', `${path}: ${reason}`, 'Check the path.', { cause: error });
  }
}

/** All bytes of a stream. @throws `tooLarge()` as soon as there are more than `maxBytes` */
export async function allOf(
  stream: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(name: string, maxBytes: number): CommandError {
  const message = `${name}: more than ${grouped(maxBytes)} bytes`;
  return new CommandError('NOT_READABLE', message, 'Give a smaller file.');
}

/** Refuses bytes that are not UTF-8: decoding would change the text silently. */
export function utf8Text(bytes: Buffer, name: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const lines = bytes.toString('latin1').split('\n');
  const flawed = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
  throw new CommandError('NOT_READABLE', `${name}:${flawed + 1}: the text is not UTF-8`, 'Save it as UTF-8.');
}
