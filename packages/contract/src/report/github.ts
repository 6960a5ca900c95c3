import type { CheckedRule, CheckReport } from '../check/check-report.ts';
import { countsAsFailure } from '../check/verdict.ts';
import { printable } from '../command/paint.ts';
import {
  countsOf,
  detailLines,
  parseLocation,
  type ReportOptions,
  remarksOf,
  verdictOf,
} from './report-text.ts';

/** More lines in an annotation would hide the fix. */
const problemsShown = 10;

/** The report as workflow commands of GitHub Actions: an error for what fails the check, a warning for advice. */
export function githubReport(report: CheckReport, { explainCommand }: ReportOptions): string {
  const { rules, demands, summary, ok, complete } = report;
  const failed = rules.filter((rule) => rule.status === 'fail' && !rule.known);
  const missing = rules.filter((rule) => rule.status === 'not-run' && countsAsFailure(rule, demands));
  return [
    ...failed.map((rule) => {
      const text = [rule.title, ...detailLines(rule, explainCommand, problemsShown)].join('\n');
      return command(
        countsAsFailure(rule, demands) ? 'error' : 'warning',
        rule.id,
        text,
        annotationLocation(rule),
      );
    }),
    ...missing.map(({ id, reason }) => command('error', id, printable(`not run: ${reason}`))),
    ...remarksOf(report).map(({ about, text, fails }) => command(fails ? 'error' : 'warning', about, text)),
    command('notice', `market-mcp check ${ok && !complete ? 'ended' : verdictOf(report)}`, countsOf(summary)),
  ].join('\n');
}

/** The file in which GitHub shows the annotation, if the problems name one. */
function annotationLocation({ problems }: CheckedRule): string {
  const at = problems.find((problem) => problem.at !== undefined)?.at;
  if (at === undefined) return '';
  const { file, line } = parseLocation(at);
  return `,file=${escapeProperty(file)}${line === undefined ? '' : `,line=${line}`}`;
}

/** Escapes as @actions/core does, so that text of the target cannot become a command. */
function command(level: 'error' | 'warning' | 'notice', title: string, text: string, place = ''): string {
  return `::${level} title=${escapeProperty(title)}${place}::${data(text)}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
