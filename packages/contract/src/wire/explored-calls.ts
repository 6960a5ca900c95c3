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
import { isUnsent, type RpcAnswer, resultText, silentAnswerOrThrow } from './rpc.ts';
import { allowsArguments, inputSchemaOf } from './tool-cases.ts';

/** The part of the further calls that may look for a smaller failing call. */
const shrinkingCalls = { usual: 4, live: 0 } as const;

/** Milliseconds between two calls of tools that may call live APIs. */
const livePauseMs = 500;
/** Tools that are explored at the same time, and calls of each at the same time. */
const maxParallelTools = 2;
const maxParallelCalls = 2;
/** The maximum number of tools, and the milliseconds after which no call is started: a server may have a hundred slow tools. A note reports skipped tools. */
export const maxExploredTools = 20;
export const maxExplorationMs = 15_000;

/** A generated call with its answer. */
export interface ExploredCall {
  readonly tool: JsonObject;
  readonly name: string;
  readonly variant: CallVariant;
  readonly base: JsonObject;
  /** Undefined if the call had no member `arguments`. */
  readonly arguments: JsonObject | undefined;
  /** Whether the inputSchema allows the arguments. */
  readonly isValid: boolean;
  /** The ordinary call of the tool, which the variant changes. */
  readonly ordinary: CallOutcome;
  readonly rpc: RpcAnswer;
}

/** Generated calls, and notes about the calls that were not made. */
export interface Exploration {
  readonly calls: readonly ExploredCall[];
  readonly notes: readonly string[];
}

/** Sends generated calls. It delays the calls of tools that may call live APIs, and counts the further calls of each tool. */
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

  /** Sends a call. The answer has the status 0 if the server does not answer. */
  async send(name: string, args: Json | undefined, options: ProbeCall = {}): Promise<RpcAnswer> {
    if (this.isLive) {
      const at = Math.max(nowMs(), this.#nextAt);
      this.#nextAt = at + livePauseMs;
      if (at > nowMs()) await setTimeout(at - nowMs());
    }
    return this.#probe.call(name, args, options).catch(silentAnswerOrThrow);
  }

  /** Counts a further call of a tool. Returns false, and counts nothing, if the limit is reached. */
  mayCall(name: string, limit: number = maxFurtherCalls[this.isLive ? 'live' : 'usual']): boolean {
    const spentCalls = this.#furtherCallCounts.get(name) ?? 0;
    if (spentCalls >= limit) return false;
    this.#furtherCallCounts.set(name, spentCalls + 1);
    return true;
  }
}

/** The generated calls of all tools that may be called, made once for a probe. @throws NotRun */
export function exploreTools(probe: Probe): Promise<Exploration> {
  return probe.once('explored', async () => {
    const { explore: limit = standardCalls, seed = standardSeed } = probe.target;
    if (limit === 0) throw NotRun.because('withheld', unexplored);
    const callOfTools = await ordinaryCalls(probe);
    const answered = await answeredCalls(probe);
    if (callOfTools.length === 0 && answered.some(({ name }) => probe.target.writing?.has(name)))
      throw NotRun.because('inapplicable', onlyWriting);
    const explorer = await Explorer.of(probe);
    const startMs = probe.nowWithoutWaits();
    const isTimeOver = () => probe.nowWithoutWaits() - startMs > maxExplorationMs;
    const exploredTools = callOfTools.slice(0, maxExploredTools);
    const parallelTools = explorer.isLive ? 1 : maxParallelTools;
    const explorations = await mapConcurrently(exploredTools, parallelTools, (call, index) =>
      exploreTool(explorer, call, { limit, seed: seed + index }, isTimeOver),
    );
    const notes = explorations.flatMap((exploration) => exploration.notes);
    if (callOfTools.length > maxExploredTools)
      notes.unshift(`asked for the first ${maxExploredTools} of ${callOfTools.length} tools`);
    return { calls: explorations.flatMap(({ calls }) => calls), notes };
  });
}

/** The generated calls of one tool, until the time is over. */
async function exploreTool(
  explorer: Explorer,
  ordinaryCall: CallOutcome,
  options: Parameters<typeof deriveVariants>[2],
  isTimeOver: () => boolean,
): Promise<Exploration> {
  const { name, tool, arguments: base } = ordinaryCall;
  if (isTimeOver()) return { calls: [], notes: [`not asked, because of the time: ${name}`] };
  const { variants, total } = deriveVariants(inputSchemaOf(tool), base, options);
  const parallelCalls = explorer.isLive ? 1 : maxParallelCalls;
  const answers = await mapConcurrently(variants, parallelCalls, async (variant) =>
    isTimeOver() ? undefined : sendVariant(explorer, ordinaryCall, variant),
  );
  const calls = answers.filter((call) => call !== undefined).filter(({ rpc }) => !isUnsent(rpc.http));
  const missingCount = answers.length - calls.length;
  const notes: string[] = [];
  if (total > variants.length) notes.push(`${name}: ${variants.length} of ${total} generated calls`);
  if (missingCount > 0)
    notes.push(`${name}: ${missingCount} generated calls were not made, because of the time`);
  return { calls, notes };
}

/** One call of each tool that only reads: a call that succeeded, else any call that its inputSchema allows. */
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

/** Whether the ordinary call of the tool still gets a result. A server or a session that has ended answers no call. */
export async function stillWorks(probe: Probe, { name, ordinary }: ExploredCall): Promise<boolean> {
  const explorer = await Explorer.of(probe);
  if (!ordinary.result || !explorer.mayCall(name)) return true;
  return (await explorer.send(name, ordinary.arguments)).result !== undefined;
}

/** Whether a call without an answer fails again while no other call runs. A busy server is slow, not broken. */
export async function failsAgain(
  probe: Probe,
  call: ExploredCall,
  fails: (call: ExploredCall) => boolean,
): Promise<boolean> {
  const explorer = await Explorer.of(probe);
  if (call.rpc.http.status !== 0 || !explorer.mayCall(call.name)) return true;
  return fails(await sendVariant(explorer, call.ordinary, call.variant, call.base));
}

/** The smallest call that fails in the same way, found within the limit of further calls. */
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

/** The name of the member that contains a text which is not a JSON object. */
export const textMember = 'text of the result';

/** The data of a successful result: structuredContent, else the JSON in its text, else the text. */
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

/** Sends a call again with one changed argument. Returns undefined if the arguments are invalid, the limit is reached, or it finds no data. */
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
