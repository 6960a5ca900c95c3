import { liveRules } from './catalogue.ts';
import type { Json } from './json/value.ts';
import { LiveRun } from './live-run.ts';
import type { Report, RuleResult, RuleText } from './model.ts';
import { withCauses } from './report/causes.ts';
import { conclusionOf, notRunReason, reportIdentity, skippedRule, summarizeRules } from './report/summary.ts';
import { inspectToolList } from './rules/inspect.ts';
import { secondInstance, startsInstances } from './rules/instance.ts';
import { decidedByResults, dependsOnCallResults } from './rules/output.ts';
import { effectiveRule, runsUnnamed } from './rules/rule.ts';
import type { Target } from './target.ts';
import { msSince, nowMs } from './wire/clock.ts';
import { eraToCheck, isOfEra } from './wire/era.ts';
import { standardSeed } from './wire/exploration.ts';
import { waitFor } from './wire/rate-limit.ts';
import { reach } from './wire/reach.ts';
import { rehearse, verdictsOf } from './wire/rehearsal.ts';

export interface RunOptions {
  /** Called after each rule, with the number of finished rules and of all rules. */
  onRule?(result: RuleResult, completedCount: number, total: number): void;
  /** Called with the elements of the tool list, once they are known. */
  onListed?(tools: readonly Json[]): void;
  /** Whether to run a rule; others do not appear in the report. By default, all but those that are `onlyNamed`. */
  readonly selects?: ((rule: RuleText) => boolean) | undefined;
  /** Ends the run: `runContract` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs every rule that is on in the target's profile against a running server. Only answers make a rule pass or fail: a rule without its
 * preconditions or without answers is reported as not run, with the reason.
 * A server that we own is restarted once if it stops answering.
 *
 * @throws Unreachable
 */
export async function runContract(runTarget: Target, options: RunOptions = {}): Promise<Report> {
  const target = { wait: waitFor, ...runTarget };
  const liveRun = new LiveRun(target, options.signal);
  try {
    return await makeReport(target, options, liveRun);
  } finally {
    await liveRun.close();
  }
}

async function makeReport(target: Target, options: RunOptions, liveRun: LiveRun): Promise<Report> {
  const { signal, selects: isSelected = runsUnnamed } = options;
  const { life } = liveRun;
  const era = eraToCheck(target.era, target.profile);
  const selects = (rule: RuleText) => isOfEra(rule, era) && isSelected(rule);
  const startedAt = nowMs();
  await reach(liveRun.probe);
  const leveled = liveRules.flatMap(
    (rule) => effectiveRule(rule, target.profile, selects, rule.levelOf?.(target)) ?? [],
  );
  // The second instance starts while the first requests are answered: both take as long.
  if (leveled.some(({ rule }) => rule.controls?.includes(startsInstances))) {
    secondInstance(liveRun.probe).catch(() => {}); // the rule that needs it reports why
  }
  let fromDefinitions = await inspect(target, options, liveRun, selects);
  const total = fromDefinitions.length + leveled.length;
  let completedCount = 0;
  const finish = (result: RuleResult): RuleResult => {
    completedCount += 1;
    options.onRule?.(result, completedCount, total);
    return result;
  };
  const hasList = !fromDefinitions.some(({ cause }) => cause === 'unanswered');
  if (hasList) fromDefinitions.filter((result) => !dependsOnCallResults(result)).forEach(finish);
  const fromAnswers = await liveRun.checkAll(leveled, finish);
  if (hasList) {
    const { probe } = liveRun;
    const tools = await probe.tools().catch(() => []);
    fromDefinitions = fromDefinitions.map((result) =>
      dependsOnCallResults(result)
        ? finish(decidedByResults(result, tools, (tool, outcome) => probe.ledger.observed(tool, outcome)))
        : result,
    );
  } else {
    if (liveRun.isRenewed && !life.isOver) fromDefinitions = await inspect(target, options, liveRun, selects);
    fromDefinitions.forEach(finish);
  }
  signal?.throwIfAborted();
  const { ledger } = liveRun.probe;
  const rules = withCauses([...fromDefinitions, ...fromAnswers], (actual) => ledger.causeOf(actual));
  const rehearsal =
    liveRun.rehearsalProbe && (await rehearse(liveRun.rehearsalProbe).then(verdictsOf, () => undefined));
  const summary = summarizeRules(rules, msSince(startedAt));
  return {
    ok: conclusionOf({ ok: summary.failed === 0, summary }) === 'ok',
    target: target.url,
    ...reportIdentity(rules),
    platform: target.profile.name,
    ...(target.runtime && { runtime: target.runtime.version }),
    era,
    seed: target.seed ?? standardSeed,
    rules,
    ...(rehearsal && { rehearsal }),
    summary,
  };
}

/** Stands for the id of a rule while the tools are listed. */
const beforeFirstRule = '';

/** The verdicts of the selected static rules. */
async function inspect(
  { profile, methods }: Target,
  { onListed, signal }: RunOptions,
  { probe, life }: LiveRun,
  selects: (rule: RuleText) => boolean,
): Promise<readonly RuleResult[]> {
  try {
    const listed = await probe.listed();
    onListed?.(listed);
    return inspectToolList(listed, profile, [], methods, selects);
  } catch (error) {
    signal?.throwIfAborted();
    const stopReason = notRunReason(error);
    if (stopReason.kind === 'unanswered') await life.isAnswering(beforeFirstRule);
    return inspectToolList([], profile, [], methods, selects).map((result) =>
      skippedRule(result, stopReason),
    );
  }
}
