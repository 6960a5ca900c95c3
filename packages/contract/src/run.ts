import { liveRules } from './catalogue.ts';
import { skipExplainedFailures } from './check/explained-failures.ts';
import { skipOf, skippedRule } from './check/skipped-rule.ts';
import { reportIdentity, summarizeRules } from './check/summary.ts';
import { demandsOfContract, meetsDemands } from './check/verdict.ts';
import type { LeveledRule } from './check-rule.ts';
import type { Json } from './json/value.ts';
import { LiveRun } from './live-run.ts';
import type { RehearsalStep, Report, RuleResult, RuleText } from './model.ts';
import { inspectToolList } from './rules/inspect.ts';
import { secondInstance, startsInstances } from './rules/instance.ts';
import { dependsOnCallResults, withCallResults } from './rules/output.ts';
import { effectiveRule, runsByDefault } from './rules/rule.ts';
import type { Target } from './target.ts';
import { msSince, nowMs } from './wire/clock.ts';
import { eraToCheck, isOfEra } from './wire/era.ts';
import { standardSeed } from './wire/exploration.ts';
import type { Probe } from './wire/probe.ts';
import { waitFor } from './wire/rate-limit.ts';
import { rehearse, verdictsOf } from './wire/rehearsal.ts';
import { requireReachable } from './wire/require-reachable.ts';

export interface RunOptions {
  /** Called after each rule, with the number of finished rules and of all rules. */
  onRule?(result: RuleResult, completedCount: number, total: number): void;
  /** Called with the elements of the tool list when it has been read. */
  onListed?(tools: readonly Json[]): void;
  /** Whether to run a rule; others do not appear in the report. By default, all but those that are `onlyNamed`. */
  readonly selects?: ((rule: RuleText) => boolean) | undefined;
  /** Ends the run: `runContract` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs every rule that is on in the target's profile against a running server. Silence makes only a rule with `mustAnswer` fail. Any other
 * rule without an answer is skipped with the reason, as is a rule without its preconditions. A server that we own is restarted once if it
 * stops answering.
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
  const startedAt = nowMs();
  const era = eraToCheck(target.era, target.profile);
  const selects = (rule: RuleText) => isOfEra(rule, era) && (options.selects ?? runsByDefault)(rule);
  await requireReachable(liveRun.probe);
  const leveledRules = liveRules.flatMap(
    (rule) => effectiveRule(rule, target.profile, selects, rule.levelOf?.(target)) ?? [],
  );
  startSecondInstance(leveledRules, liveRun.probe);
  const definitionResults = await inspectDefinitions(target, options, liveRun, selects);
  const reportProgress = countProgress(options.onRule, definitionResults.length + leveledRules.length);
  const listWasAnswered = !definitionResults.some(({ cause }) => cause === 'unanswered');
  if (listWasAnswered)
    definitionResults.filter((result) => !dependsOnCallResults(result)).forEach(reportProgress);
  const { results: liveResults, rehearsalProbe } = await liveRun.checkAll(leveledRules, reportProgress);
  const finalDefinitionResults = listWasAnswered
    ? await applyCallResults(definitionResults, liveRun.probe, reportProgress)
    : await retryDefinitions(definitionResults, liveRun, reportProgress, () =>
        inspectDefinitions(target, options, liveRun, selects),
      );
  options.signal?.throwIfAborted();
  const { ledger } = liveRun.probe;
  const rules = skipExplainedFailures([...finalDefinitionResults, ...liveResults], (quotedAnswer) =>
    ledger.ruleExplaining(quotedAnswer),
  );
  const rehearsal = await rehearsalSteps(rehearsalProbe);
  const summary = summarizeRules(rules, msSince(startedAt));
  return {
    ok: meetsDemands(rules, summary, demandsOfContract),
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

/** Reports a finished rule. */
type ReportProgress = (result: RuleResult) => void;

function countProgress(onRule: RunOptions['onRule'], total: number): ReportProgress {
  let completedCount = 0;
  return (result) => {
    completedCount += 1;
    onRule?.(result, completedCount, total);
  };
}

/** Starts the second instance if a rule needs it. It starts while the server answers the first requests. The two take about the same time, so nothing waits. */
function startSecondInstance(leveledRules: readonly LeveledRule[], probe: Probe): void {
  if (!leveledRules.some(({ rule }) => rule.controls?.includes(startsInstances))) return;
  secondInstance(probe).catch(() => {}); // the rule that needs the instance reports the error
}

/** Stands for the id of a rule while the tools are listed. */
const beforeFirstRule = '';

/** The results of the selected static rules. All are skipped if the server sends no tool list. */
async function inspectDefinitions(
  { profile, methods }: Target,
  { onListed, signal }: RunOptions,
  { probe, liveness }: LiveRun,
  selects: (rule: RuleText) => boolean,
): Promise<readonly RuleResult[]> {
  try {
    const { tools } = await probe.toolList();
    onListed?.(tools);
    return inspectToolList(tools, profile, [], methods, selects);
  } catch (error) {
    signal?.throwIfAborted();
    const skipReason = skipOf(error);
    if (skipReason.notRunCause === 'unanswered') await liveness.recordOutageIfSilent(beforeFirstRule);
    const results = inspectToolList([], profile, [], methods, selects);
    return results.map((result) => skippedRule(result, skipReason));
  }
}

/** Decides the static rules whose verdict depends on the results of calls. */
async function applyCallResults(
  results: readonly RuleResult[],
  probe: Probe,
  reportProgress: ReportProgress,
): Promise<readonly RuleResult[]> {
  const tools = await probe.tools().catch(() => []);
  return results.map((result) => {
    if (!dependsOnCallResults(result)) return result;
    const finalResult = withCallResults(result, tools, (tool, outcome) => probe.ledger.dataOf(tool, outcome));
    reportProgress(finalResult);
    return finalResult;
  });
}

/**
 * Reads the tool list again if the run has started another probe and the server still answers. The new probe may get the answer that
 * the first probe did not get. Otherwise the results stay skipped.
 */
async function retryDefinitions(
  results: readonly RuleResult[],
  { isRenewed, liveness }: LiveRun,
  reportProgress: ReportProgress,
  inspect: () => Promise<readonly RuleResult[]>,
): Promise<readonly RuleResult[]> {
  const finalResults = isRenewed && !liveness.hasStopped ? await inspect() : results;
  finalResults.forEach(reportProgress);
  return finalResults;
}

/** The steps of the submission test; undefined if it was not run. */
async function rehearsalSteps(probe: Probe | undefined): Promise<readonly RehearsalStep[] | undefined> {
  if (!probe) return undefined;
  // Returns the stored result of the submission rules; sends nothing.
  return rehearse(probe).then(verdictsOf, () => undefined);
}
