import { skippedRule } from './check/skipped-rule.ts';
import { type CheckOptions, checkRule, type LeveledRule, type RuleCheck } from './check-rule.ts';
import type { Level, RuleResult } from './model.ts';
import { steadyId } from './rules/answers.ts';
import { staysUp } from './rules/endpoint.ts';
import { ownAnswerId } from './rules/pairs.ts';
import { type LiveRule, verdict } from './rules/rule.ts';
import { submissionRules } from './rules/submission.ts';
import type { Target } from './target.ts';
import { nowMs } from './wire/clock.ts';
import { mapConcurrently } from './wire/concurrency.ts';
import { deadlinePassed } from './wire/http.ts';
import { LivenessTracker, outageProblems } from './wire/liveness.ts';
import { NotRun } from './wire/not-run.ts';
import { Probe } from './wire/probe.ts';
import { NoAnswer } from './wire/receive.ts';
import { sessionOf } from './wire/rpc.ts';

/** The maximum number of rules at the same time. Most rules wait for answers; each `separate` rule uses a processor. */
const maxParallelRules = { default: 12, separate: 3 } as const;

/** After so many repeated rules without an answer, no further rule is repeated. */
const maxSilentRepeats = 3;

/** The results of all live rules, in the order of the rules. */
interface LiveResults {
  readonly results: readonly RuleResult[];
  /** The probe that ran the submission test; absent if the test was not run to its end. */
  readonly rehearsalProbe?: Probe | undefined;
}

/** What a run knows about its rules so far. */
class RunState {
  readonly results = new Map<LiveRule, RuleResult>();
  readonly startedRules = new Set<LiveRule>();
  /** Failed rules of the turn `separate`, and others that failed for lack of an answer. */
  readonly doubtfulRules = new Set<LiveRule>();
  readonly hangingRules = new Set<LiveRule>();
  rehearsalProbe: Probe | undefined;
  readonly #reportedRules = new Set<LiveRule>();
  readonly #onFinished: (result: RuleResult) => void;

  constructor(onFinished: (result: RuleResult) => void) {
    this.#onFinished = onFinished;
  }

  /** Records a verdict, and reports progress once for each rule. `results` cannot show that, because `forgetResults` removes entries. */
  finish(rule: LiveRule, result: RuleResult): void {
    this.results.set(rule, result);
    if (this.#reportedRules.has(rule)) return;
    this.#reportedRules.add(rule);
    this.#onFinished(result);
  }

  /** Records that a check of a rule was made with a probe. */
  record(rule: LiveRule, { hasReturned, isDoubtful, hangProblems }: RuleCheck, probe: Probe): void {
    if (isDoubtful) this.doubtfulRules.add(rule);
    if (hangProblems) this.hangingRules.add(rule);
    if (hasReturned && submissionRules.includes(rule)) this.rehearsalProbe = probe;
  }

  /** Removes the results of rules that cannot be repeated, because the server stopped answering. Separate rules start servers themselves. */
  forgetResults(rules: readonly LeveledRule[]): void {
    for (const { rule } of rules) if (rule.turn !== 'separate') this.results.delete(rule);
  }

  hasFailed(id: string): boolean {
    return [...this.results.values()].some((result) => result.id === id && result.status === 'fail');
  }

  /** Whether a rule has passed or failed. */
  isChecked(rule: LiveRule): boolean {
    return isChecked(this.results.get(rule));
  }

  /** Whether to check a rule again: its verdict is doubtful, or it is an isolated rule that was skipped and another isolated rule is doubtful. */
  needsRepetition(rule: LiveRule): boolean {
    if (this.doubtfulRules.has(rule)) return true;
    return rule.turn === 'isolated' && this.hasDoubtfulIsolatedRule && !this.isChecked(rule);
  }

  /** Whether the verdict of an isolated rule is doubtful. A repetition removes the doubt, unless the rule fails again. */
  get hasDoubtfulIsolatedRule(): boolean {
    return [...this.doubtfulRules].some(({ turn }) => turn === 'isolated');
  }
}

/**
 * Checks the live rules of one run by their `turn`. After a restart of the server it checks the unfinished rules. At the end it checks the
 * rules again whose failure or missing answer may come from load, from another session of this run, or from chance.
 */
export class LiveRun {
  readonly liveness: LivenessTracker;
  readonly #target: Target;
  readonly #signal: AbortSignal | undefined;
  readonly #probes: Probe[] = [];
  #opensFurtherSessions: Promise<boolean> | undefined;

  constructor(target: Target, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#signal = signal;
    this.#startProbeWithoutSession();
    this.liveness = new LivenessTracker(target, this.probe.ledger, signal);
  }

  async close(): Promise<void> {
    await Promise.all(this.#probes.map((probe) => probe.close()));
  }

  get probe(): Probe {
    return this.#probes.at(-1) as Probe;
  }

  /** Whether the first probe was replaced: a later probe may get answers that the first one did not get. */
  get isRenewed(): boolean {
    return this.#probes.length > 1;
  }

  /** Starts the first probe, or one for a restarted server, which has lost its sessions. */
  #startProbeWithoutSession(): void {
    const previousProbe = this.#probes.at(-1);
    previousProbe?.ledger.openedSessions.clear();
    this.#probes.push(new Probe(this.#target, this.#signal, undefined, previousProbe?.ledger));
  }

  /** Starts a probe that reuses only the session and the tools of the previous probe. Rules ask for all else again. */
  #startProbeInSameSession(): void {
    this.#probes.push(new Probe(this.#target, this.#signal, this.probe));
  }

  /**
   * Checks all rules.
   *
   * @param onFinished called with the first verdict on each rule; a later check may replace it
   */
  async checkAll(
    leveledRules: readonly LeveledRule[],
    onFinished: (result: RuleResult) => void,
  ): Promise<LiveResults> {
    const state = new RunState(onFinished);
    const rules = leveledRules.filter(({ rule }) => rule !== staysUp);
    await Promise.all([this.#checkSeparateRules(rules, state), this.#checkByTurn(rules, state)]);
    await this.#checkAfterRestart(rules, state);
    await this.#repeatDoubtfulRules(rules, state);
    await this.#repeatHangsBetweenPings(rules, state);
    await this.#repeatIfCallersAreMixedUp(rules, state);
    await this.#repeatIntermittentFailures(rules, state);
    for (const { rule, level } of rules.filter(({ rule }) => !state.results.has(rule))) {
      const reason = NotRun.because('unanswered', this.liveness.reasonFor(rule.id));
      state.finish(rule, skippedRule(verdict(rule, level, [], nowMs()), reason));
    }
    for (const { rule, level } of leveledRules.filter(({ rule }) => rule === staysUp)) {
      state.finish(rule, await this.#checkStaysUp(level));
    }
    const results = leveledRules.flatMap(({ rule }) => state.results.get(rule) ?? []);
    return { results, rehearsalProbe: state.rehearsalProbe };
  }

  async #checkSeparateRules(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    const separateRules = rulesOfTurn(rules, 'separate');
    await mapConcurrently(separateRules, maxParallelRules.separate, (leveledRule) =>
      this.#checkFirst(leveledRule, state),
    );
  }

  /** Checks the rules of all other turns. If sessions disturb each other, no other session is open while a later rule is checked. */
  async #checkByTurn(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    for (const { rule } of rules) rule.begin?.(this.probe).catch(() => {}); // its check reports the error
    const check = (leveledRule: LeveledRule) => this.#checkFirst(leveledRule, state);
    const isolatedRules = rulesOfTurn(rules, 'isolated');
    await mapConcurrently(rulesOfTurn(rules, undefined), maxParallelRules.default, check);
    await mapConcurrently(isolatedRules, 1, check);
    if (isolatedRules.length > 0) await this.#endSessions();
    const openingRules = rulesOfTurn(rules, 'opening');
    const lastRules = [...rulesOfTurn(rules, 'last'), ...rulesOfTurn(rules, 'waiting')];
    if (isolatedRules.every(({ rule }) => state.results.get(rule)?.status !== 'fail')) {
      await mapConcurrently(openingRules, maxParallelRules.default, check);
      await mapConcurrently(lastRules, 1, check);
      return;
    }
    await mapConcurrently([...openingRules, ...lastRules], 1, async (leveledRule) => {
      await this.#endSessions();
      await check(leveledRule);
    });
  }

  /**
   * Restarts a server that stopped answering, and checks the unfinished rules one by one, to identify the rule that ends it. Rules that
   * had not been started are checked first.
   */
  async #checkAfterRestart(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    const unfinishedRules = rules.filter(({ rule }) => !state.results.has(rule));
    if (unfinishedRules.length === 0 || !(await this.liveness.restart())) return;
    this.#startProbeWithoutSession();
    const suspects = unfinishedRules.filter(({ rule }) => state.startedRules.has(rule));
    const otherRules = unfinishedRules.filter(({ rule }) => !state.startedRules.has(rule));
    await mapConcurrently([...otherRules, ...suspects], 1, (leveledRule) =>
      this.#checkFirst(leveledRule, state),
    );
  }

  /**
   * Checks doubtful rules again, one by one and with no other session of this run, and replaces their verdicts. Controls are repeated only
   * for isolated rules: those of other rules passed, and would open sessions. If the server never spoke JSON-RPC, or stopped answering,
   * silence proves nothing.
   */
  async #repeatDoubtfulRules(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    const affectedRules = rules.filter(({ rule }) => state.needsRepetition(rule));
    if (this.liveness.hasStopped) return state.forgetResults(affectedRules);
    if (affectedRules.length === 0 || !this.probe.ledger.speaksJsonRpc) return;
    await this.#endSessions();
    this.#startProbeInSameSession();
    let silences = 0;
    for (const leveledRule of affectedRules) {
      const { rule } = leveledRule;
      if (silences === maxSilentRepeats) return;
      if (!state.isChecked(rule) && state.hasDoubtfulIsolatedRule) continue; // it depends on an isolated rule that failed again
      state.doubtfulRules.delete(rule);
      const { isDoubtful } = await this.#repeatRule(leveledRule, state, {
        skipsControls: rule.turn !== 'isolated',
      });
      if (isDoubtful && rule.turn !== 'separate') silences += 1;
    }
  }

  /** Checks the rules again of which a request hung. They fail if a request hangs again while a ping before and after it is answered. */
  async #repeatHangsBetweenPings(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    const hangingRules = rules.filter(({ rule }) => state.hangingRules.has(rule));
    if (hangingRules.length === 0) return;
    this.#startProbeInSameSession();
    for (const leveledRule of hangingRules) {
      const { rule, level } = leveledRule;
      const { reason = '' } = state.results.get(rule) ?? {};
      const startedAt = nowMs();
      if (this.liveness.hasStopped || !(await this.#answersPing())) return;
      const { hangProblems } = await this.#repeatRule(leveledRule, state, { skipsControls: true });
      if (hangProblems && (await this.#answersPing()))
        state.results.set(rule, { ...verdict(rule, level, hangProblems, startedAt), again: reason });
    }
  }

  /** Whether a ping is answered. None is sent after the deadline, or if no session can be opened. */
  async #answersPing(): Promise<boolean> {
    try {
      await this.probe.rpc('ping');
      return true;
    } catch (error) {
      if (error instanceof NoAnswer || error instanceof NotRun) return false;
      throw error;
    }
  }

  /**
   * If a tool mixes up its callers, checks each rule again whose problems all belong to a tool, or which was not run because of another rule
   * (`see`). They send one request at a time, so that parallel calls are not the cause of a failure that remains.
   */
  async #repeatIfCallersAreMixedUp(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    if (this.liveness.hasStopped || !state.hasFailed(ownAnswerId)) return;
    const affectedRules = rules.filter(({ rule }) => {
      const { id, status, see = [], problems = [] } = state.results.get(rule) ?? {};
      if (id === ownAnswerId) return false;
      return status === 'fail' ? problems.every(({ tool }) => tool) : see.length > 0;
    });
    this.#startProbeInSameSession();
    this.probe.sendOneByOne();
    for (const leveledRule of affectedRules) await this.#repeatRule(leveledRule, state);
  }

  /**
   * Checks the rules again whose failures were all intermittent. If a rule fails so again, `skipExplainedFailures` skips it,
   * because `answers.steady` explains it.
   */
  async #repeatIntermittentFailures(rules: readonly LeveledRule[], state: RunState): Promise<void> {
    if (this.liveness.hasStopped || !state.hasFailed(steadyId)) return;
    const isIntermittent = (text: string): boolean => this.probe.ledger.ruleExplaining(text) === steadyId;
    const affectedRules = rules.filter(({ rule }) => {
      const { id, status, cause, reason = '', problems = [] } = state.results.get(rule) ?? {};
      if (id === steadyId) return false;
      if (status === 'fail') return problems.every(({ actual }) => isIntermittent(actual));
      return cause === 'unanswered' && isIntermittent(reason);
    });
    for (const leveledRule of affectedRules) await this.#repeatRule(leveledRule, state);
  }

  /** Checks a rule for the first time. It has no verdict if the server stopped answering. */
  async #checkFirst(leveledRule: LeveledRule, state: RunState): Promise<void> {
    this.#signal?.throwIfAborted();
    const { rule } = leveledRule;
    if (this.liveness.hasStopped && rule.turn !== 'separate') return;
    state.startedRules.add(rule);
    const { result } = await this.#checkOnce(leveledRule, state);
    if (result) state.finish(rule, result);
  }

  /** Checks a rule again with no other session of this run, and replaces its verdict if it passes or fails. */
  async #repeatRule(leveledRule: LeveledRule, state: RunState, options?: CheckOptions): Promise<RuleCheck> {
    const { rule } = leveledRule;
    const { problems: [firstProblem] = [], reason = '' } = state.results.get(rule) ?? {};
    const firstFailure = firstProblem?.actual ?? reason;
    await this.#endSessions();
    if (this.liveness.hasStopped && rule.turn !== 'separate') return {};
    const check = await this.#checkOnce(leveledRule, state, options);
    if (check.result && isChecked(check.result))
      state.results.set(rule, { ...check.result, again: firstFailure });
    return check;
  }

  async #checkOnce(leveledRule: LeveledRule, state: RunState, options?: CheckOptions): Promise<RuleCheck> {
    const { probe, liveness } = this;
    const check = await checkRule(leveledRule, { target: this.#target, probe, liveness }, options);
    state.record(leveledRule.rule, check, probe);
    return check;
  }

  /** Ends the sessions of this run, unless the server opens no second session, or never spoke JSON-RPC. */
  async #endSessions(): Promise<void> {
    if (this.#target.era === 'modern' || !this.probe.ledger.speaksJsonRpc) return;
    this.#opensFurtherSessions ??= this.probe.secondInitialize().then(
      ({ http, result }) => result !== undefined && sessionOf(http) !== undefined,
      () => false,
    );
    if (await this.#opensFurtherSessions) await this.probe.endAndForgetSessions();
  }

  async #checkStaysUp(level: Level): Promise<RuleResult> {
    const startedAt = nowMs();
    const { outages } = this.liveness;
    if (outages.length === 0) await this.liveness.recordOutageIfSilent(staysUp.id);
    if (outages.length === 0 && this.probe.isOverdue)
      return skippedRule(verdict(staysUp, level, [], startedAt), deadlinePassed());
    return verdict(staysUp, level, outageProblems(outages), startedAt);
  }
}

function rulesOfTurn(rules: readonly LeveledRule[], turn: LiveRule['turn']): readonly LeveledRule[] {
  return rules.filter(({ rule }) => rule.turn === turn);
}

function isChecked(result: RuleResult | undefined): boolean {
  return result !== undefined && result.status !== 'not-run';
}
