import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { combineResults } from '../../packages/contract/src/command/input-error.ts';
import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import { compileSchema } from '../../packages/contract/src/json/compile.ts';
import { isObject } from '../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { parseFields } from '../../src/fields/language.ts';
import { readSample } from '../../src/import/read-sample.ts';
import { toolOfSamples } from '../../src/import/sample.ts';
import fc from '../fast-check.ts';
import { preparedOf } from './prepared.ts';
import { accepted, refused } from './realistic-samples.ts';

/**
 * A schema as its shape: `'integer'`, `'number|null'`, `'date'`, `[item]`, `{ name, 'optional?' }`, `{ '*': value }` for a
 * map; `'|'` names the types of a union with objects or lists.
 */
function shapeOf(schema: Json): Json {
  if (!isObject(schema)) return 'unknown';
  const { type, format, properties, required, additionalProperties, items } = schema;
  const types = [type ?? []].flat() as readonly string[];
  if (types.length === 0) return 'unknown';
  const members = {
    ...(isObject(properties) && membersOf(properties, (required ?? []) as readonly string[])),
    ...(isObject(additionalProperties) && { '*': shapeOf(additionalProperties) }),
  };
  const list = items === undefined ? [] : [shapeOf(items)];
  if (types.length === 1 && types[0] === 'object') return members;
  if (types.length === 1 && types[0] === 'array') return list;
  const text = typeof format === 'string' ? types.join('|').replace('string', format) : types.join('|');
  const nested = { ...members, ...(list.length > 0 && { '[]': list[0] as Json }) };
  return Object.keys(nested).length > 0 ? { '|': text, ...nested } : text;
}

function membersOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [
      required.includes(name) ? name : `${name}?`,
      shapeOf(member),
    ]),
  );
}

/** The shape of an answer, without the signals. At the root, each required member may be null (C§2.2): that is left out. */
function answerShape({ properties, required }: JsonObject): Json {
  const names = required as readonly string[];
  const own = Object.entries(properties as JsonObject).filter(([name]) => !Object.hasOwn(signals, name));
  return membersOf(
    Object.fromEntries(
      own.map(([name, member]) => [name, names.includes(name) ? withoutNull(member as JsonObject) : member]),
    ),
    names,
  );
}

/** Every member of a sample may be null in the next answer. */
function withoutNulls<T>(given: T): T {
  const isOther = (one: unknown) => one !== 'null' && one !== null;
  const stripped = JSON.parse(JSON.stringify(given), (key, value) => {
    if (!Array.isArray(value) || (key !== 'type' && key !== 'enum')) return value;
    const others = value.filter(isOther);
    return key === 'type' && others.length === 1 ? others[0] : others;
  });
  return JSON.parse(JSON.stringify(stripped).replaceAll('|null', ''));
}

function withoutNull({ type, ...rest }: JsonObject): JsonObject {
  const types = ([type ?? []].flat() as readonly string[]).filter((one) => one !== 'null');
  return { ...rest, ...(types.length > 0 && { type: types }) };
}

const texts = (samples: readonly (string | object)[]) =>
  samples.map((sample) => (typeof sample === 'string' ? sample : JSON.stringify(sample)));

function importOf(samples: readonly (string | object)[], input: readonly string[] = []) {
  const fields = unwrap(parseFields(input, '--input'));
  const read = combineResults(texts(samples).map((text, i) => readSample(text, `${i}.json`)));
  if (!read.ok) return read;
  const description = 'Returns what the sample shows. Use it when a question asks for what the sample shows.';
  return toolOfSamples(read.value, { name: 'get_it', input: fields }, () => description);
}

describe.each(accepted)('$api', ({ samples, input, shape, later = [], wrong = [], left = [] }) => {
  const imported = unwrap(importOf(samples, input));
  const { tools, changes } = preparedOf([imported]);
  const schema = tools[0]?.definition.outputSchema ?? {};
  const validate = compileSchema(schema);

  it('has the schema that an author would write', () => {
    expect(withoutNulls(answerShape(withoutNulls(schema)))).toEqual(withoutNulls(shape));
    expect(changes.map(({ what }) => what)).toEqual(left);
  });

  it('answers with sample data that match it', () => {
    for (const { answer } of tools[0]?.samples ?? [])
      expect(validate(answer), JSON.stringify(answer)).toBe(true);
  });

  it.each([...later, ...imported.sampleAnswers].map((answer) => [JSON.stringify(answer), answer]))(
    'accepts %.60s',
    (_, answer) => {
      expect(validate(answer)).toBe(true);
    },
  );

  it.each(wrong.map((answer) => [JSON.stringify(answer), answer]))('refuses %.60s', (_, answer) => {
    expect(validate(answer)).toBe(false);
  });
});

it.each(refused)('a sample of $api that is no answer is refused: $message', ({ samples, message }) => {
  const imported = importOf(samples);
  expect(imported.ok ? [] : imported.errors.map((error) => error.message)).toEqual([
    expect.stringMatching(new RegExp(message)),
  ]);
  for (const { hint } of imported.ok ? [] : imported.errors) expect(hint).toMatch(/^[A-Z].*\.$/);
});

it('the schema of any samples accepts them, as the tool returns them', () => {
  const key = fc.oneof(
    fc.constantFrom(
      'id',
      'usd',
      'USD',
      'EUR',
      'bitcoin',
      '2026-11-20',
      '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
      '',
    ),
    fc.string({ maxLength: 5 }).filter((name) => name !== '__proto__'),
  );
  const scalar = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, '1234567890123456789', 'x', '2026-11-20'),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }),
  );
  const { answer } = fc.letrec((tie) => ({
    answer: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('answer'), { maxLength: 3 }),
      fc.dictionary(key, tie('answer'), { maxKeys: 3 }),
    ),
  }));
  const text = (value: unknown): string => {
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return `[${value.map(text)}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${text(member)}`)}}`;
  };
  const object = fc.dictionary(key, answer, { minKeys: 1, maxKeys: 3 });
  fc.assert(
    fc.property(fc.array(object, { minLength: 1, maxLength: 3 }), (samples) => {
      const imported = importOf(samples.map(text), ['id:string=bitcoin The coin']);
      fc.pre(imported.ok);
      const { entry, sampleAnswers } = imported.value;
      const validate = compileSchema((entry as { outputSchema: JsonObject }).outputSchema);
      for (const one of sampleAnswers)
        expect(validate(one), JSON.stringify([one, validate.errors])).toBe(true);
    }),
  );
});
