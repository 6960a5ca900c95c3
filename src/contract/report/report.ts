import { styleText } from 'node:util';
import type { Problem, RuleResult } from '../model.ts';

/**
 * One rule with its problems and fixes.
 *
 * @param explain the command that explains the rule
 */
export function ruleLines(rule: RuleResult, paint: Paint, explain: string): readonly string[] {
  return [
    `${markOf(rule, paint)} ${rule.id}  ${paint.dim(rule.title)}`,
    ...(rule.reason === undefined ? [] : [`    not run: ${printable(rule.reason)}`]),
    ...firstOf(rule.problems, problemsShown, (problem) => problemLines(problem, paint), '    '),
    ...(rule.status === 'fail' ? [`    fix       ${fixOf(rule)}`, `    explain   ${explain}`] : []),
  ];
}

/** A rule may fail once for each field of each tool; the first few are enough for a reader. */
const problemsShown = 5;

/** The lines of the first entries of a list, and how many more there are. */
export function firstOf<T>(
  list: readonly T[],
  most: number,
  linesOf: (entry: T) => string | readonly string[],
  indent = '',
): readonly string[] {
  const more = list.length - most;
  return [...list.slice(0, most).flatMap(linesOf), ...(more > 0 ? [`${indent}… and ${more} more`] : [])];
}

/** The first frames of a stack lead to the line that failed. */
const framesShown = 3;

/** One problem: its place, the expected and the actual value, the cause, and what to change. */
export function problemLines(problem: Problem, paint: Paint): readonly string[] {
  const { tool, path, expected, actual, cause, at } = problem;
  const where = [tool, path].filter((part) => part !== undefined).map(printable);
  return [
    ...(where.length > 0 ? [`    ${paint.bold(where.join(' · '))}`] : []),
    `    expected  ${printable(expected)}`,
    `    actual    ${printable(actual)}`,
    ...(cause ? [`    error     ${paint.bold(printable(cause.message))}`] : []),
    ...(cause?.stack ?? [])
      .slice(0, framesShown)
      .map((line) => `              ${paint.dim(printable(line))}`),
    ...(at === undefined ? [] : [`    change    ${printable(at)}`]),
  ];
}

/** The fix of a problem, if it has one, replaces that of the rule. */
function fixOf({ fix, problems }: RuleResult): string {
  const exact = problems.map((problem) => problem.fix).find((text) => text !== undefined);
  return printable(exact ?? fix);
}

function markOf({ status, level }: RuleResult, paint: Paint): string {
  if (status === 'pass') return paint.green('✓');
  if (status === 'not-run') return paint.dim('–');
  return level === 'must' ? paint.red('✗') : paint.yellow('!');
}

/**
 * Makes untrusted text harmless in a terminal and in a CI log: control and direction characters become
 * visible, and so does one character of anything that GitHub Actions reads as a command (`::` at the beginning of a line, `##[`
 * anywhere).
 */
export function printable(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, codeOf)
    .replace(/^(\s*):(?=:)/u, (_, blanks) => `${blanks}${codeOf(':')}`)
    .replaceAll('##[', `#${codeOf('#')}[`);
}

function codeOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** The caller decides on colours, not Node. */
const always = { validateStream: false };

/** Colours of a report. */
export type Paint = Record<'red' | 'green' | 'yellow' | 'dim' | 'bold', (text: string) => string>;

export const painted: Paint = {
  red: (text) => styleText('red', text, always),
  green: (text) => styleText('green', text, always),
  yellow: (text) => styleText('yellow', text, always),
  dim: (text) => styleText('dim', text, always),
  bold: (text) => styleText('bold', text, always),
};

const same = (text: string): string => text;
export const plain: Paint = { red: same, green: same, yellow: same, dim: same, bold: same };
