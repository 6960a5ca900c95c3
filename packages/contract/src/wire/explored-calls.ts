import { setTimeout } from 'node:timers/promises';
import { groupBy, isObject, parseJsonText, present } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { nowMs } from './clock.ts';
import { mapConcurrently } from './concurrency.ts';
import { answeredCalls } from './controls.ts';
import { maxFurtherCalls, standardCalls, standardSeed } from './exploration.ts';
import {
  type ArgumentChange,
  applyChanges,
  type CallVariant,
  deriveVariants,
  type SimplerVariant,
  simplerVariants,
} from './generated-calls.ts';
import { NotRun, onlyWriting, unexplored } from './not-run.ts';
import type { CallOutcome, Probe, ProbeCall } from './probe.ts';
import { answerOfSilence, isUnsent, type RpcAnswer, resultText } from './rpc.ts';
import { allowsArguments, inputSchemaOf } from './tool-cases.ts';

/** Of the further calls, those that look for a smaller call. */
const shrinkingCalls = { usual: 4, live: 0 } as const;

/** Two calls a second. */
const livePauseMs = 500;
const maxParallelCalls = 4;
/**
 * Further tools are not asked, nor those whose calls have not begun after this time: a server may have a hundred slow ones. A note reports
 * that.
 */
export const maxExploredTools = 20;
export const maxExplorationMs = 15_000;

/** A generated call with its answer. */
export interface ExploredCall {
  readonly tool: JsonObject;
  readonly name: string;
  readonly variant: CallVariant;
  readonly base: JsonObject;
  /** Undefined: the call had no `arguments`. */
  readonly arguments: JsonObject | undefined;
  /** Whether the inputSchema allows the arguments. */
  readonly isValid: boolean;
  /** The ordinary call of the tool, which the variant changes. */
  readonly ordinary: CallOutcome;
  readonly rpc: RpcAnswer;
}

/** All generated calls, and what was left out, in words. */
export interface Exploration {
  readonly calls: readonly ExploredCall[];
  readonly notes: readonly string[];
}

/** Sends generated calls: it paces those of live APIs, and counts the further ones. */
export class Explorer {
  readonly isLive: boolean;
  readonly #probe: Probe;
  readonly #furtherCallCounts = new Map<string, number>();
  #nextAt = 0;

  private constructor(probe: Probe) {
    this.#probe = probe;
    this.isLive = probe.target.mayCallLiveApis === true;
  }

  static of(probe: Probe): Promise<Explorer> {
    return probe.once('explorer', async () => new Explorer(probe));
  }

  /** One call; an answer with the status 0 if none came. */
  async send(name: string, args: Json | undefined, options: ProbeCall = {}): Promise<RpcAnswer> {
    if (this.isLive) {
      const at = Math.max(nowMs(), this.#nextAt);
      this.#nextAt = at + livePauseMs;
      if (at > nowMs()) await setTimeout(at - nowMs());
    }
    return this.#probe.call(name, args, options).catch(answerOfSilence);
  }

  /** Counts a further call of a tool; false if it has had all. */
  mayCall(name: string, limit: number = maxFurtherCalls[this.isLive ? 'live' : 'usual']): boolean {
    const spentCalls = this.#furtherCallCounts.get(name) ?? 0;
    if (spentCalls >= limit) return false;
    this.#furtherCallCounts.set(name, spentCalls + 1);
    return true;
  }
}

/** The generated calls of all tools that may be called, made once in a run. @throws NotRun */
export function exploreTools(probe: Probe): Promise<Exploration> {
  return probe.once('explored', async () => {
    const { explore: limit = standardCalls, seed = standardSeed } = probe.target;
    if (limit === 0) throw NotRun.because('withheld', unexplored);
    const allCalls = await ordinaryCalls(probe);
    const ordinary = allCalls.slice(0, maxExploredTools);
    const answered = await answeredCalls(probe);
    if (ordinary.length === 0 && answered.some(({ name }) => probe.target.writing?.has(name)))
      throw NotRun.because('inapplicable', onlyWriting);
    const explorer = await Explorer.of(probe);
    const notes =
      allCalls.length > maxExploredTools
        ? [`asked for the first ${maxExploredTools} of ${allCalls.length} tools`]
        : [];
    const startMs = probe.nowWithoutWaits();
    const calls = await mapConcurrently(ordinary, explorer.isLive ? 1 : 2, async (call, at) => {
      if (probe.nowWithoutWaits() - startMs > maxExplorationMs) {
        notes.push(`not asked, because of the time: ${call.name}`);
        return [];
      }
      const { variants, of } = deriveVariants(inputSchemaOf(call.tool), call.arguments, {
        most: limit,
        seed: seed + at,
      });
      if (of > variants.length) notes.push(`${call.name}: ${variants.length} of ${of} generated calls`);
      const answers = await mapConcurrently(
        variants,
        explorer.isLive ? 1 : maxParallelCalls / 2,
        async (variant) =>
          probe.nowWithoutWaits() - startMs > maxExplorationMs
            ? undefined
            : sendVariant(explorer, call, variant),
      );
      const madeCalls = answers.flatMap((answer) => (answer && !isUnsent(answer.rpc.http) ? [answer] : []));
      const left = answers.length - madeCalls.length;
      if (left > 0) notes.push(`${call.name}: ${left} generated calls were not made, because of the time`);
      return madeCalls;
    });
    return { calls: calls.flat(), notes };
  });
}

/** For each tool that only reads, a call that works; else one that its inputSchema allows. */
async function ordinaryCalls(probe: Probe): Promise<readonly CallOutcome[]> {
  const knownAnswers = (await answeredCalls(probe)).filter(
    ({ tool, name, arguments: args, isInvalid }) =>
      !isInvalid && !probe.target.writing?.has(name) && admitsArguments(tool, args),
  );
  const byTool = new Map<string, CallOutcome>();
  for (const call of knownAnswers) {
    const earlier = byTool.get(call.name);
    if (!earlier || (!hasSucceeded(earlier) && hasSucceeded(call))) byTool.set(call.name, call);
  }
  return [...byTool.values()];
}

function hasSucceeded({ result }: CallOutcome): boolean {
  return result !== undefined && result.isError !== true;
}

function admitsArguments(tool: JsonObject, args: JsonObject): boolean {
  return allowsArguments(inputSchemaOf(tool), args);
}

async function sendVariant(
  explorer: Explorer,
  ordinary: CallOutcome,
  variant: CallVariant,
  base = ordinary.arguments,
): Promise<ExploredCall> {
  const { tool, name } = ordinary;
  const args = variant.omitsArguments ? undefined : applyChanges(base, variant.changes);
  const rpc = await explorer.send(name, args, { meta: variant.meta });
  return {
    tool,
    name,
    variant,
    base,
    arguments: args,
    isValid: admitsArguments(tool, args ?? {}),
    ordinary,
    rpc,
  };
}

/** Whether the ordinary call of the tool still gets a result: a server or a session that has ended answers no call. */
export async function stillWorks(probe: Probe, { name, ordinary }: ExploredCall): Promise<boolean> {
  const explorer = await Explorer.of(probe);
  if (!ordinary.result || !explorer.mayCall(name)) return true;
  return (await explorer.send(name, ordinary.arguments)).result !== undefined;
}

/** Whether a call that got no answer gets none when nothing else runs, either: a busy server is slow, not broken. */
export async function failsAgain(
  probe: Probe,
  call: ExploredCall,
  fails: (call: ExploredCall) => boolean,
): Promise<boolean> {
  const explorer = await Explorer.of(probe);
  if (call.rpc.http.status !== 0 || !explorer.mayCall(call.name)) return true;
  return fails(await sendVariant(explorer, call.ordinary, call.variant, call.base));
}

/** The smallest call found that fails in the same way, by the calls that the tool has left for this. */
export async function shrinkCall(
  probe: Probe,
  call: ExploredCall,
  fails: (call: ExploredCall) => boolean,
): Promise<ExploredCall> {
  const explorer = await Explorer.of(probe);
  const limit = shrinkingCalls[explorer.isLive ? 'live' : 'usual'];
  const from = ({ variant, base }: ExploredCall): readonly SimplerVariant[] =>
    simplerVariants(variant, base, inputSchemaOf(call.tool));
  let smallest = call;
  const open = [...from(call)];
  for (let next = open.shift(); next && explorer.mayCall(call.name, limit); next = open.shift()) {
    const tried = await sendVariant(explorer, call.ordinary, next.variant, next.base);
    if (!fails(tried)) continue;
    smallest = tried;
    open.splice(0, open.length, ...from(tried));
  }
  return smallest;
}

/** The name for the contents of a text that is no JSON object. */
export const textMember = 'text of the result';

/** The data of a result that is no failure: structuredContent, else the JSON of its text, else the text. */
export function foundData(result: JsonObject | undefined): JsonObject | undefined {
  if (!result || result.isError === true) return undefined;
  const { structuredContent, content } = result;
  const text = resultText(content);
  const data = structuredContent ?? parseJsonText(text ?? '')[0] ?? text;
  if (data === undefined || isObject(data)) return data;
  return { [textMember]: data };
}

/** A successful call with data. */
export interface FoundCall {
  readonly tool: JsonObject;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly data: JsonObject;
}

/** The successful calls of each tool that only reads, ordinary ones first. @throws NotRun if there is none */
export async function foundCalls(probe: Probe): Promise<readonly (readonly [FoundCall, ...FoundCall[]])[]> {
  const { calls } = await exploreTools(probe);
  const answered = (await answeredCalls(probe)).filter(({ name }) => !probe.target.writing?.has(name));
  const generated = calls.map((call) => ({
    ...call,
    arguments: call.arguments ?? {},
    result: call.rpc.result,
  }));
  const found = [
    ...answered.filter((call) => admitsArguments(call.tool, call.arguments)),
    ...generated.filter(({ isValid }) => isValid),
  ].flatMap(({ tool, name, arguments: args, result }): readonly FoundCall[] => {
    const data = foundData(result);
    if (data) return [{ tool, name, arguments: args, data }];
    return [];
  });
  if (found.length === 0) throw NotRun.because('inapplicable', onlyWriting);
  return [...groupBy(found, ({ name }) => name).values()];
}

/** A found call once more with one argument changed; undefined if it is not valid, not allowed or finds no data. */
export async function foundCallWith(
  probe: Probe,
  { tool, name, arguments: before }: FoundCall,
  change: ArgumentChange,
): Promise<FoundCall | undefined> {
  const args = applyChanges(before, [change]);
  const explorer = await Explorer.of(probe);
  if (!admitsArguments(tool, args) || !explorer.mayCall(name)) return undefined;
  const data = foundData((await explorer.send(name, args)).result);
  return data && { tool, name, arguments: args, data };
}

/** Data without the signals of an empty result. */
export function withoutSignals(data: JsonObject): JsonObject {
  return present<Json>({ ...data, searchExhausted: undefined, noResultsReason: undefined });
}
