import { skipOf, skippedRule } from './check/skipped-rule.ts';
import type { Level, Problem, RuleResult } from './model.ts';
import { isViolatedBySilence, type LiveRule, silenceProblems, verdict } from './rules/rule.ts';
import type { Target } from './target.ts';
import { nowMs } from './wire/clock.ts';
import { requireControls } from './wire/controls.ts';
import type { LivenessTracker } from './wire/liveness.ts';
import { distortedByRateLimit, NotRun, rateLimited } from './wire/not-run.ts';
import type { Probe } from './wire/probe.ts';
import { quotesRateLimit } from './wire/rpc.ts';

/** A rule with its level in the profile of the target. */
export interface LeveledRule {
  readonly rule: LiveRule;
  readonly level: Level;
}

/** The server on which a rule is checked. */
interface CheckedServer {
  readonly target: Target;
  readonly probe: Probe;
  readonly liveness: LivenessTracker;
}

/** The outcome of one check of a rule. The run uses it to decide whether to check the rule again. */
export interface RuleCheck {
  /** Absent if the server stopped answering before the rule had a verdict. */
  readonly result?: RuleResult;
  /** Whether `check` returned instead of throwing, and a rate limit did not distort what it measured. */
  readonly hasReturned?: boolean;
  /** Whether load, or another session of this run, may be the cause of its failure. */
  readonly isDoubtful?: boolean;
  /** The problems of a request that got no complete answer while the server answered others. */
  readonly hangProblems?: readonly Problem[];
}

/** The server stopped answering: the run decides later. */
const withoutVerdict: RuleCheck = {};

const notMeasurable = NotRun.because('inapplicable', distortedByRateLimit);

export interface CheckOptions {
  /** Set if the controls of the rule passed in an earlier check. */
  readonly skipsControls?: boolean;
}

/** Checks a rule once. */
export async function checkRule(
  { rule, level }: LeveledRule,
  { target, probe, liveness }: CheckedServer,
  { skipsControls = false }: CheckOptions = {},
): Promise<RuleCheck> {
  probe.signal?.throwIfAborted();
  const startedAt = nowMs();
  const notes: string[] = [];
  const unrunCases = new Set<string>();
  const resultOf = (problems: readonly Problem[]): RuleResult => {
    const isAdvice = rule.isAdvice?.(target, problems) === true;
    return verdict(rule, isAdvice ? 'should' : level, problems, startedAt, notes, unrunCases);
  };
  const isDistorted = () => rule.measures === true && probe.ledger.rateLimit.isReached;
  let controlsPassed = skipsControls;
  try {
    const problems = await liveness.trackRule(rule.id, async () => {
      if (!controlsPassed) await requireControls(probe, rule.controls);
      controlsPassed = true;
      return rule.check(
        probe,
        (text) => notes.push(text),
        (id) => unrunCases.add(id),
      );
    });
    if (isDistorted()) throw notMeasurable;
    if (problems.some(({ actual }) => quotesRateLimit(actual)))
      throw NotRun.because('unanswered', rateLimited);
    if (problems.length > 0 && mayEndServer(rule)) await liveness.recordOutageIfSilent(rule.id);
    const isDoubtful = problems.length > 0 && rule.turn === 'separate';
    return { result: resultOf(problems), hasReturned: true, isDoubtful };
  } catch (thrown) {
    probe.signal?.throwIfAborted();
    const error = isDistorted() ? notMeasurable : thrown;
    const reason = skipOf(error);
    const isAnswering = reason.notRunCause !== 'unanswered' || (await liveness.checkAnswering(rule.id));
    const skipped: RuleCheck = isAnswering ? { result: skippedRule(resultOf([]), reason) } : withoutVerdict;
    if (!controlsPassed || !isViolatedBySilence(rule, error)) return skipped;
    const problems = silenceProblems(error);
    return silenceCheck(rule, { problems, skipped, isAnswering, failed: resultOf(problems) });
  }
}

/** The verdict on a rule that requires an answer and got none. A dead server fails only the rules that may end it. */
function silenceCheck(rule: LiveRule, { problems, skipped, isAnswering, failed }: Silence): RuleCheck {
  if (rule.mustAnswer === 'in-time')
    return isAnswering ? { ...skipped, hangProblems: problems } : withoutVerdict;
  if (isAnswering) return { result: failed, isDoubtful: true };
  if (mayEndServer(rule)) return { result: failed };
  return withoutVerdict;
}

/** A check of a rule whose request got no answer. */
interface Silence {
  readonly problems: readonly Problem[];
  /** The check if the silence does not count. */
  readonly skipped: RuleCheck;
  /** Whether the server answers other requests. */
  readonly isAnswering: boolean;
  /** The result if the silence counts. */
  readonly failed: RuleResult;
}

/** Whether a rule can be what ended the server. Rules of other turns run beside others, or send ordinary requests. */
function mayEndServer({ turn }: LiveRule): boolean {
  return turn === 'last' || turn === 'waiting';
}
