import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { readRegular } from '../../project/read.ts';
import type { Change } from '../../project/transaction.ts';

/** A change as a unified diff for `git apply` and `patch -p1`. */
export function unifiedDiff(directory: string, { files, removed }: Change): string {
  const written = [...files].map(([path, { content }]) => ({ path, after: textOf(content) }));
  const gone = removed.map((path) => ({ path, after: undefined }));
  return [...written, ...gone]
    .map(({ path, after }) => patchOf(path, textAt(join(directory, path)), after))
    .join('');
}

/** Undefined means that the file is absent. */
function patchOf(path: string, before: string | undefined, after: string | undefined): string {
  const [from, to] = [
    before === undefined ? '/dev/null' : `a/${path}`,
    after === undefined ? '/dev/null' : `b/${path}`,
  ];
  return createTwoFilesPatch(from, to, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  });
}

function textAt(path: string): string | undefined {
  return existsSync(path) ? textOf(readRegular(path)) : undefined;
}

/** Keeps the byte order mark as a character. */
function textOf(content: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
}
