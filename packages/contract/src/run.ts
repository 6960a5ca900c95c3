import { setTimeout } from 'node:timers/promises';
import { liveRules } from './catalogue.ts';
import type { Json } from './json/value.ts';
import type { Level, Problem, Report, RuleResult, RuleText } from './model.ts';
import { withCauses } from './report/causes.ts';
import { conclusionOf, identityOf, notRun, summaryOf, unjudged } from './report/summary.ts';
import { staysUp } from './rules/endpoint.ts';
import { inspectTools } from './rules/inspect.ts';
import { secondInstance, startsInstances } from './rules/instance.ts';
import { ownAnswer } from './rules/pairs.ts';
import { effectiveLevel, type LiveRule, runsUnnamed, verdict } from './rules/rule.ts';
import { submissionRules } from './rules/submission.ts';
import type { Target } from './target.ts';
import { now } from './wire/clock.ts';
import { mapConcurrently } from './wire/concurrency.ts';
import { control } from './wire/controls.ts';
import { isOfEra, judgedEra } from './wire/era.ts';
import { standardSeed } from './wire/exploration.ts';
import { overdue } from './wire/http.ts';
import { LivenessTracker, outageProblems } from './wire/life.ts';
import { NotRun } from './wire/not-run.ts';
import { Probe } from './wire/probe.ts';
import { reach } from './wire/reach.ts';
import { NoAnswer, NotSent, Unanswered } from './wire/receive.ts';
import { rehearse, verdictsOf } from './wire/rehearsal.ts';
import { sessionOf } from './wire/rpc.ts';

/** The number of parallel rules. Most rules wait for answers; each `separate` rule uses a processor. */
const atOnce = { together: 12, separate: 3 } as const;

/** Milliseconds for which rules that wait for something may begin alone: beside all others, their requests take ten times as long. */
const headStartMs = 100;

/** The number of second questions without an answer after which no further rule is asked again. */
const patience = 3;

export interface RunOptions {
  /** Called after each rule, with the number of finished rules and of all rules. */
  onRule?(result: RuleResult, done: number, total: number): void;
  /** Called with the elements of the tool list, once they are known. */
  onListed?(tools: readonly Json[]): void;
  /** Whether to run a rule; others do not appear in the report. By default, those that `runsUnnamed` names. */
  readonly selects?: ((rule: RuleText) => boolean) | undefined;
  /** Ends the run: `runContract` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs every rule that is on in the target's profile against a running server. A rule passes or fails on answers
 * alone: a rule without its preconditions or without answers is reported as not run, with the reason.
 * A server that we own is restarted once if it stops answering.
 *
 * @throws Unreachable
 */
export async function runContract(target: Target, options: RunOptions = {}): Promise<Report> {
  const run = new Run(target, options);
  try {
    return await run.report();
  } finally {
    await run.close();
  }
}

interface LeveledRule {
  readonly rule: LiveRule;
  readonly level: Level;
}

class Run {
  readonly #target: Target;
  readonly #options: RunOptions;
  readonly #life: LivenessTracker;
  readonly #probes: Probe[] = [];
  /** The probe that ran the submission test. */
  #rehearsed: Probe | undefined;
  /** Rules that failed by silence or separately: load, or other sessions of this run, may have caused it. */
  readonly #doubted = new Set<LiveRule>();
  #isRenewable: Promise<boolean> | undefined;

  constructor(target: Target, options: RunOptions) {
    this.#target = target;
    this.#options = options;
    this.#renew();
    this.#life = new LivenessTracker(target, this.#probe.ledger, options.signal);
  }

  async report(): Promise<Report> {
    const { signal } = this.#options;
    const era = judgedEra(this.#target.era, this.#target.profile);
    const { selects: isSelected = runsUnnamed } = this.#options;
    const selects = (rule: RuleText) => isOfEra(rule, era) && isSelected(rule);
    const started = now();
    await reach(this.#probe);
    const leveled = liveRules.filter(selects).flatMap((rule) => {
      const own = rule.levelOf?.(this.#target) ?? rule.level;
      const level = effectiveLevel({ ...rule, level: own }, this.#target.profile);
      return level === 'off' ? [] : [{ rule, level }];
    });
    // It takes as long to start as the first requests to be answered.
    if (leveled.some(({ rule }) => rule.controls?.includes(startsInstances))) {
      secondInstance(this.#probe).catch(() => {}); // whoever needs it says why
    }
    let fromDefinitions = (await this.#inspect()).filter(selects);
    const total = fromDefinitions.length + leveled.length;
    let done = 0;
    const finish = (result: RuleResult): RuleResult => {
      done += 1;
      this.#options.onRule?.(result, done, total);
      return result;
    };
    const hasList = !fromDefinitions.some(({ cause }) => cause === 'unanswered');
    if (hasList) fromDefinitions.forEach(finish);
    const fromAnswers = await this.#judgeAll(leveled, finish);
    if (!hasList) {
      if (this.#isRestarted && !this.#life.isOver) fromDefinitions = (await this.#inspect()).filter(selects);
      fromDefinitions.forEach(finish);
    }
    signal?.throwIfAborted();
    const { ledger } = this.#probe;
    const rules = withCauses([...fromDefinitions, ...fromAnswers], (actual) => ledger.causeOf(actual));
    const rehearsal = this.#rehearsed && (await rehearse(this.#rehearsed).then(verdictsOf, () => undefined));
    const summary = summaryOf(rules, now() - started);
    return {
      ok: conclusionOf({ ok: summary.failed === 0, summary }) === 'ok',
      target: this.#target.url,
      ...identityOf(rules),
      platform: this.#target.profile.name,
      ...(this.#target.runtime && { runtime: this.#target.runtime.version }),
      era,
      seed: this.#target.seed ?? standardSeed,
      rules,
      ...(rehearsal && { rehearsal }),
      summary,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#probes.map((probe) => probe.close()));
  }

  get #probe(): Probe {
    return this.#probes.at(-1) as Probe;
  }

  /** Forgets the facts about the server: after a restart its sessions are gone. */
  #renew(): void {
    this.#probes.push(new Probe(this.#target, this.#options.signal, undefined, this.#probes.at(-1)?.ledger));
  }

  get #isRestarted(): boolean {
    return this.#probes.length > 1;
  }

  /** The static rules. */
  async #inspect(): Promise<readonly RuleResult[]> {
    const { profile, methods } = this.#target;
    try {
      const listed = await this.#probe.listed();
      this.#options.onListed?.(listed);
      return inspectTools(listed, profile, [], methods);
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      const why = unjudged(error);
      if (why.kind === 'unanswered') await this.#life.isAnswering('');
      return inspectTools([], profile).map((result) => notRun(result, why));
    }
  }

  /**
   * Judges all rules; the results are in the order of the rules. If sessions disturb each other, the rules that open some
   * are judged one by one, each in the only session. Rules that a dying server left without an answer are judged after its
   * restart, one by one, to identify the one that ends it: first those that had not begun.
   */
  async #judgeAll(
    all: readonly LeveledRule[],
    finish: (result: RuleResult) => RuleResult,
  ): Promise<readonly RuleResult[]> {
    const results = new Map<LiveRule, RuleResult>();
    const begun = new Set<LiveRule>();
    const judge = async (one: LeveledRule): Promise<void> => {
      const result = await this.#judge(one, begun);
      if (result) results.set(one.rule, finish(result));
    };
    const leveled = all.filter(({ rule }) => rule !== staysUp);
    const inTurn = (name: LiveRule['turn']) => leveled.filter(({ rule }) => rule.turn === name);
    const alone = async (one: LeveledRule): Promise<void> => {
      await this.#startAfresh();
      await judge(one);
    };
    const inOrder = async (): Promise<void> => {
      const begun = leveled.map(({ rule }) => rule.begin?.(this.#probe).catch(() => {})); // its check says why
      await Promise.race([Promise.all(begun), setTimeout(headStartMs, undefined, { ref: false })]);
      await mapConcurrently(inTurn(undefined), atOnce.together, judge);
      await mapConcurrently(inTurn('isolated'), 1, judge);
      const areIsolated = inTurn('isolated').every(({ rule }) => results.get(rule)?.status !== 'fail');
      if (inTurn('isolated').length > 0) await this.#startAfresh();
      await mapConcurrently(
        inTurn('opening'),
        areIsolated ? atOnce.together : 1,
        areIsolated ? judge : alone,
      );
      await mapConcurrently(inTurn('last'), 1, areIsolated ? judge : alone);
    };
    await Promise.all([mapConcurrently(inTurn('separate'), atOnce.separate, judge), inOrder()]);
    const open = leveled.filter(({ rule }) => !results.has(rule));
    if (open.length > 0 && (await this.#life.restart())) {
      this.#renew();
      const suspects = open.filter(({ rule }) => begun.has(rule));
      const others = open.filter(({ rule }) => !begun.has(rule));
      await mapConcurrently([...others, ...suspects], 1, judge);
    }
    await this.#askAgain(leveled, results);
    await this.#askInTurn(leveled, results);
    for (const { rule, level } of leveled.filter(({ rule }) => !results.has(rule))) {
      const why = NotRun.because('unanswered', this.#life.reasonFor(rule.id));
      results.set(rule, finish(notRun(verdict(rule, level, [], now()), why)));
    }
    for (const { rule, level } of all.filter(({ rule }) => rule === staysUp)) {
      results.set(rule, finish(await this.#judgeLife(level)));
    }
    return all.flatMap(({ rule }) => results.get(rule) ?? []);
  }

  /**
   * Asks doubted rules again, one by one and without any other session of this run, and replaces their verdicts. Their
   * controls worked before, and would open sessions. A server that never spoke is not asked again; if it is gone, silence proves nothing.
   */
  async #askAgain(all: readonly LeveledRule[], results: Map<LiveRule, RuleResult>): Promise<void> {
    const isIsolatedDoubted = () => [...this.#doubted].some(({ turn }) => turn === 'isolated');
    const isAsked = ({ rule }: LeveledRule): boolean =>
      this.#doubted.has(rule) ||
      (rule.turn === 'isolated' && isIsolatedDoubted() && !isJudged(results.get(rule)));
    const doubted = all.filter(isAsked);
    for (const { rule } of this.#life.isOver ? doubted : [])
      if (rule.turn !== 'separate') results.delete(rule);
    if (doubted.length === 0 || this.#life.isOver || !this.#probe.ledger.speaksJsonRpc) return;
    await this.#startAfresh();
    this.#probes.push(new Probe(this.#target, this.#options.signal, this.#probe));
    let silences = 0;
    for (const one of doubted) {
      if (silences === patience) return;
      const first = results.get(one.rule);
      if (!isJudged(first) && isIsolatedDoubted()) continue; // it needs what has failed again
      this.#doubted.delete(one.rule);
      await this.#startAfresh();
      const second = await this.#judge(one, new Set(), one.rule.turn !== 'isolated');
      if (this.#doubted.has(one.rule) && one.rule.turn !== 'separate') silences += 1;
      if (second && isJudged(second))
        results.set(one.rule, { ...second, again: first?.problems[0]?.actual ?? first?.reason ?? '' });
    }
  }

  /**
   * If a tool mixes up its callers, asks the rules again that failed by calls: one request at a time, so that what remains is their own
   * finding, whichever calls met before.
   */
  async #askInTurn(all: readonly LeveledRule[], results: Map<LiveRule, RuleResult>): Promise<void> {
    const failed = all.filter(({ rule }) => results.get(rule)?.status === 'fail');
    const doubted = failed.filter(
      ({ rule }) => rule.id !== ownAnswer && results.get(rule)?.problems.every(({ tool }) => tool),
    );
    if (this.#life.isOver || !failed.some(({ rule }) => rule.id === ownAnswer)) return;
    this.#probes.push(new Probe(this.#target, this.#options.signal, this.#probe));
    this.#probe.sendInTurn();
    for (const one of doubted) {
      await this.#startAfresh();
      const second = await this.#judge(one, new Set());
      const again = results.get(one.rule)?.problems[0]?.actual ?? '';
      if (second && isJudged(second)) results.set(one.rule, { ...second, again });
    }
  }

  /** Ends the sessions of this run, unless the server opens no second one, or never spoke. */
  async #startAfresh(): Promise<void> {
    if (this.#target.era === 'modern' || !this.#probe.ledger.speaksJsonRpc) return;
    this.#isRenewable ??= this.#probe.initializedAgain().then(
      ({ http, result }) => result !== undefined && sessionOf(http) !== undefined,
      () => false,
    );
    if (await this.#isRenewable) await this.#probe.startAfresh();
  }

  /** The verdict on a rule; undefined where the server is gone. */
  async #judge(
    { rule, level }: LeveledRule,
    begun: Set<LiveRule>,
    isControlledBefore = false,
  ): Promise<RuleResult | undefined> {
    const probe = this.#probe;
    const life = this.#life;
    probe.signal?.throwIfAborted();
    if (life.isOver && rule.turn !== 'separate') return undefined;
    begun.add(rule);
    const started = now();
    const notes: string[] = [];
    const judged = (problems: readonly Problem[]) => verdict(rule, level, problems, started, notes);
    let isControlled = isControlledBefore;
    try {
      const problems = await life.during(rule.id, async () => {
        if (!isControlled) await control(rule, probe);
        isControlled = true;
        return rule.check(probe, (text) => notes.push(text));
      });
      if (problems.length > 0 && rule.turn === 'last') await life.isAnswering(rule.id);
      if (submissionRules.includes(rule)) this.#rehearsed = probe;
      if (problems.length > 0 && rule.turn === 'separate') this.#doubted.add(rule);
      return judged(problems);
    } catch (error) {
      probe.signal?.throwIfAborted();
      const why = unjudged(error);
      const isAlive = why.kind !== 'unanswered' || (await life.isAnswering(rule.id));
      const isBroken =
        rule.mustAnswer === true && isControlled && error instanceof NoAnswer && !(error instanceof NotSent);
      if (isBroken && (isAlive || rule.turn === 'last')) {
        if (isAlive) this.#doubted.add(rule);
        return judged(
          error instanceof Unanswered ? error.problems : [{ expected: 'an answer', actual: error.message }],
        );
      }
      return isAlive ? notRun(judged([]), why) : undefined;
    }
  }

  async #judgeLife(level: Level): Promise<RuleResult> {
    const started = now();
    const { outages } = this.#life;
    if (outages.length === 0) await this.#life.isAnswering(staysUp.id);
    if (outages.length === 0 && this.#probe.isOverdue) {
      return notRun(verdict(staysUp, level, [], started), overdue());
    }
    return verdict(staysUp, level, outageProblems(outages), started);
  }
}

function isJudged(result: RuleResult | undefined): boolean {
  return result !== undefined && result.status !== 'not-run';
}
