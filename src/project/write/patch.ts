import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** The change of a file as a unified diff, for `git apply` and `patch -p1`. Undefined stands for no file. */
export function patchOf(path: string, before: string | undefined, after: string | undefined): string {
  const from = before === undefined ? '/dev/null' : `a/${path}`;
  const to = after === undefined ? '/dev/null' : `b/${path}`;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(from, to, before ?? '', after ?? '', undefined, undefined, options);
}
