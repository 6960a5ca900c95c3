import { printable } from '../../contract/report.ts';
import type { Change } from '../../project/transaction.ts';
import type { Output } from '../output.ts';
import { unifiedDiff } from './diff.ts';

const notApplicable =
  'The diff contains control characters, shown as codes here, so it cannot be applied. Use --json for the exact diff.';

/** The changes a run would make, and for programs the same in one object. */
export function showDryRun(directory: string, change: Change | null, rest: object, output: Output): void {
  const diff = change === null ? '' : unifiedDiff(directory, change);
  // White space at its end belongs to the lines it shows.
  const shown = diff.replace(/\n$/, '').split('\n').map(visible).join('\n');
  output.line(diff === '' ? 'nothing to do' : shown);
  if (`${shown}\n` !== diff && diff !== '') output.note(notApplicable);
  output.result({ ok: true, dryRun: true, directory, ...rest, diff, selfCheck: null });
}

/** A line of a file without what a terminal would act on; tabs and the carriage return of a line end stay. */
function visible(line: string): string {
  const [, body = '', end = ''] = /^(.*?)(\r?)$/s.exec(line) ?? [];
  return body.split('\t').map(printable).join('\t') + end;
}
