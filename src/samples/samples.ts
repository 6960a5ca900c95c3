import { type InputError, inputError, pass, type Result, refuse } from 'market-mcp-contract/command';
import { blankResult, signals, type ToolDefinition, type ToolExample } from 'market-mcp-contract/definition';
import {
  clientMismatches,
  isObject,
  type Json,
  type JsonObject,
  matchesWithin,
  propertiesOf,
  propertyAlone,
  requiredOf,
} from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { sampleArguments } from 'market-mcp-contract/wire';
import type { PreparedTool, Sample } from '../model/tool-model.ts';
import { sampleValue, samplingOf } from './sample-value.ts';

/** A value of the key parameter; null if the argument is omitted. */
type Key = Sample['key'];

/** In addition to the value of the marketplace's test, and those of the author's examples. */
const furtherSamples = 2;

/**
 * The answers of a generated handler until it has a source: sample answers by the value of one parameter,
 * and calls with known outcomes. All answers and arguments match their schemas, and the marketplace's test arguments find
 * data.
 *
 * @param requested calls with outcomes that the author chose
 * @param location path of the tool, for the errors
 */
export function samplesOf(
  definition: ToolDefinition,
  requested: readonly ToolExample[],
  testValues: PlatformProfile['smoke'],
  location: string,
): Result<PreparedTool> {
  const { inputSchema, outputSchema } = definition;
  const keyParameter = keyParameterOf(inputSchema);
  const unfit = requestErrors(inputSchema, keyParameter, requested, location);
  if (unfit.length > 0) return refuse(...unfit);

  const test = sampleArguments(inputSchema, testValues);
  const emptyKeys = exampleKeys(inputSchema, keyParameter, requested, 'empty');
  const keys = [
    ...new Set([
      ...exampleKeys(inputSchema, keyParameter, requested, 'found'),
      ...(keyParameter === null ? [null] : keysWithSample(inputSchema, keyParameter, test, testValues)),
    ]),
  ].filter((key) => !emptyKeys.includes(key));

  const samples: Sample[] = [];
  for (const [index, key] of keys.entries()) {
    const result = sampleResult(outputSchema, { name: keyParameter, value: key }, index, location);
    if (!result.ok) return result;
    samples.push({ key, answer: result.value });
  }
  const examples = [...requested, ...ownExamples(inputSchema, keyParameter, keys, test, requested)];
  return pass({ definition, keyParameter, samples, examples });
}

/** Example calls that the sample handler would not answer as expected. */
function requestErrors(
  inputSchema: JsonObject,
  keyParameter: string | null,
  requested: readonly ToolExample[],
  location: string,
): readonly InputError[] {
  const found = exampleKeys(inputSchema, keyParameter, requested, 'found');
  return requested.flatMap(({ arguments: args, expect }, i) => {
    const at = `${location}.examples[${i}]`;
    const [mismatch] = clientMismatches(inputSchema, args, 'arguments');
    if (expect === 'fail') {
      if (mismatch) return [];
      const hint =
        'Remove it until the tool has a real source. The sample handler fails only on invalid arguments.';
      return [inputError(at, args, 'expects a failure, but its arguments are valid', hint)];
    }
    if (mismatch) {
      const message = `${mismatch.path} is ${mismatch.actual}, expected ${mismatch.expected}`;
      return [
        inputError(`${at}.arguments`, args, message, 'Write valid arguments, or set expect to "fail".'),
      ];
    }
    const key = selectedKey(inputSchema, keyParameter, args);
    if (expect === 'found' || (keyParameter !== null && !found.includes(key))) return [];
    const message =
      keyParameter === null
        ? 'expects an empty result, but no parameter distinguishes this call from one that finds data'
        : `expects an empty result, but another call with the same ${keyParameter} finds data`;
    return [inputError(at, args, message, 'Remove it, or use another value.')];
  });
}

/** The key values that need a sample, the sample of the marketplace's test first. */
function keysWithSample(
  inputSchema: JsonObject,
  name: string,
  test: JsonObject,
  testValues: PlatformProfile['smoke'],
): readonly Key[] {
  const property = propertyOf(inputSchema, name);
  const [fallback] = Object.values(
    sampleArguments({ ...propertyAlone(inputSchema, name, property), required: [name] }, testValues),
  );
  const tested = selectedKey(inputSchema, name, test);
  const values = [fallback, ...parameterValues(property)].filter(
    (value): value is string | number => isKey(value) && matchesWithin(inputSchema, property, value),
  );
  const first = tested ?? null;
  return [...new Set<Key>([first, ...values])].slice(0, 1 + furtherSamples);
}

/** One example call that finds data and one that finds nothing, if the author gave none. */
function ownExamples(
  inputSchema: JsonObject,
  name: string | null,
  keys: readonly Key[],
  test: JsonObject,
  requested: readonly ToolExample[],
): readonly ToolExample[] {
  const examples: ToolExample[] = [];
  const present = keys.find((key) => key !== null);
  if (!requested.some(({ expect }) => expect === 'found') && (keys.length > 0 || name === null)) {
    const testArguments = name !== null && present !== undefined ? withKey(test, name, present) : test;
    examples.push({ arguments: testArguments, expect: 'found' });
  }
  const unknown = name === null ? undefined : unknownKey(inputSchema, name, keys);
  if (name !== null && unknown !== undefined && !requested.some(({ expect }) => expect === 'empty')) {
    examples.push({ arguments: withKey(test, name, unknown), expect: 'empty' });
  }
  return examples.filter(({ arguments: args }) => clientMismatches(inputSchema, args, '').length === 0);
}

/** A valid value without a sample; undefined if there is none. */
function unknownKey(inputSchema: JsonObject, name: string, keys: readonly Key[]): Json | undefined {
  const property = propertyOf(inputSchema, name);
  // Every allowed value will have an answer when the tool has its source.
  if (Array.isArray(property.enum)) return undefined;
  const freeValues: readonly Json[] = property.type === 'string' ? ['unknown', 'none'] : [404, 999_999, 0];
  return [...freeValues, property.maximum, property.minimum].find(
    (value) => isKey(value) && !keys.includes(value) && matchesWithin(inputSchema, property, value),
  );
}

/** The argument that selected an answer. */
interface Selected {
  readonly name: string | null;
  readonly value: Key;
}

/**
 * A result with data: with every field whose value is known, else with the required ones, else with empty ones.
 * A field with the selecting argument's name repeats it.
 */
function sampleResult(
  outputSchema: JsonObject,
  selected: Selected,
  index: number,
  location: string,
): Result<JsonObject> {
  const sampling = samplingOf(outputSchema, index);
  const required = requiredOf(outputSchema);
  const members = propertiesOf(outputSchema).flatMap(([name, property]): [string, Json][] => {
    const isSignal = Object.hasOwn(signals, name);
    if (isSignal && !required.includes(name)) return [];
    if (isSignal && name !== 'message') return [[name, null]];
    const echoes =
      name === selected.name &&
      selected.value !== null &&
      matchesWithin(outputSchema, property, selected.value);
    const value = echoes ? selected.value : sampleValue(property, sampling);
    if (value === undefined) return [];
    return [[name, value]];
  });
  const blank = blankResult(outputSchema);
  const results = [
    Object.fromEntries(members),
    Object.fromEntries(members.filter(([name]) => required.includes(name))),
    blank.ok ? blank.result : {},
  ];
  const result = results.find((candidate) => clientMismatches(outputSchema, candidate, '').length === 0);
  if (result) return pass(result);
  const sample = sampleValue(outputSchema, samplingOf(outputSchema, index));
  if (isObject(sample)) return pass(sample);
  const hint = 'Give the field examples that match its schema.';
  return refuse(
    ...clientMismatches(outputSchema, results[0], `${location}.outputSchema`).map(
      ({ path = '', expected, actual }) =>
        inputError(path, actual, `no valid sample value was found: expected ${expected}`, hint),
    ),
  );
}

/**
 * The parameter whose value selects a sample: the first required string, else the first required number, else the first
 * string; null if there is none.
 */
function keyParameterOf(inputSchema: JsonObject): string | null {
  const required = requiredOf(inputSchema);
  const namedProperties = propertiesOf(inputSchema).map(([name, { type }]) => ({
    name,
    isText: type === 'string',
    isNumber: type === 'number' || type === 'integer',
    isRequired: required.includes(name),
  }));
  const key =
    namedProperties.find(({ isText, isRequired }) => isText && isRequired) ??
    namedProperties.find(({ isNumber, isRequired }) => isNumber && isRequired) ??
    namedProperties.find(({ isText }) => isText);
  return key?.name ?? null;
}

/** The values that an author gave a parameter. */
function parameterValues({ default: fallback, examples, enum: allowedValues }: JsonObject): readonly Json[] {
  const lists = [fallback === undefined ? [] : [fallback], examples ?? [], allowedValues ?? []];
  return [...new Set(lists.flat() as readonly Json[])];
}

function exampleKeys(
  inputSchema: JsonObject,
  name: string | null,
  examples: readonly ToolExample[],
  expect: ToolExample['expect'],
): readonly Key[] {
  return examples
    .filter((example) => example.expect === expect)
    .map((example) => selectedKey(inputSchema, name, example.arguments));
}

/** The key that a call selects, or the default if it is omitted; null if there is none. */
function selectedKey(inputSchema: JsonObject, name: string | null, args: JsonObject): Key {
  if (name === null) return null;
  const value = Object.hasOwn(args, name) ? args[name] : propertyOf(inputSchema, name).default;
  if (isKey(value)) return value;
  return null;
}

function propertyOf(inputSchema: JsonObject, name: string): JsonObject {
  return propertiesOf(inputSchema).find(([propertyName]) => propertyName === name)?.[1] ?? {};
}

function withKey(test: JsonObject, name: string, key: Json): JsonObject {
  return Object.fromEntries([
    ...Object.entries(test).filter(([memberName]) => memberName !== name),
    [name, key],
  ]);
}

function isKey(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
