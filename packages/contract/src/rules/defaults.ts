import { isDeepStrictEqual } from 'node:util';
import { shorten, withoutPrototype } from '../json/json.ts';
import { propertiesOf, requiredOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { commonLeaves } from '../wire/call-pairs.ts';
import { Explorer, type FoundCall, foundData } from '../wire/explored-calls.ts';
import { applyChanges } from '../wire/generated-calls.ts';
import type { Probe } from '../wire/probe.ts';
import { allowsArguments, inputSchemaOf } from '../wire/tool-cases.ts';
import type { CallFinding } from './call-findings.ts';
import { joinWords } from './returned-values.ts';

type Default = readonly [name: string, value: Json];

/**
 * A declared default that gives other data than the call without the argument. All defaults are compared at once. If they differ, each
 * default is compared, and the two calls take turns, so that a source that changes is not accused.
 */
export async function otherDefault(
  calls: readonly [FoundCall, ...FoundCall[]],
  probe: Probe,
): Promise<CallFinding | undefined> {
  const [{ tool, name, arguments: base }] = calls;
  const explorer = await Explorer.of(probe);
  const schema = inputSchemaOf(tool);
  const required = new Set(requiredOf(schema));
  const defaults = propertiesOf(schema).flatMap(
    ([property, { default: value = null }]): readonly Default[] =>
      value === null || required.has(property) ? [] : [[property, value]],
  );
  if (defaults.length === 0 || explorer.isLive || probe.target.sampled?.has(name)) return undefined;
  const omitted = applyChanges(
    base,
    defaults.map(([property]) => ({ name: property, value: undefined })),
  );

  const ask = async (args: JsonObject): Promise<JsonObject | undefined> =>
    explorer.mayCall(name) ? foundData((await explorer.send(name, args)).result) : undefined;
  const askOnce = async (args: JsonObject): Promise<JsonObject | undefined> =>
    calls.find((call) => isDeepStrictEqual(call.arguments, args))?.data ?? (await ask(args));

  /** The data of both calls, if they always differ. */
  const compare = async (
    some: readonly Default[],
  ): Promise<readonly [JsonObject, JsonObject] | undefined> => {
    const explicit = withoutPrototype({ ...omitted, ...Object.fromEntries(some) });
    const [first, second] = [await ask(omitted), await ask(explicit)];
    const [third, fourth] = [await ask(omitted), await ask(explicit)];
    if (!first || !second || !third || !fourth) return undefined;
    if (differ([first, third], [second, fourth], some)) return [first, second];
    return undefined;
  };

  const allDefaults = withoutPrototype({ ...omitted, ...Object.fromEntries(defaults) });
  if (![omitted, allDefaults].every((args) => allowsArguments(schema, args))) return undefined;
  const [without, withAll] = [await askOnce(omitted), await askOnce(allDefaults)];
  if (!without || !withAll || !differ([without], [withAll], defaults)) return undefined;
  for (const [property, value] of defaults) {
    const different = await compare([[property, value]]);
    if (!different) continue;
    const [withoutIt, withIt] = different;
    return {
      expected: `the same data without ${property} and with its default, ${shorten(value)}`,
      actual: `${shorten(withoutIt)} without it, ${shorten(withIt)} with it`,
      calls: [
        { name, arguments: omitted },
        { name, arguments: { ...omitted, [property]: value } },
      ],
    };
  }
  return undefined;
}

/** Members that repeat the request. */
const repeating =
  /\b(?:ur[il]s?|links?|href|self|query|params?|parameters|arguments|request|meta|message|note|cache\w*)\b/;

/** Whether two calls always differ in a list or in a value that does not repeat the arguments. */
function differ(
  left: readonly JsonObject[],
  right: readonly JsonObject[],
  defaults: readonly Default[],
): boolean {
  if (haveOtherLengths(left, right)) return true;
  const otherLeaves = commonLeaves(right);
  const names = defaults.map(([name]) => joinWords([name]));
  const values = new Set(defaults.map(([, value]) => value));
  const isRepeated = (path: string, value: Json) => {
    const words = joinWords([path]);
    const text = joinWords([shorten(value)]);
    return (
      repeating.test(words) ||
      values.has(value) ||
      names.some((name) => words.includes(name) || text.includes(name))
    );
  };
  return [...commonLeaves(left)].some(([path, value]) => {
    const otherValue = otherLeaves.get(path);
    if (otherValue === undefined || areAlike(value, otherValue)) return false;
    return !isRepeated(path, value) && !isRepeated(path, otherValue);
  });
}

/** Whether two values are the same, or may have been read from a changing source at two times: a cache keeps each of them. */
function areAlike(left: Json, right: Json): boolean {
  if (typeof left === 'number' && typeof right === 'number')
    return Math.abs(left - right) <= Math.abs(left) / 100;
  return left === right || [left, right].every((value) => /^\d{4}-\d\d-\d\d/.test(String(value)));
}

/** Whether a list at the root of the data always has another length. */
function haveOtherLengths(left: readonly JsonObject[], right: readonly JsonObject[]): boolean {
  const otherLengths = steadyLengths(right);
  return [...steadyLengths(left)].some(([name, length]) => {
    const otherLength = otherLengths.get(name);
    return otherLength !== undefined && otherLength !== length;
  });
}

/** The lengths of the lists that have the same length in all of these answers. */
function steadyLengths([first = {}, ...otherAnswers]: readonly JsonObject[]): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const [name, value] of Object.entries(first)) {
    const isSteady = (answer: JsonObject) => {
      const list = answer[name];
      return Array.isArray(list) && Array.isArray(value) && list.length === value.length;
    };
    if (Array.isArray(value) && otherAnswers.every(isSteady)) lengths.set(name, value.length);
  }
  return lengths;
}
