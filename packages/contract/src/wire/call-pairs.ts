import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import {
  Explorer,
  type FoundCall,
  foundCalls,
  foundData,
  maxExplorationMs,
  maxExploredTools,
} from './explored-calls.ts';
import { furtherInventedCalls, secondSession } from './invented-calls.ts';
import { NotRun } from './not-run.ts';
import type { Probe } from './probe.ts';
import { NoAnswer } from './receive.ts';

/** An answer to one of the two calls of a pair. */
export interface PairAnswer {
  readonly call: 'first' | 'second';
  /** Whether other calls ran at the same time. */
  readonly isParallel: boolean;
  readonly isInSecondSession: boolean;
  readonly data: JsonObject;
}

/** Two calls of one tool with their answers, in series, in parallel, and in two sessions. */
export interface CallPair {
  readonly first: FoundCall;
  /** Absent if every call found the same. */
  readonly second?: FoundCall | undefined;
  /** In the order of the calls. */
  readonly answers: readonly PairAnswer[];
  /** The first call in series, before the parallel calls. */
  readonly earlyTimes: readonly TimedCall[];
  /** The first call in series, after the parallel calls. */
  readonly lateTimes: readonly TimedCall[];
  /** A further series after a pause; empty unless the late calls were slower than the early ones. */
  readonly timesAfterPause: readonly TimedCall[];
}

/** Milliseconds of a call, and of a ping right after it: the load of a machine slows both. */
export interface TimedCall {
  readonly callMs: number;
  readonly pingMs: number;
}

/** The pairs of all tools, and notes about tools that were not compared. */
interface CallPairs {
  readonly pairs: readonly CallPair[];
  readonly notes: readonly string[];
}

/** The first and the second session; a server may have none. */
type TwoSessions = readonly [string | undefined, string | undefined];

const parallelRounds = 2;
const maxCandidates = 3;
const seriesLength = { early: 4, late: 3 } as const;
const laterPauseMs = 150;

/** A pair for each tool that returns data, made once for a probe, one tool at a time. */
export function callPairs(probe: Probe): Promise<CallPairs> {
  return probe.once('pairs', async () => {
    const foundByTool = await foundCalls(probe);
    const sessions = [await probe.session(), await secondSession(probe)] as const;
    // The server may repeat the texts of these calls in the answers of the pairs.
    await furtherInventedCalls(probe).catch((error: unknown) => {
      if (!(error instanceof NotRun || error instanceof NoAnswer)) throw error;
    });
    const startMs = probe.nowWithoutWaits();
    const pairs: CallPair[] = [];
    for (const [first, ...otherCalls] of foundByTool.slice(0, maxExploredTools)) {
      if (probe.nowWithoutWaits() - startMs > maxExplorationMs) break;
      const comparison = await PairComparison.of(probe, sessions, first);
      pairs.push(await comparison.run(secondCallCandidates(first, otherCalls)));
    }
    if (pairs.length === foundByTool.length) return { pairs, notes: [] };
    return { pairs, notes: [`compared for ${pairs.length} of ${foundByTool.length} tools`] };
  });
}

/** The calls with other arguments, in the order in which they are tried as second call: first one that found other data. */
function secondCallCandidates(first: FoundCall, otherCalls: readonly FoundCall[]): readonly FoundCall[] {
  const candidates = otherCalls.filter(({ arguments: args }) => !isDeepStrictEqual(args, first.arguments));
  const differing = candidates.filter(({ data }) => !isDeepStrictEqual(data, first.data));
  const best = differing.filter(({ data }) => data.searchExhausted !== true).slice(0, 1);
  return [...new Set([...best, ...differing, ...candidates])];
}

/** Sends the calls of one pair. */
class PairComparison {
  readonly #probe: Probe;
  readonly #explorer: Explorer;
  readonly #sessions: TwoSessions;
  readonly #first: FoundCall;
  #second: FoundCall | undefined;
  readonly #answers: PairAnswer[] = [];

  private constructor(probe: Probe, explorer: Explorer, sessions: TwoSessions, first: FoundCall) {
    this.#probe = probe;
    this.#explorer = explorer;
    this.#sessions = sessions;
    this.#first = first;
  }

  static async of(probe: Probe, sessions: TwoSessions, first: FoundCall): Promise<PairComparison> {
    return new PairComparison(probe, await Explorer.of(probe), sessions, first);
  }

  /** Sends a few calls to tools that may call live APIs, and more to others. */
  async run(candidates: readonly FoundCall[]): Promise<CallPair> {
    const { isLive } = this.#explorer;
    const earlyTimes = await this.#sendSeries(isLive ? 1 : seriesLength.early);
    this.#second = isLive ? this.#differingCall(candidates) : await this.#chooseSecond(candidates);
    for (let round = 0; round < (isLive ? 1 : parallelRounds); round++) await this.#sendInParallel();
    if (this.#second) await this.#send('second', this.#second);
    const lateTimes = await this.#sendSeries(isLive ? 0 : seriesLength.late);
    let timesAfterPause: readonly TimedCall[] = [];
    if (areSlower(lateTimes, earlyTimes))
      timesAfterPause = await this.#sendSeries(seriesLength.late, laterPauseMs);
    return {
      first: this.#first,
      second: this.#second,
      answers: this.#answers,
      earlyTimes,
      lateTimes,
      timesAfterPause,
    };
  }

  /** Sends the first call several times, each after the previous answer. */
  async #sendSeries(count: number, pauseMs = 0): Promise<readonly TimedCall[]> {
    const timedCalls: TimedCall[] = [];
    for (let round = 0; round < count; round++) {
      if (pauseMs > 0) await setTimeout(pauseMs);
      const callMs = await this.#send('first', this.#first);
      if (this.#explorer.isLive) continue;
      const pingMs = (await this.#probe.rpc('ping')).http.ms;
      if (callMs !== undefined) timedCalls.push({ callMs, pingMs });
    }
    return timedCalls;
  }

  /** Sends both calls at the same time, each in both sessions. */
  async #sendInParallel(): Promise<void> {
    const first = this.#first;
    const [partnerSide, partner] = this.#second
      ? (['second', this.#second] as const)
      : (['first', first] as const);
    const acrossSessions = [this.#send('first', first, 1), this.#send(partnerSide, partner, 0)];
    const swapped = () => [this.#send('first', first, 0), this.#send(partnerSide, partner, 1)];
    await Promise.all(this.#explorer.isLive ? acrossSessions : [...acrossSessions, ...swapped()]);
  }

  /** The first candidate that found other data than the first call. */
  #differingCall(candidates: readonly FoundCall[]): FoundCall | undefined {
    return candidates.find(({ data }) => !isDeepStrictEqual(data, this.#first.data));
  }

  /**
   * Sends the candidates while no other call runs, because earlier data may belong to parallel calls. Returns the first candidate that
   * has another value than the first call where both have one, else the first one with other data.
   */
  async #chooseSecond(candidates: readonly FoundCall[]): Promise<FoundCall | undefined> {
    const [firstAnswer] = this.#answers;
    if (!firstAnswer) return undefined;
    const firstLeaves = leavesOf(firstAnswer.data);
    const differs = ([path, value]: readonly [string, Json]) =>
      firstLeaves.has(path) && firstLeaves.get(path) !== value;
    let fallback: { readonly call: FoundCall; readonly answer: PairAnswer } | undefined;
    for (const call of candidates.slice(0, maxCandidates)) {
      const answerCount = this.#answers.length;
      await this.#send('second', call);
      const answer = this.#answers[answerCount];
      if (answer && [...leavesOf(answer.data)].some(differs)) return call;
      this.#answers.length = answerCount;
      if (answer && !isDeepStrictEqual(answer.data, firstAnswer.data)) fallback ??= { call, answer };
    }
    if (!fallback) return undefined;
    this.#answers.push(fallback.answer);
    return fallback.call;
  }

  /**
   * Sends a call and records its data.
   *
   * @param parallelSession the session of a parallel call; absent for a call in series
   * @returns its duration in milliseconds; undefined if the limit of calls is reached or the call found nothing
   */
  async #send(
    side: PairAnswer['call'],
    call: FoundCall,
    parallelSession?: 0 | 1,
  ): Promise<number | undefined> {
    if (!this.#explorer.mayCall(call.name)) return undefined;
    const session = this.#sessions[parallelSession ?? 0] ?? this.#sessions[0];
    const { result, http } = await this.#explorer.send(call.name, call.arguments, { session });
    const data = foundData(result);
    if (!data) return undefined;
    const isParallel = parallelSession !== undefined;
    this.#answers.push({ call: side, isParallel, isInSecondSession: parallelSession === 1, data });
    return http.ms;
  }
}

/** A smaller growth does not fail a rule. */
const minGrowthMs = 20;
/** A shorter ping counts as one of this duration, because its growth is mostly jitter. */
const minPingMs = 1;

/** Whether each late call took longer than each early call, and load, which slows the pings too, explains less than half of it. */
export function areSlower(lateTimes: readonly TimedCall[], earlyTimes: readonly TimedCall[]): boolean {
  if (lateTimes.length < seriesLength.late || earlyTimes.length < seriesLength.early) return false;
  const slowestEarlyMs = Math.max(...earlyTimes.map(({ callMs }) => callMs));
  const growthMs = Math.min(...lateTimes.map(({ callMs }) => callMs)) - slowestEarlyMs;
  if (growthMs < minGrowthMs) return false;
  const earlyPingMs = medianPingMs(earlyTimes);
  const pingGrowthMs = medianPingMs(lateTimes) - earlyPingMs;
  // A busy machine may slow each request by the same time, or by the same factor.
  const growthByFactorMs = (slowestEarlyMs * pingGrowthMs) / Math.max(earlyPingMs, minPingMs);
  return Math.max(pingGrowthMs, growthByFactorMs) < growthMs / 2;
}

function medianPingMs(times: readonly TimedCall[]): number {
  return times.map(({ pingMs }) => pingMs).toSorted((left, right) => left - right)[times.length >> 1] ?? 0;
}

/** The values in the data of an answer, by their path. */
export type Leaves = ReadonlyMap<string, Json>;

/** The maximum number of compared values. */
const maxLeaves = 500;

export function leavesOf(data: JsonObject): Leaves {
  const leaves = new Map<string, Json>();
  for (const [path, leaf] of leavesIn(data)) {
    if (leaves.size === maxLeaves) break;
    leaves.set(path, leaf);
  }
  return leaves;
}

/** The values that are equal in all answers. */
export function commonLeaves(answers: readonly JsonObject[]): Leaves {
  const [first = new Map<string, Json>(), ...otherLeaves] = answers.map(leavesOf);
  return new Map(
    [...first].filter(([path, value]) => otherLeaves.every((leaves) => leaves.get(path) === value)),
  );
}
