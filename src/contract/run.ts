import { liveRules } from './catalogue.ts';
import { now } from './clock.ts';
import { mapConcurrently } from './concurrency.ts';
import { inspectTools } from './inspect.ts';
import type { Json, Level, Report, RuleResult, RuleText } from './model.ts';
import { Probe } from './probe/probe.ts';
import { rehearse, verdictsOf } from './probe/rehearsal.ts';
import { type LiveRule, NotRun, verdict, weightOf } from './rule.ts';
import { submissionRules } from './rules/submission.ts';
import { notRun, summaryOf } from './summary.ts';
import type { Target } from './target.ts';

/** Rules that run at the same time: most wait for answers, those aside keep a processor busy each. */
const atOnce = { beside: 12, aside: 3, last: 1 } as const;

export interface RunOptions {
  /** Called as each rule is finished, with how many are and how many there are. */
  onRule?(result: RuleResult, done: number, total: number): void;
  /** Called with the elements of the tool list, once they are known. */
  onListed?(tools: readonly Json[]): void;
  /** Whether a rule shall be run; those that are not do not appear in the report. Every rule where absent. */
  selects?(rule: RuleText): boolean;
  /** Ends the run: `runContract` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Thrown where nothing answers at the target at all. */
export class Unreachable extends Error {}

/**
 * Runs every rule that the target's profile gives a weight against a running server. Rules whose preconditions are
 * missing are reported as not run, with the reason.
 *
 * @throws Unreachable
 */
export async function runContract(target: Target, options: RunOptions = {}): Promise<Report> {
  const { onRule, selects = () => true, signal } = options;
  const started = now();
  const probe = new Probe(target, signal);
  try {
    await reach(probe);
    const fromDefinitions = (await inspectListed(probe, options)).filter(selects);
    const weighed = liveRules.filter(selects).flatMap((rule) => {
      const level = weightOf(rule, target.profile);
      return level === 'off' ? [] : [{ rule, level }];
    });
    const total = fromDefinitions.length + weighed.length;
    let done = 0;
    const report = (result: RuleResult): RuleResult => {
      done += 1;
      onRule?.(result, done, total);
      return result;
    };
    fromDefinitions.forEach(report);
    const fromAnswers = await judgeAll(weighed, probe, report);
    signal?.throwIfAborted();
    const rules = [...fromDefinitions, ...fromAnswers];
    const summary = summaryOf(rules, now() - started);
    const rehearsal = weighed.some(({ rule }) => submissionRules.includes(rule))
      ? await rehearse(probe).then(verdictsOf, () => undefined)
      : undefined;
    return {
      ok: summary.failed === 0,
      target: target.url,
      platform: target.profile.name,
      rules,
      ...(rehearsal && { rehearsal }),
      summary,
    };
  } finally {
    await probe.close();
  }
}

interface Weighed {
  readonly rule: LiveRule;
  readonly level: Level;
}

/** Runs all rules, each in its turn; the results are in the order of the rules. */
async function judgeAll(
  weighed: readonly Weighed[],
  probe: Probe,
  report: (result: RuleResult) => RuleResult,
): Promise<readonly RuleResult[]> {
  const results = new Map<LiveRule, RuleResult>();
  const run = (turn: keyof typeof atOnce) =>
    mapConcurrently(
      weighed.filter(({ rule }) => (rule.turn ?? 'beside') === turn),
      atOnce[turn],
      async ({ rule, level }) => {
        probe.signal?.throwIfAborted();
        results.set(rule, report(await judge(rule, level, probe)));
      },
    );
  await Promise.all([run('aside'), run('beside').then(() => run('last'))]);
  return weighed.flatMap(({ rule }) => results.get(rule) ?? []);
}

async function reach(probe: Probe): Promise<void> {
  try {
    await Promise.any([probe.health(), probe.initialized()]);
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [error];
    throw new Unreachable(`${probe.url.href} does not answer: ${messageOf(first)}`, { cause: error });
  }
}

async function inspectListed(probe: Probe, { onListed }: RunOptions): Promise<readonly RuleResult[]> {
  try {
    const listed = await probe.listed();
    onListed?.(listed);
    return inspectTools(listed, probe.profile);
  } catch (error) {
    const reason = messageOf(error);
    return inspectTools([], probe.profile).map((result) => notRun(result, reason));
  }
}

async function judge(rule: LiveRule, level: Level, probe: Probe): Promise<RuleResult> {
  const started = now();
  try {
    return verdict(rule, level, await rule.check(probe), started);
  } catch (error) {
    if (error instanceof NotRun) return notRun(verdict(rule, level, [], started), error.message);
    return verdict(rule, level, [{ expected: 'an answer', actual: messageOf(error) }], started);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
