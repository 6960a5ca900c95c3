import type { Problem } from '../model.ts';
import { mapConcurrently } from '../wire/concurrency.ts';
import { requireControls } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { Hang, NoAnswer, Unanswered } from '../wire/receive.ts';
import { isViolatedBySilence, type LiveRule, type Note, silenceProblems } from './rule.ts';

/** The members that a merged rule states itself. All others come from its first case, the most general one. */
type MergedText = Pick<LiveRule, 'title'> & Partial<LiveRule>;

/** The problems of a case, or the reason why it was not run. */
type CaseResult = { readonly problems: readonly Problem[] } | UnrunCase;

interface UnrunCase {
  readonly id: string;
  readonly reason: NotRun;
}

/** A rule that merges rules which fail together. Each problem names its case. */
export function mergeLive(text: MergedText, cases: readonly [LiveRule, ...LiveRule[]]): LiveRule {
  const [general] = cases;
  const rule: LiveRule = { ...general, ...text, withCases };
  if (!general.controls) return withCases(rule, cases);
  const controls = general.controls.filter((works) => cases.every((part) => part.controls?.includes(works)));
  return withCases({ ...rule, controls }, cases);
}

function withCases(rule: LiveRule, cases: readonly LiveRule[]): LiveRule {
  return {
    ...rule,
    cases: cases.map((part) => ({ ...part, within: rule.id })),
    check: (probe, note, onUnrunCase) => checkCases(rule, cases, probe, note, onUnrunCase),
  };
}

/**
 * The problems of all cases. A case that may disturb others runs separately.
 *
 * @throws NotRun if no case found a problem, and one was not run although it applies, or none was run
 */
async function checkCases(
  { turn, fix, controls: shared = [] }: LiveRule,
  cases: readonly LiveRule[],
  probe: Probe,
  note?: Note,
  onUnrunCase?: (id: string) => void,
): Promise<readonly Problem[]> {
  const areParallel = turn !== 'last' && turn !== 'separate';
  const results = await mapConcurrently(cases, areParallel ? cases.length : 1, (rule) =>
    checkCase(rule, shared, probe, note),
  );
  const ownFixes = new Map(cases.filter((part) => part.fix !== fix).map((part) => [part.id, part.fix]));
  const problems = results
    .flatMap((result) => ('problems' in result ? result.problems : []))
    .map((problem) => withFix(problem, ownFixes.get(problem.case ?? '')));
  const unrun = results.filter((result) => 'reason' in result);
  for (const { id } of unrun) onUnrunCase?.(id);
  const missing = unrun.filter(
    ({ reason: { notRunCause } }) => notRunCause !== 'inapplicable' && notRunCause !== 'example',
  );
  if (problems.length > 0) {
    for (const { id, reason } of missing) note?.(`the case ${id} was not run: ${reason.message}`);
    return problems;
  }
  const [first = unrun.length === results.length ? unrun[0] : undefined] = missing;
  if (first) throw first.reason;
  return [];
}

function withFix(problem: Problem, fix: string | undefined): Problem {
  if (problem.fix !== undefined || fix === undefined) return problem;
  return { ...problem, fix };
}

async function checkCase(
  rule: LiveRule,
  shared: NonNullable<LiveRule['controls']>,
  probe: Probe,
  note?: Note,
): Promise<CaseResult> {
  const ofCase = (problem: Problem): Problem => ({ ...problem, case: rule.id });
  let isControlled = false;
  try {
    const controls = rule.controls?.filter((works) => !shared.includes(works));
    if (controls) await requireControls(probe, controls);
    isControlled = true;
    return { problems: (await rule.check(probe, note)).map(ofCase) };
  } catch (error) {
    if (isControlled && isViolatedBySilence(rule, error)) {
      const problems = silenceProblems(error).map(ofCase);
      throw error instanceof Hang ? new Hang(problems) : new Unanswered(problems);
    }
    if (!(error instanceof NotRun || error instanceof NoAnswer)) throw error;
    const reason =
      error instanceof NotRun ? error : NotRun.because('unanswered', `no answer: ${error.message}`);
    return { id: rule.id, reason };
  }
}
