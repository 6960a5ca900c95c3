import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { textOf } from '../../changes/upgrade/text.ts';
import { readIfThere } from '../../project/inside.ts';
import type { Change } from '../../project/transaction.ts';

/** A change as a unified diff for `git apply` and `patch -p1`. */
export function unifiedDiff(directory: string, { files, removed }: Change): string {
  const written = [...files].map(([path, { content }]) => ({ path, after: textOf(content) }));
  const gone = removed.map((path) => ({ path, after: undefined }));
  return [...written, ...gone]
    .map(({ path, after }) => patchOf(path, textAt(directory, path), after))
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

function textAt(directory: string, path: string): string | undefined {
  const content = readIfThere(directory, path);
  return content && textOf(content);
}
