import type { Level, Problem, RuleResult } from './model.ts';
import { notRunReason, skippedRule } from './report/summary.ts';
import { steadyId } from './rules/answers.ts';
import { staysUp } from './rules/endpoint.ts';
import { ownAnswerId } from './rules/pairs.ts';
import { isViolation, type LiveRule, type Note, silenceProblems, verdict } from './rules/rule.ts';
import { submissionRules } from './rules/submission.ts';
import type { Target } from './target.ts';
import { nowMs } from './wire/clock.ts';
import { mapConcurrently } from './wire/concurrency.ts';
import { control } from './wire/controls.ts';
import { overdue } from './wire/http.ts';
import { LivenessTracker, outageProblems } from './wire/life.ts';
import { NotRun, rateLimited } from './wire/not-run.ts';
import { Probe } from './wire/probe.ts';
import { sessionOf, unanswered } from './wire/rpc.ts';

/** The number of parallel rules. Most rules wait for answers; each `separate` rule uses a processor. */
const atOnce = { together: 12, separate: 3 } as const;

/** After so many repeated rules without an answer, none is repeated. */
const maxSilentRepeats = 3;

const notMeasurable = NotRun.because(
  'inapplicable',
  'the server limits the rate of requests (HTTP 429), which distorts what the rule measures',
);

interface LeveledRule {
  readonly rule: LiveRule;
  readonly level: Level;
}

/**
 * Checks the live rules of one run by their `turn`. After a restart of the server it checks the unfinished ones, and at the end those again
 * whose verdict may have another cause.
 */
export class LiveRun {
  readonly life: LivenessTracker;
  /** The probe that ran the submission test. */
  rehearsalProbe: Probe | undefined;
  readonly #target: Target;
  readonly #signal: AbortSignal | undefined;
  readonly #probes: Probe[] = [];
  /** Failed rules of the turn `separate`, and others that failed for lack of an answer: load, or other sessions of this run, may be the cause. */
  readonly #doubted = new Set<LiveRule>();
  /** The problems of rules of which a request hung. */
  readonly #hangs = new Map<LiveRule, readonly Problem[]>();
  #opensFurtherSessions: Promise<boolean> | undefined;

  constructor(target: Target, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#signal = signal;
    this.#renew();
    this.life = new LivenessTracker(target, this.probe.ledger, signal);
  }

  async close(): Promise<void> {
    await Promise.all(this.#probes.map((probe) => probe.close()));
  }

  get probe(): Probe {
    return this.#probes.at(-1) as Probe;
  }

  /** Whether the first probe was replaced: a later one may get what that one did not. */
  get isRenewed(): boolean {
    return this.#probes.length > 1;
  }

  /** Forgets the facts about the server: after a restart its sessions are gone. */
  #renew(): void {
    this.#probes.at(-1)?.ledger.openedSessions.clear();
    this.#probes.push(new Probe(this.#target, this.#signal, undefined, this.#probes.at(-1)?.ledger));
  }

  /**
   * Checks all rules; the results are in the order of the rules. If sessions disturb each other, each rule that opens a session is checked
   * with no other session open. Rules that a dying server left without an answer are checked after its restart, one by one, to identify
   * the one that ends it: first those that had not begun.
   */
  async checkAll(
    leveledRules: readonly LeveledRule[],
    finish: (result: RuleResult) => RuleResult,
  ): Promise<readonly RuleResult[]> {
    const results = new Map<LiveRule, RuleResult>();
    const begun = new Set<LiveRule>();
    const checkRule = async (leveledRule: LeveledRule): Promise<void> => {
      const result = await this.#check(leveledRule, begun);
      if (result) results.set(leveledRule.rule, finish(result));
    };
    const rulesOfAnswers = leveledRules.filter(({ rule }) => rule !== staysUp);
    const rulesOfTurn = (name: LiveRule['turn']) => rulesOfAnswers.filter(({ rule }) => rule.turn === name);
    const checkAlone = async (leveledRule: LeveledRule): Promise<void> => {
      await this.#startAfresh();
      await checkRule(leveledRule);
    };
    const runTurns = async (): Promise<void> => {
      for (const { rule } of rulesOfAnswers) rule.begin?.(this.probe).catch(() => {}); // its check says why
      await mapConcurrently(rulesOfTurn(undefined), atOnce.together, checkRule);
      await mapConcurrently(rulesOfTurn('isolated'), 1, checkRule);
      const sessionsAreIndependent = rulesOfTurn('isolated').every(
        ({ rule }) => results.get(rule)?.status !== 'fail',
      );
      if (rulesOfTurn('isolated').length > 0) await this.#startAfresh();
      await mapConcurrently(
        rulesOfTurn('opening'),
        sessionsAreIndependent ? atOnce.together : 1,
        sessionsAreIndependent ? checkRule : checkAlone,
      );
      await mapConcurrently(
        [...rulesOfTurn('last'), ...rulesOfTurn('waiting')],
        1,
        sessionsAreIndependent ? checkRule : checkAlone,
      );
    };
    await Promise.all([mapConcurrently(rulesOfTurn('separate'), atOnce.separate, checkRule), runTurns()]);
    const unfinished = rulesOfAnswers.filter(({ rule }) => !results.has(rule));
    if (unfinished.length > 0 && (await this.life.restart())) {
      this.#renew();
      const suspects = unfinished.filter(({ rule }) => begun.has(rule));
      const otherRules = unfinished.filter(({ rule }) => !begun.has(rule));
      await mapConcurrently([...otherRules, ...suspects], 1, checkRule);
    }
    await this.#checkDoubted(rulesOfAnswers, results);
    await this.#checkBetweenPings(rulesOfAnswers, results);
    await this.#checkOneByOne(rulesOfAnswers, results);
    await this.#checkWhereUnsteady(rulesOfAnswers, results);
    for (const { rule, level } of rulesOfAnswers.filter(({ rule }) => !results.has(rule))) {
      const unansweredReason = NotRun.because('unanswered', this.life.reasonFor(rule.id));
      results.set(rule, finish(skippedRule(verdict(rule, level, [], nowMs()), unansweredReason)));
    }
    for (const { rule, level } of leveledRules.filter(({ rule }) => rule === staysUp)) {
      results.set(rule, finish(await this.#checkLife(level)));
    }
    return leveledRules.flatMap(({ rule }) => results.get(rule) ?? []);
  }

  /**
   * Checks doubted rules again, one by one and with no other session of this run, and replaces their verdicts. Their controls are not
   * repeated: they passed, and would open sessions. Nothing is repeated if the server never spoke, or is gone: then silence proves nothing.
   */
  async #checkDoubted(
    leveledRules: readonly LeveledRule[],
    results: Map<LiveRule, RuleResult>,
  ): Promise<void> {
    const isIsolatedDoubted = () => [...this.#doubted].some(({ turn }) => turn === 'isolated');
    const isToRepeat = ({ rule }: LeveledRule): boolean =>
      this.#doubted.has(rule) ||
      (rule.turn === 'isolated' && isIsolatedDoubted() && !isChecked(results.get(rule)));
    const doubted = leveledRules.filter(isToRepeat);
    for (const { rule } of this.life.isOver ? doubted : [])
      if (rule.turn !== 'separate') results.delete(rule);
    if (doubted.length === 0 || this.life.isOver || !this.probe.ledger.speaksJsonRpc) return;
    await this.#startAfresh();
    this.#probes.push(new Probe(this.#target, this.#signal, this.probe));
    let silences = 0;
    for (const leveledRule of doubted) {
      if (silences === maxSilentRepeats) return;
      if (!isChecked(results.get(leveledRule.rule)) && isIsolatedDoubted()) continue; // it depends on an isolated rule that failed again
      this.#doubted.delete(leveledRule.rule);
      await this.#checkAgain(leveledRule, results, leveledRule.rule.turn !== 'isolated');
      if (this.#doubted.has(leveledRule.rule) && leveledRule.rule.turn !== 'separate') silences += 1;
    }
  }

  /** Checks the rules again of which a request hung. They fail if one hangs again while a ping before and after it is answered. */
  async #checkBetweenPings(
    leveledRules: readonly LeveledRule[],
    results: Map<LiveRule, RuleResult>,
  ): Promise<void> {
    const hanging = leveledRules.filter(({ rule }) => this.#hangs.delete(rule));
    if (hanging.length === 0) return;
    this.#probes.push(new Probe(this.#target, this.#signal, this.probe));
    for (const leveledRule of hanging) {
      const { rule, level } = leveledRule;
      const { reason = '' } = results.get(rule) ?? {};
      const startedAt = nowMs();
      if (this.life.isOver || !(await this.#answersPing())) return;
      await this.#checkAgain(leveledRule, results, true);
      const problems = this.#hangs.get(rule);
      if (problems && (await this.#answersPing()))
        results.set(rule, { ...verdict(rule, level, problems, startedAt), again: reason });
    }
  }

  async #answersPing(): Promise<boolean> {
    const { http } = await this.probe.rpc('ping').catch(unanswered);
    return http.status > 0;
  }

  /**
   * If a tool mixes up its callers, checks each rule again whose problems all belong to a tool, or which was not run because of another rule
   * (`see`). They send one request at a time, so that parallel calls are not the cause of a failure that remains.
   */
  async #checkOneByOne(
    leveledRules: readonly LeveledRule[],
    results: Map<LiveRule, RuleResult>,
  ): Promise<void> {
    const isMixed = leveledRules.some(
      ({ rule }) => rule.id === ownAnswerId && results.get(rule)?.status === 'fail',
    );
    if (this.life.isOver || !isMixed) return;
    const doubtful = leveledRules.filter(({ rule }) => {
      const { id, status, see = [], problems = [] } = results.get(rule) ?? {};
      return id !== ownAnswerId && (status === 'fail' ? problems.every(({ tool }) => tool) : see.length > 0);
    });
    this.#probes.push(new Probe(this.#target, this.#signal, this.probe));
    this.probe.sendInTurn();
    for (const leveledRule of doubtful) await this.#checkAgain(leveledRule, results);
  }

  /** Checks the rules again whose failures were all intermittent. A rule that meets an intermittent failure again is not run, because of `answers.steady`. */
  async #checkWhereUnsteady(
    leveledRules: readonly LeveledRule[],
    results: Map<LiveRule, RuleResult>,
  ): Promise<void> {
    const isUnsteady = leveledRules.some(
      ({ rule }) => rule.id === steadyId && results.get(rule)?.status === 'fail',
    );
    if (this.life.isOver || !isUnsteady) return;
    const isExplained = (text: string): boolean => this.probe.ledger.causeOf(text) === steadyId;
    const affected = leveledRules.filter(({ rule }) => {
      const { id, status, cause, reason = '', problems = [] } = results.get(rule) ?? {};
      if (id === steadyId) return false;
      if (status === 'fail') return problems.every(({ actual }) => isExplained(actual));
      return cause === 'unanswered' && isExplained(reason);
    });
    for (const leveledRule of affected) await this.#checkAgain(leveledRule, results);
  }

  /** Checks a rule again with no other session of this run, and replaces its verdict if the second check has one. */
  async #checkAgain(
    leveledRule: LeveledRule,
    results: Map<LiveRule, RuleResult>,
    controlsPassed = false,
  ): Promise<void> {
    const { problems: [first] = [], reason = '' } = results.get(leveledRule.rule) ?? {};
    await this.#startAfresh();
    const second = await this.#check(leveledRule, new Set(), controlsPassed);
    if (second && isChecked(second))
      results.set(leveledRule.rule, { ...second, again: first?.actual ?? reason });
  }

  /** Ends the sessions of this run, unless the server opens no second one, or never spoke. */
  async #startAfresh(): Promise<void> {
    if (this.#target.era === 'modern' || !this.probe.ledger.speaksJsonRpc) return;
    this.#opensFurtherSessions ??= this.probe.initializedAgain().then(
      ({ http, result }) => result !== undefined && sessionOf(http) !== undefined,
      () => false,
    );
    if (await this.#opensFurtherSessions) await this.probe.startAfresh();
  }

  /** The verdict on a rule; undefined where the server is gone. */
  async #check(
    { rule, level }: LeveledRule,
    begun: Set<LiveRule>,
    controlsPassedBefore = false,
  ): Promise<RuleResult | undefined> {
    const probe = this.probe;
    const life = this.life;
    probe.signal?.throwIfAborted();
    if (life.isOver && rule.turn !== 'separate') return undefined;
    begun.add(rule);
    const startedAt = nowMs();
    const notes: string[] = [];
    const unrunCases = new Set<string>();
    const note: Note = (text, unrunCase) => {
      if (text !== undefined) notes.push(text);
      if (unrunCase !== undefined) unrunCases.add(unrunCase);
    };
    const verdictOn = (problems: readonly Problem[]) => {
      const isAdvice = rule.isAdvice?.(this.#target, problems) === true;
      return verdict(rule, isAdvice ? 'should' : level, problems, startedAt, notes, unrunCases);
    };
    const runsLast = rule.turn === 'last' || rule.turn === 'waiting';
    const isDistorted = () => rule.measures === true && probe.ledger.rateLimit.isReached;
    let controlsPassed = controlsPassedBefore;
    try {
      const problems = await life.during(rule.id, async () => {
        if (!controlsPassed) await control(rule, probe);
        controlsPassed = true;
        return rule.check(probe, note);
      });
      if (isDistorted()) throw notMeasurable;
      if (problems.some(({ actual }) => actual.includes('HTTP 429')))
        throw NotRun.because('unanswered', rateLimited);
      if (problems.length > 0 && runsLast) await life.isAnswering(rule.id);
      if (submissionRules.includes(rule)) this.rehearsalProbe = probe;
      if (problems.length > 0 && rule.turn === 'separate') this.#doubted.add(rule);
      return verdictOn(problems);
    } catch (thrown) {
      probe.signal?.throwIfAborted();
      const error = isDistorted() ? notMeasurable : thrown;
      const notRun = notRunReason(error);
      const isAlive = notRun.kind !== 'unanswered' || (await life.isAnswering(rule.id));
      const silenceIsFailure = controlsPassed && isViolation(rule, error);
      if (silenceIsFailure && rule.mustAnswer === 'in-time') {
        if (isAlive) this.#hangs.set(rule, silenceProblems(error));
      } else if (silenceIsFailure && (isAlive || runsLast)) {
        if (isAlive) this.#doubted.add(rule);
        return verdictOn(silenceProblems(error));
      }
      if (isAlive) return skippedRule(verdictOn([]), notRun);
      return undefined;
    }
  }

  async #checkLife(level: Level): Promise<RuleResult> {
    const startedAt = nowMs();
    const { outages } = this.life;
    if (outages.length === 0) await this.life.isAnswering(staysUp.id);
    if (outages.length === 0 && this.probe.isOverdue) {
      return skippedRule(verdict(staysUp, level, [], startedAt), overdue());
    }
    return verdict(staysUp, level, outageProblems(outages), startedAt);
  }
}

function isChecked(result: RuleResult | undefined): boolean {
  return result !== undefined && result.status !== 'not-run';
}
