import { type Paint, printable } from '../command/paint.ts';
import { groupBy } from '../json/json.ts';
import type { Problem, RuleResult } from '../model.ts';

/**
 * One rule with its problems and fixes.
 *
 * @param explainCommand the command that explains the rule
 */
export function ruleLines(rule: RuleResult, paint: Paint, explainCommand: string): readonly string[] {
  const lines = [`${ruleMark(rule, paint)} ${rule.id}${timesOf(rule)}  ${paint.dim(rule.title)}`];
  if (rule.reason !== undefined) lines.push(`    not run: ${printable(rule.reason)}`);
  const problems = mergeToolProblems(rule.problems);
  lines.push(...firstLines(problems, problemsShown, (problem) => problemLines(problem, paint), '    '));
  if (rule.status === 'fail') lines.push(`    fix       ${fixOf(rule)}`, `    explain   ${explainCommand}`);
  return lines;
}

/** How often it failed, if not always: `  intermittent, 3 of 30`. */
function timesOf({ times }: RuleResult): string {
  if (times === undefined) return '';
  return `  intermittent, ${times.failed} of ${times.of}`;
}

/** A rule may fail once for each field of each tool; the first few are enough for a reader. */
const problemsShown = 5;

/** The lines of the first entries of a list, and how many more there are. */
export function firstLines<T>(
  list: readonly T[],
  limit: number,
  linesOf: (entry: T) => string | readonly string[],
  indent = '',
): readonly string[] {
  const lines = list.slice(0, limit).flatMap(linesOf);
  const hiddenCount = list.length - limit;
  if (hiddenCount > 0) lines.push(`${indent}… and ${hiddenCount} more`);
  return lines;
}

/** Merges problems that differ only in their tool. The merged problem names the first tools and the number of the others. */
export function mergeToolProblems(problems: readonly Problem[]): readonly Problem[] {
  const groups = groupBy(problems, (problem) => {
    const {
      tool,
      arguments: _,
      incident: __,
      at: ___,
      request: ____,
      repeat: _____,
      ...comparedMembers
    } = problem;
    return JSON.stringify([comparedMembers, tool === undefined]);
  });
  return [...groups.values()].map((group) => {
    const tools = new Set(group.flatMap(({ tool }) => tool ?? []));
    if (tools.size < 2) return group[0];
    return { ...group[0], tool: shortNameList([...tools], 'tools') };
  });
}

/** The first of some names, and how many more there are. */
export function shortNameList(names: readonly string[], noun: string): string {
  const hiddenCount = names.length - namesShown;
  const shownNames = names.slice(0, namesShown).join(', ');
  if (hiddenCount > 0) return `${shownNames} and ${hiddenCount} more ${noun}`;
  return shownNames;
}

const namesShown = 3;

/** The first frames of a stack lead to the line that failed. */
const framesShown = 3;

/** One problem: its place, the expected and the actual value, the cause, and what to change. */
export function problemLines(problem: Problem, paint: Paint): readonly string[] {
  const { tool, path, expected, actual, cause, at, times, request, repeat = [] } = problem;
  const location = [tool, path].filter((part) => part !== undefined).map(printable);
  const frequency = times ? ` (${times.failed} of ${times.of})` : '';
  const frames = (cause?.stack ?? []).slice(0, framesShown);
  const lines: string[] = [];
  if (location.length > 0) lines.push(`    ${paint.bold(location.join(' · '))}`);
  lines.push(`    expected  ${printable(expected)}`);
  lines.push(`    actual    ${printable(actual)}${frequency}`);
  if (request !== undefined) lines.push(`    request   ${printable(request)}`);
  if (cause) lines.push(`    error     ${paint.bold(printable(cause.message))}`);
  for (const frame of frames) lines.push(`              ${paint.dim(printable(frame))}`);
  if (at !== undefined) lines.push(`    change    ${printable(at)}`);
  for (const command of repeat) lines.push(`    repeat    ${printable(command)}`);
  return lines;
}

/** The fix of a problem, if it has one, replaces the fix of the rule. */
function fixOf({ fix, problems }: RuleResult): string {
  const problemFix = problems.map((problem) => problem.fix).find((text) => text !== undefined);
  return printable(problemFix ?? fix);
}

function ruleMark({ status, level }: RuleResult, paint: Paint): string {
  if (status === 'pass') return paint.green('✓');
  if (status === 'not-run') return paint.dim('–');
  if (level === 'must') return paint.red('✗');
  return paint.yellow('!');
}
