import type { Change } from '../../project/transaction.ts';
import type { Output } from '../output.ts';
import { unifiedDiff } from './diff.ts';

/** The changes a run would make, and for programs the same in one object. */
export function showDryRun(directory: string, change: Change | null, rest: object, output: Output): void {
  const diff = change === null ? '' : unifiedDiff(directory, change);
  // White space at its end belongs to the lines it shows.
  output.line(diff === '' ? 'nothing to do' : diff.replace(/\n$/, ''));
  output.result({ ok: true, dryRun: true, directory, ...rest, diff, selfCheck: null });
}
