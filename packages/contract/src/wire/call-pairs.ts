import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import { Explorer, type Found, foundCalls, foundData, mostTools, patienceMs } from './explored-calls.ts';
import { furtherInventedCalls, secondSession } from './invented-calls.ts';
import { NotRun } from './not-run.ts';
import type { Probe } from './probe.ts';
import { NoAnswer } from './receive.ts';

/** An answer to one of the two calls of a pair, in the order of the calls. */
export interface Heard {
  readonly of: 'one' | 'other';
  /** Whether it was sent while others were running, and whether in the second session. */
  readonly isBeside: boolean;
  readonly inSecond: boolean;
  readonly data: JsonObject;
}

/** The answers of two calls of one tool: one after the other, beside each other, and in two sessions. */
export interface Pair {
  readonly one: Found;
  /** Absent if every call found the same. */
  readonly other?: Found;
  readonly heard: readonly Heard[];
  /**
   * Calls that were sent one after the other: the first ones, the last ones, and some more a moment later, if the last ones
   * were slower than all of the first.
   */
  readonly early: readonly Timed[];
  readonly late: readonly Timed[];
  readonly later: readonly Timed[];
}

/** Milliseconds of a call, and of a ping right after it: the load of a machine slows both. */
export interface Timed {
  readonly callMs: number;
  readonly pingMs: number;
}

const rounds = 2;
const mostTried = 3;
const inSeries = { early: 4, late: 3 } as const;
const momentMs = 150;

/** The pairs of the tools that find something, asked for once in a run, one tool at a time, and what was left out. */
export function callPairs(
  probe: Probe,
): Promise<{ readonly pairs: readonly Pair[]; readonly notes: readonly string[] }> {
  return probe.once('pairs', async () => {
    const found = await foundCalls(probe);
    const sessions = [await probe.session(), await secondSession(probe)] as const;
    // Before the pairs, whose answers may repeat what the server keeps of these calls.
    await furtherInventedCalls(probe).catch((error: unknown) => {
      if (!(error instanceof NotRun || error instanceof NoAnswer)) throw error;
    });
    const startMs = probe.answerClock();
    const pairs: Pair[] = [];
    for (const [call, ...otherCalls] of found.slice(0, mostTools)) {
      if (probe.answerClock() - startMs > patienceMs) break;
      const otherArguments = otherCalls.filter(
        ({ arguments: args }) => !isDeepStrictEqual(args, call.arguments),
      );
      const differing = otherArguments.filter(({ data }) => !isDeepStrictEqual(data, call.data));
      const best = differing.find(({ data }) => data.searchExhausted !== true);
      const candidates = new Set([...(best ? [best] : []), ...differing, ...otherArguments]);
      pairs.push(await compared(probe, sessions, call, [...candidates]));
    }
    const notes =
      pairs.length < found.length ? [`compared for ${pairs.length} of ${found.length} tools`] : [];
    return { pairs, notes };
  });
}

/** What a call and those that may find something else answer: one after the other, beside each other, and in two sessions. */
async function compared(
  probe: Probe,
  sessions: readonly [string | undefined, string | undefined],
  foundCall: Found,
  candidates: readonly Found[],
): Promise<Pair> {
  const explorer = await Explorer.of(probe);
  const { isLive } = explorer;
  const heard: Heard[] = [];

  /** Milliseconds; undefined if the call was not made or found nothing. */
  const ask = async (of: Heard['of'], call?: Found, second?: number): Promise<number | undefined> => {
    if (!call || !explorer.mayCall(call.name)) return undefined;
    const session = sessions[second ?? 0] ?? sessions[0];
    const { result, http } = await explorer.send(call.name, call.arguments, { session });
    const data = foundData(result);
    if (data) heard.push({ of, isBeside: second !== undefined, inSecond: second === 1, data });
    return data && http.ms;
  };

  const timed = async (times: number, pauseMs = 0): Promise<readonly Timed[]> => {
    const timedCalls: Timed[] = [];
    for (let count = 0; count < times; count++) {
      if (pauseMs > 0) await setTimeout(pauseMs);
      const callMs = await ask('one', foundCall);
      if (isLive) continue;
      const pingMs = (await probe.rpc('ping')).http.ms;
      if (callMs !== undefined) timedCalls.push({ callMs, pingMs });
    }
    return timedCalls;
  };

  /**
   * The first of some calls that, while no other runs, has another value than the first call where both have one; else the first
   * that finds something else. What the calls found before may belong to others that ran beside them.
   */
  const chooseOther = async (): Promise<Found | undefined> => {
    if (isLive) return candidates.find(({ data }) => !isDeepStrictEqual(data, foundCall.data));
    const [first] = heard;
    if (!first) return undefined;
    const ownLeaves = leavesOf(first.data);
    let second: { readonly call: Found; readonly heard: Heard } | undefined;
    for (const call of candidates.slice(0, mostTried)) {
      const before = heard.length;
      await ask('other', call);
      const answer = heard[before];
      const differs = ([path, value]: readonly [string, Json]) =>
        ownLeaves.has(path) && ownLeaves.get(path) !== value;
      if (answer && [...leavesOf(answer.data)].some(differs)) return call;
      heard.length = before;
      if (answer && !isDeepStrictEqual(answer.data, first.data)) second ??= { call, heard: answer };
    }
    if (second) heard.push(second.heard);
    return second?.call;
  };

  const early = await timed(isLive ? 1 : inSeries.early);
  const otherCall = await chooseOther();
  for (let round = 0; round < (isLive ? 1 : rounds); round++) {
    const sides = otherCall ? (['one', 'other'] as const) : (['one', 'one'] as const);
    const order = [0, 1].flatMap((second) => sides.map((of, at) => ({ of, second: second === at ? 1 : 0 })));
    await Promise.all(
      (isLive ? order.slice(0, 2) : order).map(({ of, second }) =>
        ask(of, of === 'one' ? foundCall : otherCall, second),
      ),
    );
  }
  await ask('other', otherCall);
  const lateTimes = await timed(isLive ? 0 : inSeries.late);
  const later = areSlower(lateTimes, early) ? await timed(inSeries.late, momentMs) : [];
  return { one: foundCall, ...(otherCall && { other: otherCall }), heard, early, late: lateTimes, later };
}

/** Less growth is no burden. */
const leastGrowthMs = 20;

/** Whether each of these calls took longer than each of those before, by more than the pings did. */
export function areSlower(lateTimes: readonly Timed[], early: readonly Timed[]): boolean {
  if (lateTimes.length < inSeries.late || early.length < inSeries.early) return false;
  const growth =
    Math.min(...lateTimes.map(({ callMs }) => callMs)) - Math.max(...early.map(({ callMs }) => callMs));
  return growth >= leastGrowthMs && median(lateTimes) - median(early) < growth / 2;
}

/** Of the pings. */
function median(timed: readonly Timed[]): number {
  return timed.map(({ pingMs }) => pingMs).toSorted((left, right) => left - right)[timed.length >> 1] ?? 0;
}

/** The values inside of data, by their path. */
export type Leaves = ReadonlyMap<string, Json>;

/** More would show nothing more. */
const mostLeaves = 500;

export function leavesOf(data: JsonObject): Leaves {
  const leaves = new Map<string, Json>();
  for (const [path, leaf] of leavesIn(data)) {
    if (leaves.size === mostLeaves) break;
    leaves.set(path, leaf);
  }
  return leaves;
}

/** The values that all of these answers have in common. */
export function commonLeaves(answers: readonly JsonObject[]): Leaves {
  const [first = new Map<string, Json>(), ...otherLeaves] = answers.map(leavesOf);
  return new Map(
    [...first].filter(([path, value]) => otherLeaves.every((leaves) => leaves.get(path) === value)),
  );
}
