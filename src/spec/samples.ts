import type { Json, JsonObject, ToolDefinition, ToolExample } from '../contract/model.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { isObject, misfits } from '../contract/schema.ts';
import { sampleArguments } from '../contract/smoke.ts';
import { fault, pass, refuse } from './fault.ts';
import { givenValues, keyParameterOf } from './key-parameter.ts';
import { propertiesOf, propertyAlone } from './mending.ts';
import type { Fault, PreparedTool, Result, Sample } from './model.ts';
import { sampleValue } from './sample-value.ts';

/** A value of the key parameter; null where the argument is left out. */
type Key = Sample['key'];

/** Beyond the value that the marketplace's test sends, and those of the author's own examples. */
const furtherSamples = 2;

/**
 * What the generated handler of a tool answers before it has a source: sample answers by the value of one parameter,
 * and calls whose outcome is known. All answers and arguments fit their schemas; the marketplace's test arguments find
 * something.
 *
 * @param wished calls that the author foretells
 * @param where path of the tool, for the faults
 */
export function samplesOf(
  definition: ToolDefinition,
  wished: readonly ToolExample[],
  smoke: PlatformProfile['smoke'],
  where: string,
): Result<PreparedTool> {
  const { inputSchema, outputSchema } = definition;
  const keyParameter = keyParameterOf(inputSchema, outputSchema);
  const unfit = wishFaults(inputSchema, keyParameter, wished, where);
  if (unfit.length > 0) return refuse(...unfit);

  const test = sampleArguments(inputSchema, smoke);
  const emptyKeys = keysOf(inputSchema, keyParameter, wished, 'empty');
  const keys = [
    ...new Set([
      ...keysOf(inputSchema, keyParameter, wished, 'found'),
      ...(keyParameter === null ? [null] : keysToAnswer(inputSchema, keyParameter, test, smoke)),
    ]),
  ].filter((key) => !emptyKeys.includes(key));

  const samples: Sample[] = [];
  for (const [index, key] of keys.entries()) {
    const answer = sampleAnswer(outputSchema, keyParameter, key, index, where);
    if (!answer.ok) return answer;
    samples.push({ key, answer: answer.value });
  }
  const examples = [...wished, ...ownExamples(inputSchema, keyParameter, keys, test, wished)];
  return pass({ definition, keyParameter, samples, examples });
}

/** Example calls that the sample handler would not answer as foretold. */
function wishFaults(
  inputSchema: JsonObject,
  keyParameter: string | null,
  wished: readonly ToolExample[],
  where: string,
): readonly Fault[] {
  const found = keysOf(inputSchema, keyParameter, wished, 'found');
  return wished.flatMap(({ arguments: given, expect }, i) => {
    const at = `${where}.examples[${i}]`;
    const [misfit] = misfits(inputSchema, given, 'arguments');
    if (expect === 'fail') {
      if (misfit) return [];
      const hint =
        'Leave it out until the tool has its source; the sample handler fails on invalid arguments only.';
      return [fault(at, given, 'expects a failure of arguments that are valid', hint)];
    }
    if (misfit) {
      const message = `${misfit.path} is ${misfit.actual}, expected ${misfit.expected}`;
      return [
        fault(`${at}.arguments`, given, message, 'Write arguments that fit the input, or expect "fail".'),
      ];
    }
    const key = keyOf(inputSchema, keyParameter, given);
    if (expect === 'found' || (keyParameter !== null && !found.includes(key))) return [];
    const message =
      keyParameter === null
        ? 'expects nothing, but no parameter tells this call from one that finds something'
        : `expects nothing, but the same ${keyParameter} finds something in another call`;
    return [fault(at, given, message, 'Leave it out, or give it another value.')];
  });
}

/** The values to hold a sample for, that of the marketplace's test first. */
function keysToAnswer(
  inputSchema: JsonObject,
  name: string,
  test: JsonObject,
  smoke: PlatformProfile['smoke'],
): readonly Key[] {
  const property = propertiesOf(inputSchema).find(([own]) => own === name)?.[1] ?? {};
  const [fallback] = Object.values(
    sampleArguments({ ...propertyAlone(inputSchema, name, property), required: [name] }, smoke),
  );
  const tested = keyOf(inputSchema, name, test);
  const values = [fallback, ...givenValues(property)].filter(
    (value): value is string | number => isKey(value) && fits(inputSchema, name, property, value),
  );
  const all =
    Array.isArray(property.enum) && property.enum.length > 1 ? [...new Set(values)].slice(0, -1) : values;
  const first = tested ?? null;
  return [...new Set<Key>([first, ...all])].slice(0, 1 + furtherSamples);
}

/** One found and one empty call, where the author gave none. */
function ownExamples(
  inputSchema: JsonObject,
  name: string | null,
  keys: readonly Key[],
  test: JsonObject,
  wished: readonly ToolExample[],
): readonly ToolExample[] {
  const examples: ToolExample[] = [];
  const present = keys.find((key) => key !== null);
  if (!wished.some(({ expect }) => expect === 'found') && (keys.length > 0 || name === null)) {
    const given = name !== null && present !== undefined ? withKey(test, name, present) : test;
    examples.push({ arguments: given, expect: 'found' });
  }
  const unknown = name === null ? undefined : unknownKey(inputSchema, name, keys);
  if (name !== null && unknown !== undefined && !wished.some(({ expect }) => expect === 'empty')) {
    examples.push({ arguments: withKey(test, name, unknown), expect: 'empty' });
  }
  return examples.filter(({ arguments: given }) => misfits(inputSchema, given, '').length === 0);
}

/** A valid value that no sample answers; undefined where there is none. */
function unknownKey(inputSchema: JsonObject, name: string, keys: readonly Key[]): Json | undefined {
  const property = propertiesOf(inputSchema).find(([own]) => own === name)?.[1] ?? {};
  const others = Array.isArray(property.enum) ? (property.enum as readonly Json[]).toReversed() : [];
  const { examples: _, default: __, ...open } = property;
  const sampled = [7, 8, 9].map((index) => sampleOf(inputSchema, open, name, index));
  const formal = property.format !== undefined;
  const free: readonly Json[] =
    property.type === 'string' ? (formal ? [] : ['unknown', 'none']) : [404, 999_999, 0];
  return [...others, ...free, ...sampled, property.maximum, property.minimum].find(
    (value) => isKey(value) && !keys.includes(value) && fits(inputSchema, name, property, value),
  );
}

function sampleOf(root: JsonObject, schema: JsonObject, name: string, index: number): Json | undefined {
  return sampleValue(schema, { root, path: name, name, index, depth: 1, missing: [] });
}

function sampleAnswer(
  outputSchema: JsonObject,
  keyParameter: string | null,
  key: Key,
  index: number,
  where: string,
): Result<JsonObject> {
  const missing: string[] = [];
  const echo = keyParameter !== null && key !== null ? { echo: { name: keyParameter, value: key } } : {};
  const place = {
    root: outputSchema,
    path: 'outputSchema',
    name: 'answer',
    index,
    depth: 0,
    missing,
    ...echo,
  };
  const answer = sampleValue(outputSchema, place);
  const hint = 'Give the field examples that fit.';
  if (!isObject(answer)) {
    const paths = missing.length > 0 ? missing : ['outputSchema'];
    return refuse(
      ...paths.map((path) => fault(`${where}.${path}`, undefined, 'no sample value is known', hint)),
    );
  }
  const problems = misfits(outputSchema, answer, 'outputSchema');
  if (problems.length === 0) return pass(answer);
  return refuse(
    ...problems.map(({ path = '', expected, actual }) =>
      fault(`${where}.${path}`, actual, `no sample value is known: expected ${expected}`, hint),
    ),
  );
}

function keysOf(
  inputSchema: JsonObject,
  name: string | null,
  examples: readonly ToolExample[],
  expect: ToolExample['expect'],
): readonly Key[] {
  return examples
    .filter((one) => one.expect === expect)
    .map((one) => keyOf(inputSchema, name, one.arguments));
}

/** The key that a call selects, its default where it is left out; null where there is none. */
function keyOf(inputSchema: JsonObject, name: string | null, given: JsonObject): Key {
  if (name === null) return null;
  const property = propertiesOf(inputSchema).find(([own]) => own === name)?.[1] ?? {};
  const value = Object.hasOwn(given, name) ? given[name] : property.default;
  return isKey(value) ? value : null;
}

function withKey(test: JsonObject, name: string, key: Json): JsonObject {
  return Object.fromEntries([...Object.entries(test).filter(([own]) => own !== name), [name, key]]);
}

function fits(root: JsonObject, name: string, property: JsonObject, value: Json): boolean {
  return misfits(propertyAlone(root, name, property), Object.fromEntries([[name, value]]), '').length === 0;
}

function isKey(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
