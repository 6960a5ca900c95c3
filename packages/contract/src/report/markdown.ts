import { brokenBy } from '../check/change-rules.ts';
import type { CheckedRule, CheckReport, ListingChange } from '../check/check-report.ts';
import { printable } from '../command/paint.ts';
import { shorten } from '../json/json.ts';
import type { RehearsalStep } from '../model.ts';
import { firstLines, mergeToolProblems } from './lines.ts';
import {
  countsOf,
  fixesOf,
  footnotes,
  otherErrorLine,
  problemLine,
  reasonLine,
  remedyLines,
  verdictOf,
} from './report-text.ts';

const problemsShown = 5;

/** The report as GitHub-flavoured Markdown, for a job summary or a comment. */
export function markdownReport(report: CheckReport): string {
  const {
    complete,
    target,
    platform,
    rules,
    rehearsal = [],
    drift,
    baseline,
    serverErrors = [],
    summary,
  } = report;
  const verdict = verdictOf(report);
  const failed = rules.filter(({ status }) => status === 'fail');
  const notRun = rules.filter(({ status }) => status === 'not-run');
  const blocks: readonly (readonly string[])[] = [
    [`# ${verdictSign(verdict)} Contract check of ${escapeMarkdown(target)}`],
    [`Platform ${escapeMarkdown(platform)}: **${verdict}**; ${countsOf(summary)}.`],
    complete ? [] : remedyLines(report).map(escapeMarkdown),
    table(['rule', 'level', 'problem', 'fix', 'source'], failed.map(failureRow)),
    rehearsal.length === 0 ? [] : ['## Submission rehearsal'],
    table(['tool', 'arguments', 'ms', 'verdict'], rehearsal.map(rehearsalRow)),
    drift ? [`## Changes since ${escapeMarkdown(drift.against)}`] : [],
    table(
      ['tool', 'where', 'what', 'buyers', 'a dispute before "Refresh Skills"'],
      (drift?.changes ?? []).map(changeRow),
    ),
    drift?.refreshNeeded ? ['The marketplace uses the old list until you trigger "Refresh Skills".'] : [],
    (baseline?.stale ?? []).map(
      ({ rule, tool = '' }) =>
        `- ❌ ${escapeMarkdown(`${rule} ${tool}`)} passes now: remove it from the baseline`,
    ),
    serverErrors.length === 0 ? [] : ['## Other errors in the server'],
    serverErrors.map((error) => `- ${escapeMarkdown(otherErrorLine(error))}`),
    rules.flatMap((rule) => footnotes(rule).map((line) => `- ${escapeMarkdown(`${rule.id} ${line}`)}`)),
    notRun.length === 0 ? [] : ['## Not run'],
    table(
      ['rule', 'reason'],
      notRun.map(({ id, reason = '' }) => [escapeMarkdown(id), escapeMarkdown(reasonLine(reason))]),
    ),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function verdictSign(verdict: string): string {
  if (verdict === 'failed') return '❌';
  return verdict === 'passed' ? '✅' : '⚠️';
}

/** How a dispute before "Refresh Skills" ends. */
function disputeOutcome(breaksFor: ListingChange['breaksFor']): string {
  if (breaksFor === null) return 'perhaps lost';
  if (breaksFor.includes('dispute')) return '**lost** by the old schema';
  return 'no';
}

function rehearsalRow(step: RehearsalStep): readonly string[] {
  const problemCell = step.problems.slice(0, problemsShown).map(problemLine).map(escapeMarkdown).join('<br>');
  return [
    escapeMarkdown(step.tool),
    escapeMarkdown(shorten(step.arguments)),
    String(Math.round(step.ms)),
    step.status === 'pass' ? '✓' : problemCell,
  ];
}

function changeRow(change: ListingChange): readonly string[] {
  const { tool, path = '', breaks, breaksFor } = change;
  const brokenParties = brokenBy(breaksFor);
  return [
    escapeMarkdown(tool),
    escapeMarkdown(path),
    escapeMarkdown(change.what),
    breaks ? `**${brokenParties}**` : brokenParties,
    disputeOutcome(breaksFor),
  ];
}

function failureRow(rule: CheckedRule): readonly string[] {
  const { id, title, level, problems, source } = rule;
  const shownProblems = firstLines(mergeToolProblems(problems), problemsShown, (problem) =>
    escapeMarkdown(problemLine(problem)),
  );
  const lines = [`**${escapeMarkdown(title)}**`, ...shownProblems];
  const weight = `${level.toUpperCase()}${rule.known ? ' (known)' : ''}`;
  return [
    escapeMarkdown(id),
    weight,
    lines.join('<br>'),
    fixesOf(rule).map(escapeMarkdown).join('<br>'),
    escapeMarkdown(source),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** Text without any meaning for Markdown: no markup, no HTML, no mention, no end of the cell. */
function escapeMarkdown(value: string): string {
  return printable(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('@', '&#64;')
    .replaceAll(/[\\`*_[\]|~#!]/g, '\\$&')
    .replaceAll(/(https?|ftp):\/\//gi, '$1&#58;//')
    .replaceAll(/www\./gi, (word) => `${word.slice(0, 3)}&#46;`);
}
