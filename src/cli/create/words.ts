import { relative } from 'node:path';
import type { Level, Report, RuleResult } from '../../contract/model.ts';
import { textReport } from '../../contract/report.ts';
import type { FileSet } from '../../plan/model.ts';
import { packageManagerCommands } from '../../plan/package-manager.ts';
import { shellLine } from '../../questions/shell.ts';
import type { Change, Fault, Prepared } from '../../spec/model.ts';
import type { Output } from '../output.ts';
import { printable } from '../printable.ts';
import type { Standing } from './steps.ts';

/** The commands that come next, to be pasted. */
export function nextCommands({ directory, packageManager }: Standing, installed: boolean): readonly string[] {
  const place = relative(process.cwd(), directory);
  const { install, run } = packageManagerCommands[packageManager];
  return [
    ...(place === '' ? [] : [shellLine(['cd', place])]),
    ...(installed ? [] : [install]),
    `${run} dev`,
    `${run} token`,
  ];
}

/** What will be written, for the author to agree to. */
export function reviewLines(directory: string, files: FileSet, prepared: Prepared): readonly string[] {
  return [
    `${files.size} files in ${directory}`,
    ...prepared.tools.map(({ definition }) => `tool ${definition.name}`),
    ...changeLines(prepared.changes),
    ...adviceLines(prepared.advice),
  ];
}

/** Each file with its size, and the sum. */
export function fileLines(files: FileSet): readonly string[] {
  const sizes = [...files].map(([path, { content }]) => ({ path, bytes: content.byteLength }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const width = String(total).length;
  return [
    ...sizes.map(({ path, bytes }) => `${String(bytes).padStart(width)}  ${path}`),
    `${total}  bytes in ${files.size} files`,
  ];
}

/** Says what was changed in the author's definitions, and what could be better. */
export function showPrepared({ changes, advice }: Prepared, output: Output): void {
  if (changes.length > 0) output.note(`${changes.length} changes so that the definitions meet the contract`);
  for (const line of changeLines(changes)) output.line(`    ${printable(line)}`);
  if (advice.length > 0) output.note(`${advice.length} hints for a better listing`);
  for (const line of adviceLines(advice)) output.line(`    ${printable(line)}`);
}

/** Hints that are shown; the rest is counted. */
const shownHints = 8;

/** Which rules the server breaks and how to mend it; nothing where it breaks none. */
export function showReport(report: Report, output: Output): void {
  if (report.summary.failed === 0 && report.summary.advice === 0) return;
  for (const line of textReport(report, { color: output.hasColors })) output.line(`  ${line}`);
}

/** A report as `--json` shows it: the counts, and the rules that failed. */
export function summaryOf(report: Report | null): object | null {
  return (
    report && {
      ...report.summary,
      failures: failedRules(report, 'must'),
      advised: failedRules(report, 'should'),
    }
  );
}

function failedRules({ rules }: Report, level: Level): readonly RuleResult[] {
  return rules.filter((rule) => rule.status === 'fail' && rule.level === level);
}

export function showNext(commands: readonly string[], repeat: string, output: Output): void {
  output.line();
  output.line(output.style('bold', 'Next'));
  for (const command of commands) output.line(`  ${printable(command)}`);
  output.line();
  // Escapes would change what is repeated; only a path can hold a control character.
  const command = /\p{Cc}/u.test(repeat) ? printable(repeat) : repeat;
  output.line(output.style('dim', `To repeat without questions: ${command}`));
}

function changeLines(changes: readonly Change[]): readonly string[] {
  return changes.map(({ tool, path, what, why }) => `${tool} ${path}: ${what} (${why})`);
}

function adviceLines(advice: readonly Fault[]): readonly string[] {
  const lines = advice
    .slice(0, shownHints)
    .map(({ where, message, hint }) => `${where}: ${message}. ${hint}`);
  const more = advice.length - shownHints;
  return more > 0 ? [...lines, `and ${more} more: --json lists them all`] : lines;
}
