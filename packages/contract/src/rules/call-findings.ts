import { isDeepStrictEqual } from 'node:util';
import { lacksData } from '../definition/no-data.ts';
import { hasEmptySignal } from '../definition/outcomes.ts';
import { objectOr, shorten } from '../json/json.ts';
import { propertiesOf, requiredOf, typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { leavesOf } from '../wire/call-pairs.ts';
import {
  type ExploredCall,
  type FoundCall,
  foundCallWith,
  textMember,
  withoutSignals,
} from '../wire/explored-calls.ts';
import type { Probe } from '../wire/probe.ts';
import { resultText } from '../wire/rpc.ts';
import { inputSchemaOf } from '../wire/tool-cases.ts';
import { isText } from './schema-problems.ts';

/** What is wrong, and the calls that show it. */
export interface CallFinding extends Pick<Problem, 'expected' | 'actual'> {
  readonly calls: readonly Pick<FoundCall, 'name' | 'arguments'>[];
}

/** Different values of one argument, and one answer to all, whatever else was asked. */
export function oneForAll(
  calls: readonly [FoundCall, ...FoundCall[]],
  { target }: Probe,
): CallFinding | undefined {
  const [first] = calls;
  if (
    target.sampled?.has(first.name) ||
    Object.hasOwn(first.data, textMember) ||
    calls.some(({ data }) => !isDeepStrictEqual(data, first.data))
  )
    return undefined;
  for (const [name, schema] of propertiesOf(inputSchemaOf(first.tool))) {
    const callsWithValue = calls.filter(
      ({ arguments: args }) => args[name] !== undefined && args[name] !== null,
    );
    const values = new Map(callsWithValue.map((call) => [JSON.stringify(call.arguments[name]), call]));
    if (values.size < 3 || typesOf(schema).includes('boolean')) continue;
    const [left, right] = [...values.values()];
    if (left && right)
      return {
        expected: `answers that depend on ${name}`,
        actual: `${shorten(first.data)} for ${values.size} values of it, and for all other arguments`,
        calls: [left, right],
      };
  }
  return undefined;
}

/** An answer that repeats an argument with the value of another call. */
export function mislabelled(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  for (const [name, schema] of propertiesOf(inputSchemaOf(calls[0].tool))) {
    const sentValues = calls.flatMap(({ arguments: args }) => args[name] ?? []);
    const listed = [schema.enum, schema.examples].flatMap((list) => (Array.isArray(list) ? list : []));
    const knownValues = new Set([...sentValues, ...listed, schema.default ?? null].map(plainly));
    const contradiction = calls.find(({ arguments: args, data }) => {
      const [value, repeated] = [plainly(args[name]), plainly(data[name])];
      return value !== '' && repeated !== '' && value !== repeated && knownValues.has(repeated);
    });
    if (contradiction)
      return {
        expected: `${name} as it was sent: ${shorten(contradiction.arguments[name])}`,
        actual: `${name}: ${shorten(contradiction.data[name])}`,
        calls: [
          contradiction,
          ...calls
            .filter((call) => plainly(call.arguments[name]) === plainly(contradiction.data[name]))
            .slice(0, 1),
        ],
      };
  }
  return undefined;
}

/** A value without what a source may normalize: case, spaces, the type of a number. */
function plainly(value: Json | undefined): string {
  if (typeof value === 'string')
    return value
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, '');
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return '';
}

/** Names of parameters that say how many entries an answer may have. */
const limiting = /^(limit|top|top_?n|take|page_?size|per_?page|(max|num)_?(results|items|rows|entries))$/i;

export async function beyondLimit(
  calls: readonly [FoundCall, ...FoundCall[]],
  probe: Probe,
): Promise<CallFinding | undefined> {
  for (const [name, schema] of propertiesOf(inputSchemaOf(calls[0].tool))) {
    if (!limiting.test(name)) continue;
    const lowestLimit = typeof schema.minimum === 'number' ? Math.max(1, schema.minimum) : 1;
    const fullCall = calls.find(({ data }) => entriesIn(data) > lowestLimit);
    const furtherCall = fullCall && { call: fullCall, limit: lowestLimit };
    for (const { call, limit } of await callsWith(probe, calls, name, furtherCall)) {
      const entries = entriesIn(call.data);
      if (limit < 1 || entries <= limit) continue;
      return { expected: `at most ${limit} entries`, actual: `${entries} entries`, calls: [call] };
    }
  }
  return undefined;
}

/**
 * The calls of a tool with a number for a parameter, which limits the answer, and a further call with another limit. None for a tool
 * of samples, which need not obey it.
 *
 * @param furtherCall a call that found much, and the limit with which it is sent again
 */
export async function callsWith(
  probe: Probe,
  calls: readonly [FoundCall, ...FoundCall[]],
  name: string,
  furtherCall: LimitedCall | undefined,
): Promise<readonly LimitedCall[]> {
  if (probe.target.sampled?.has(calls[0].name)) return [];
  const limitedCalls = [...calls];
  if (furtherCall) {
    const { call, limit } = furtherCall;
    const answeredCall = await foundCallWith(probe, call, { name, value: limit });
    if (answeredCall) limitedCalls.push(answeredCall);
  }
  return limitedCalls.flatMap((call) => {
    const limit = call.arguments[name];
    if (typeof limit === 'number') return [{ call, limit }];
    return [];
  });
}

/** A call, and a number that limits its answer. */
interface LimitedCall {
  readonly call: FoundCall;
  readonly limit: number;
}

/** The length of the shortest list of an answer; 0 without lists. */
function entriesIn(data: JsonObject): number {
  const lengths = Object.values(data)
    .filter((value) => Array.isArray(value))
    .map((value) => value.length);
  return lengths.length === 0 ? 0 : Math.min(...lengths);
}

/** An answer without data that has no signal of an empty result. */
export function silentlyEmpty(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  const silent = calls.find(({ tool, data, arguments: args }) => {
    return lacksData(objectOr(tool.outputSchema), data, args) && !hasEmptySignal(data);
  });
  return (
    silent && {
      expected: 'searchExhausted: true or noResultsReason',
      actual: shorten(silent.data),
      calls: [silent],
    }
  );
}

/** What a failure says that has found nothing. */
const nothingFound =
  /\bNOT[_ ]?FOUND\b|\bNO[_ ](?:DATA|RESULTS?|MATCH(?:ES)?)\b|\bno \w+(?: \S+){0,6} (?:match|found)|\bnothing (?:was )?found/i;

/** Failures that have found nothing for values of closed lists: to ask for one of them is no mistake, as it may be for a name. */
export function failedEmpty(calls: readonly ExploredCall[]): readonly CallFinding[] {
  const byTool = new Map<string, CallFinding>();
  for (const { tool, name, isValid, variant, rpc, arguments: args = {} } of calls) {
    const { result } = rpc;
    const text = result?.isError === true ? (resultText(result.content) ?? '') : '';
    const schema = inputSchemaOf(tool);
    const properties = new Map(propertiesOf(schema));
    const isListed = (key: string) => properties.get(key)?.enum !== undefined;
    const isClosed = requiredOf(schema).every(isListed) && variant.changes.some(({ name }) => isListed(name));
    if (!isValid || !isClosed || !nothingFound.test(text) || byTool.has(name)) continue;
    if (Object.entries(args).some(([key, value]) => typeof value === 'string' && !isListed(key))) continue;
    byTool.set(name, {
      expected: 'an empty result with searchExhausted: true or noResultsReason',
      actual: `a failure: ${shorten(text)}`,
      calls: [{ name, arguments: args }],
    });
  }
  return [...byTool.values()];
}

export function alwaysExhausted(calls: readonly [FoundCall, ...FoundCall[]]): CallFinding | undefined {
  const fullResults = calls.filter((call) => answerHasData(call));
  const distinct = new Set(fullResults.map(({ data }) => JSON.stringify(data)));
  const takesNothing = propertiesOf(inputSchemaOf(calls[0].tool)).length === 0;
  if (distinct.size < (takesNothing ? 1 : 2)) return undefined;
  if (fullResults.some(({ data }) => data.searchExhausted !== true)) return undefined;
  return {
    expected: 'searchExhausted: true only where nothing was found',
    actual: `searchExhausted: true beside ${shorten(withoutSignals(fullResults[0]?.data ?? {}))}, and in all ${fullResults.length} answers`,
    calls: fullResults.slice(0, 2),
  };
}

/** Whether an answer has a value that is not empty and does not repeat an argument. */
function answerHasData({ data, arguments: args }: FoundCall): boolean {
  const sentValues = new Set(Object.values(args).map(plainly));
  return [...leavesOf(withoutSignals(data)).values()].some(
    (value) =>
      (isText(value) || (typeof value === 'number' && value !== 0)) && !sentValues.has(plainly(value)),
  );
}
