import type { CheckedRule, CheckReport } from '../check/check-report.ts';
import { countsAsFailure } from '../check/verdict.ts';
import { clip, counted } from '../command/format-text.ts';
import { type Paint, painted, plainPaint, printable } from '../command/paint.ts';
import { groupBy, shorten } from '../json/json.ts';
import type { RehearsalStep } from '../model.ts';
import { driftLines } from './changes.ts';
import { firstLines, mergeToolProblems, problemLines, ruleLines, shortNameList } from './lines.ts';
import {
  countsOf,
  fixesOf,
  footnotes,
  groupOf,
  otherErrorLine,
  problemLine,
  type ReportOptions,
  reasonLine,
  remedyLines,
  verdictOf,
} from './report-text.ts';
import { variableLines } from './request-variables.ts';

/**
 * The report for a terminal. A report of a check that failed has two lines for each failed rule if its details do not fit on one
 * screen; `verbose` prints them.
 */
export function prettyReport(report: CheckReport, options: ReportOptions): string {
  const details = detailedReport(report, options);
  const isShort = details.split('\n').length <= screenLines;
  if (report.ok || options.verbose || isShort) return details;
  return shortPrettyReport(report, options);
}

/** Lines of a terminal that show a report and the prompt after it. */
const screenLines = 40;

/**
 * A line for each group of rules, failures in full, what was not run and why, the rehearsal, drift, and at the end the verdict
 * with what to change.
 */
function detailedReport(report: CheckReport, options: ReportOptions): string {
  const { color, verbose, rerunCommand: commandFor, explainCommand } = options;
  const paint = color ? painted : plainPaint;
  const { rules, rehearsal = [], serverErrors = [] } = report;
  return joinBlocks([
    [titleLine(report)],
    variableLines(report),
    verbose
      ? rules
          .filter(({ status }) => status === 'pass')
          .flatMap((rule) => ruleLines(rule, paint, explainCommand(rule.id)))
      : groupLines(report, paint),
    causesFirst(rules).flatMap((rule) => [
      ...failureLines(rule, paint, explainCommand),
      ...consequences(rule, rules).map((line) => `    ${line}`),
    ]),
    notRunLines(rules, paint, verbose),
    rehearsalLines(rehearsal, paint, verbose),
    serverErrors.map((error) => `${paint.yellow('!')} ${otherErrorLine(error)}`),
    rules.flatMap((rule) => footnotes(rule).map((line) => `· ${rule.id} ${line}`)),
    report.drift ? driftLines(report.drift, paint) : [],
    baselineLines(report, paint),
    [...summaryLines(report, paint), ...recapLines(report, paint, commandFor)],
  ]);
}

/** Two lines for each failed rule, as many as fit on the screen, and in short what else a reader must know. */
function shortPrettyReport(
  report: CheckReport,
  { color, rerunCommand: commandFor, explainCommand }: ReportOptions,
): string {
  const paint = color ? painted : plainPaint;
  const { rules, demands, drift, serverErrors = [] } = report;
  const failed = causesFirst(rules).filter((rule) => !rule.known);
  const countedRules = failed.filter((rule) => countsAsFailure(rule, demands));
  const otherBlocks = [
    shortReasons(rules),
    firstLines(serverErrors, entriesInShort, (error) => `${paint.yellow('!')} ${otherErrorLine(error)}`),
    drift ? firstLines(driftLines(drift, paint), entriesInShort + 1, (line) => line) : [],
    firstLines(baselineLines(report, paint), entriesInShort, (line) => line),
    [...summaryLines(report, paint), ...againLines(countedRules, commandFor, paint)],
  ];
  const [firstRule] = countedRules;
  const help = ['Add --verbose for expected and actual values, and for the requests.'];
  if (firstRule) help.push(`Explain a rule: ${explainCommand(firstRule.id)}`);
  const room =
    screenLines - otherBlocks.flatMap((lines) => (lines.length > 0 ? ['', ...lines] : [])).length - 6;
  const orderedRules = [...countedRules, ...failed.filter((rule) => !countedRules.includes(rule))];
  const failures = firstLines(orderedRules, Math.max(Math.floor(room / 2), leastFailures), (rule) =>
    shortFailure(rule, rules, paint).map((line) => clip(line, width + (color ? colorLength : 0))),
  );
  return joinBlocks([[titleLine(report)], failures, ...otherBlocks, help]);
}

/** Entries of a list that are less important than the failed rules. */
const entriesInShort = 3;
const leastFailures = 8;
/** Characters of the two sequences that set and reset a colour. */
const colorLength = 10;

/** A failed rule: its place and its fix, and below them the error of the tool or what the server answered. */
function shortFailure(rule: CheckedRule, rules: readonly CheckedRule[], paint: Paint): readonly string[] {
  const [problem, ...otherProblems] = mergeToolProblems(rule.problems);
  const mark = rule.level === 'must' ? paint.red('✗') : paint.yellow('!');
  const location =
    problem?.at ?? [problem?.tool, problem?.path].filter((part) => part !== undefined).join(' · ');
  const otherText = otherProblems.length > 0 ? ` and ${otherProblems.length} more` : '';
  const place = location === '' ? '' : `${clip(printable(location), placeWidth)}${otherText}: `;
  const count = becauseOf(rule, rules).length;
  const effect = count === 0 ? '' : ` (${counted(count, 'rule')} not run because of it)`;
  const answer = problem?.cause?.message ?? problem?.actual ?? '';
  const lines = [`${mark} ${rule.id}${effect}  ${place}${fixesOf(rule)[0]}`];
  if (answer !== '') lines.push(`    ${problem?.cause ? 'error' : 'actual'}  ${printable(answer)}`);
  return lines;
}

const placeWidth = 50;

/** The most frequent reasons why rules were not run, without the ids of the rules. */
function shortReasons(rules: readonly CheckedRule[]): readonly string[] {
  const skippedRules = rules.filter(({ status, because }) => status === 'not-run' && because === undefined);
  const groups = [...groupBy(skippedRules, ({ reason = '' }) => reason)].toSorted(
    ([, left], [, right]) => right.length - left.length,
  );
  return firstLines(groups, entriesInShort, ([reason, group]) =>
    clip(`– not run (${group.length}): ${reasonLine(reason)}`, width),
  );
}

function titleLine({ rules, target, platform, runtime, seed }: CheckReport): string {
  const settings = [`platform ${platform}`];
  if (runtime !== undefined) settings.push(`runtime ${runtime}`);
  if (rules.some(({ id, status }) => id.startsWith('explore.') && status !== 'not-run'))
    settings.push(`seed ${seed}`);
  return `Contract check of ${printable(target)} (${printable(settings.join(', '))})`;
}

/** Blocks of lines with an empty line between them. */
function joinBlocks(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** The failed rules, first those because of which most others were not run. */
function causesFirst(rules: readonly CheckedRule[]): readonly CheckedRule[] {
  const failed = rules.filter(({ status }) => status === 'fail');
  const weights = new Map(failed.map((rule) => [rule, becauseOf(rule, rules).length]));
  return failed.toSorted((left, right) => (weights.get(right) ?? 0) - (weights.get(left) ?? 0));
}

/** The rules that were not run because this one failed. */
function becauseOf({ id }: CheckedRule, rules: readonly CheckedRule[]): readonly CheckedRule[] {
  return rules.filter(({ because }) => because === id);
}

function consequences(rule: CheckedRule, rules: readonly CheckedRule[]): readonly string[] {
  const count = becauseOf(rule, rules).length;
  if (count === 0) return [];
  return [`because   of it, ${counted(count, 'rule')} could not be run`];
}

function failureLines(
  rule: CheckedRule,
  paint: Paint,
  explain: ReportOptions['explainCommand'],
): readonly string[] {
  if (rule.known)
    return [`${paint.dim('✗')} ${rule.id}  ${paint.dim(`${rule.title} (known: in the baseline)`)}`];
  return ruleLines(rule, paint, explain(rule.id));
}

/** Rules that were not run, by reason: there are few reasons and many rules. */
function notRunLines(rules: readonly CheckedRule[], paint: Paint, verbose: boolean): readonly string[] {
  const skippedRules = rules.filter(({ status }) => status === 'not-run');
  return [...groupBy(skippedRules, ({ reason = '' }) => reason)].flatMap(([reason, group]) => {
    const ids = group.map(({ id }) => id);
    return [
      `– not run (${ids.length}): ${reasonLine(reason)}`,
      ...clipLines(wrapWords(ids, 100), verbose).map((line) => `    ${paint.dim(line)}`),
    ];
  });
}

/** The first lines of a list of rules: if a server dies, a hundred rules may not be run. */
function clipLines(lines: readonly string[], verbose: boolean): readonly string[] {
  const shownCount = verbose ? lines.length : linesShown;
  const hiddenCount = lines.slice(shownCount).join(', ').split(', ').filter(Boolean).length;
  if (hiddenCount === 0) return lines;
  return [...lines.slice(0, shownCount), `… and ${hiddenCount} more (--verbose lists them)`];
}

const linesShown = 2;
const nameWidth = 80;

function wrapWords(words: readonly string[], maxWidth: number): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 2 > maxWidth) lines.push(word);
    else lines[lines.length - 1] = `${last}, ${word}`;
  }
  return lines;
}

/** The first entries of a long list are enough for a reader; the JSON form contains all. */
const entriesShown = 20;

function rehearsalLines(steps: readonly RehearsalStep[], paint: Paint, verbose: boolean): readonly string[] {
  if (steps.length === 0) return [];
  const title =
    'Submission rehearsal: connect, list the tools, call each with sample arguments, parse the text of its result';
  if (!verbose && steps.every(({ status }) => status === 'pass')) {
    return [
      `${paint.green('✓')} ${title.replace(':', ` (${steps.length} ${steps.length === 1 ? 'tool' : 'tools'}):`)}`,
    ];
  }
  const hiddenPassed = steps.filter(({ status }) => status === 'pass').slice(entriesShown);
  const hiddenFailed = steps.filter(({ status }) => status === 'fail').slice(entriesShown);
  const hidden = new Set([...hiddenPassed, ...hiddenFailed]);
  const lines = [
    paint.bold(title),
    ...steps.filter((step) => !hidden.has(step)).flatMap((step) => stepLines(step, paint)),
  ];
  if (hiddenFailed.length > 0) lines.push(`… and ${hiddenFailed.length} more that fail`);
  if (hiddenPassed.length > 0) lines.push(`… and ${hiddenPassed.length} more that pass`);
  return lines;
}

function stepLines({ tool, arguments: args, ms, status, problems }: RehearsalStep, paint: Paint) {
  const mark = status === 'pass' ? paint.green('✓') : paint.red('✗');
  const fix = problems.find((problem) => problem.fix !== undefined)?.fix;
  const lines = [
    `${mark} ${printable(clip(tool, nameWidth))}  ${printable(shorten(args))}  ${paint.dim(`${Math.round(ms)} ms`)}`,
    ...problems.slice(0, 3).flatMap((problem) => problemLines(problem, paint)),
  ];
  if (fix !== undefined) lines.push(`    fix       ${printable(fix)}`);
  return lines;
}

function baselineLines({ baseline }: CheckReport, paint: Paint): readonly string[] {
  return (baseline?.stale ?? []).map(({ rule, tool }) => {
    const entry = tool === undefined ? rule : `${rule} of ${tool}`;
    return `${paint.red('✗')} ${printable(entry)} passes now: remove it from ${printable(baseline?.file ?? '')}`;
  });
}

function summaryLines(report: CheckReport, paint: Paint): readonly string[] {
  const { demands } = report;
  const strictDemands: string[] = [];
  if (demands.level === 'should') strictDemands.push('a SHOULD counts');
  if (demands.requireAll) strictDemands.push('every rule must run');
  const terms = strictDemands.length > 0 ? ` (${strictDemands.join(', ')})` : '';
  const verdict = verdictOf(report);
  const mark = { passed: paint.green('✓ passed'), failed: paint.red('✗ failed') }[verdict];
  const seconds = (report.summary.ms / 1000).toFixed(1);
  const counts = countsOf(report.summary, paint);
  const summaryLine = `${mark ?? paint.yellow(`! ${verdict}`)}  ${counts} in ${seconds} s${terms}`;
  if (report.complete) return [summaryLine];
  return [summaryLine, ...remedyLines(report)];
}

/** One line for each group of rules: whether it passed, and the counts. */
function groupLines({ rules, demands }: CheckReport, paint: Paint): readonly string[] {
  const groups = groupBy(rules, ({ id }) => groupOf(id));
  const nameColumn = Math.max(...[...groups.keys()].map((group) => group.length));
  return [...groups].map(([group, rulesOfGroup]) => {
    const countRules = (holds: (rule: CheckedRule) => boolean) => rulesOfGroup.filter(holds).length;
    const failed = countRules((rule) => rule.status === 'fail' && countsAsFailure(rule, demands));
    const warnings = countRules(
      (rule) => rule.status === 'fail' && !rule.known && !countsAsFailure(rule, demands),
    );
    const knownCount = countRules((rule) => rule.known === true);
    const notRun = countRules(({ status }) => status === 'not-run');
    let mark = paint.green('✓');
    if (failed > 0) mark = paint.red('✗');
    else if (warnings > 0) mark = paint.yellow('!');
    else if (notRun === rulesOfGroup.length) mark = paint.dim('–');
    const words = [`${countRules(({ status }) => status === 'pass')} passed`];
    if (failed > 0) words.push(paint.red(`${failed} failed`));
    if (warnings > 0) words.push(paint.yellow(counted(warnings, 'warning')));
    if (knownCount > 0) words.push(`${knownCount} known`);
    if (notRun > 0) words.push(paint.dim(`${notRun} not run`));
    return `${mark} ${group.padEnd(nameColumn)}  ${words.join(', ')}`;
  });
}

/** The failures by the place to change, and the command that runs only these rules again. */
function recapLines(
  { rules, demands }: CheckReport,
  paint: Paint,
  commandFor: ((rules: readonly string[]) => string) | undefined,
): readonly string[] {
  const failed = rules.filter((rule) => rule.status === 'fail' && !rule.known);
  const countedRules = failed.filter((rule) => countsAsFailure(rule, demands));
  const shownRules = countedRules.length > 0 ? countedRules : failed;
  if (shownRules.length === 0) return [];
  const groups = groupByLocation(shownRules);
  const hiddenCount = groups.slice(placesShown).flatMap(({ places }) => places).length;
  const title =
    countedRules.length > 0 ? 'What failed, and where to change it' : 'What could be better, and where';
  const lines = ['', paint.bold(title)];
  for (const { places, text, rules } of groups.slice(0, placesShown)) {
    const place = shortNameList(places, 'places');
    const ruleNames = place === rules ? '' : `  ${rules}`;
    lines.push(`  ${paint.bold(printable(place))}${ruleNames}`, `      ${clip(printable(text), width)}`);
  }
  if (hiddenCount > 0) lines.push(`  … and ${hiddenCount} more places`);
  return [...lines, ...againLines(shownRules, commandFor, paint)];
}

/** The command that runs only these rules again. */
function againLines(
  failed: readonly CheckedRule[],
  commandFor: ReportOptions['rerunCommand'],
  paint: Paint,
): readonly string[] {
  const command = failed.length === 0 ? undefined : commandFor?.(failed.map(({ id }) => id));
  if (command === undefined) return [];
  return [`Run only ${failed.length === 1 ? 'this rule' : 'these rules'} again: ${paint.bold(command)}`];
}

/** Groups the problems of failed rules by the place to change. Places with the same rules and the same first problem are one group. */
function groupByLocation(failed: readonly CheckedRule[]) {
  const locatedProblems = failed.flatMap(({ id, title, problems }) =>
    problems.map((problem) => ({ place: problem.at ?? problem.tool ?? id, id, title, problem })),
  );
  const places = [...groupBy(locatedProblems, ({ place }) => place)].map(([place, group]) => {
    const [{ title, problem }] = group;
    const rules = [...new Set(group.map(({ id }) => id))].join(', ');
    const textFor = (tool: string | undefined): string => {
      if (problem.cause) return problem.cause.message;
      return place === rules ? title : problemLine({ ...problem, tool, at: undefined });
    };
    return { place, rules, textWithTool: textFor(problem.tool), textWithoutTool: textFor(undefined) };
  });
  const groups = groupBy(places, ({ rules, textWithoutTool }) => JSON.stringify([rules, textWithoutTool]));
  return [...groups.values()].map((group) => {
    const [{ rules, textWithTool, textWithoutTool }] = group;
    const text = group.length > 1 ? textWithoutTool : textWithTool;
    return { places: group.map(({ place }) => place), text, rules };
  });
}

const placesShown = 10;
const width = 160;
