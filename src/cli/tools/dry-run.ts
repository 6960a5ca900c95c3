import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { type ExitCode, type Output, printable } from 'market-mcp-contract/command';
import { decodeText } from '../../project/read/file-text.ts';
import { readIfThere } from '../../project/read/resolve-inside.ts';
import type { ProjectChange } from '../../project/write/transaction.ts';

const notApplicable =
  'The diff contains control characters, shown as codes here, so it cannot be applied. Use --json for the exact diff.';

/** Prints the changes that a run would make; with `json`, the same as one object. */
export function showDryRun(
  directory: string,
  change: ProjectChange | null,
  rest: object,
  output: Output,
): ExitCode {
  const diff = change === null ? '' : unifiedDiff(directory, change);
  if (diff === '') output.line('nothing to do');
  else showDiff(diff, output);
  return output.result({ ok: true, dryRun: true, directory, ...rest, diff, selfCheck: null });
}

/** Prints a unified diff. */
export function showDiff(diff: string, output: Output): void {
  // Trailing white space belongs to the last line shown.
  const shownDiff = diff.replace(/\n$/, '').split('\n').map(printableLine).join('\n');
  output.line(shownDiff);
  if (`${shownDiff}\n` !== diff) output.note(notApplicable);
}

/** A change as a unified diff for `git apply` and `patch -p1`. */
export function unifiedDiff(directory: string, { files, removed }: ProjectChange): string {
  const writtenFiles = [...files].map(([path, { content }]) => [path, decodeText(content)] as const);
  const removedFiles = removed.map((path) => [path, undefined] as const);
  const patches = [...writtenFiles, ...removedFiles].map(([path, after]) => {
    const before = readIfThere(directory, path);
    return patchOf(path, before && decodeText(before), after);
  });
  return patches.join('');
}

/** The change of one file. Undefined stands for no file. */
function patchOf(path: string, before: string | undefined, after: string | undefined): string {
  const from = before === undefined ? '/dev/null' : `a/${path}`;
  const to = after === undefined ? '/dev/null' : `b/${path}`;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(from, to, before ?? '', after ?? '', undefined, undefined, options);
}

/** Replaces control characters in a line of a file; tabs and the carriage return of a line end remain. */
function printableLine(line: string): string {
  const [, body = '', end = ''] = /^(.*?)(\r?)$/s.exec(line) ?? [];
  return body.split('\t').map(printable).join('\t') + end;
}
