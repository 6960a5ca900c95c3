import { generateSync } from 'json-schema-faker';
import {
  attempt,
  isObject,
  type Json,
  type JsonObject,
  matchesWithin,
  pointerSegments,
  propertiesOf,
  requiredOf,
  runWithTimeLimit,
  taskTimeLimitMs,
  typesOf,
  valueAt,
} from 'market-mcp-contract/json';

/** The common state of all values of one answer. */
export interface Sampling {
  /** The whole schema, for its definitions. */
  readonly root: JsonObject;
  /** The index of the author's example to use, if there are several. */
  readonly index: number;
  /** The result for each schema. A schema in progress has none, so recursion ends. */
  readonly found: Map<JsonObject, Json | undefined>;
}

/** Larger values are not generated. */
const largest = 100;

/** Values that ajv-formats accepts. */
const formats = new Map<unknown, string>([
  ['date-time', '2026-01-01T00:00:00Z'],
  ['iso-date-time', '2026-01-01T00:00:00Z'],
  ['date', '2026-01-01'],
  ['time', '00:00:00Z'],
  ['iso-time', '00:00:00Z'],
  ['duration', 'PT1H'],
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['uri-reference', '/sample'],
  ['uri-template', '/{id}'],
  ['email', 'name@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['regex', '^.+$'],
  ['json-pointer', '/sample'],
  ['json-pointer-uri-fragment', '#/sample'],
  ['relative-json-pointer', '0'],
  ['byte', 'c2FtcGxl'],
]);

/** The initial state for a schema. */
export function samplingOf(root: JsonObject, index = 0): Sampling {
  return { root, index, found: new Map() };
}

/**
 * A value that matches a schema, including formats, and is the same on every run; undefined if none is found. The
 * author's value (const, default, examples, enum) comes first, then a plain value of the type, then a generated one, then null.
 */
export function sampleValue(schema: Json, sampling: Sampling): Json | undefined {
  if (schema === true) return 'sample';
  if (!isObject(schema)) return undefined;
  const { root, found } = sampling;
  if (found.has(schema)) return found.get(schema);
  found.set(schema, undefined);
  const simpleValue = plainValue(schema, sampling);
  if (simpleValue !== undefined) {
    found.set(schema, simpleValue);
    return simpleValue;
  }
  for (const value of candidates(schema, sampling)) {
    if (!matchesWithin(root, schema, value)) continue;
    found.set(schema, value);
    return value;
  }
  return undefined;
}

/** Keywords that a value of the right type with all required members always satisfies. */
const plainKeywords = new Set('type description title $comment properties required items'.split(' '));

/** A value of a schema that consists of types only. It need not be validated, which would take far longer. */
function plainValue(schema: JsonObject, sampling: Sampling): Json | undefined {
  if (!Object.keys(schema).every((keyword) => plainKeywords.has(keyword))) return undefined;
  const [value] = typedValues(schema, sampling);
  const isWhole = !isObject(value) || requiredOf(schema).every((name) => Object.hasOwn(value, name));
  if (isWhole) return value;
  return undefined;
}

function* candidates(schema: JsonObject, sampling: Sampling): Generator<Json> {
  yield* statedValues(schema, sampling.index);
  yield* typedValues(schema, sampling);
  for (const branch of branchesOf(schema, sampling.root)) {
    const value = sampleValue(branch, sampling);
    if (value !== undefined && value !== null) yield value;
  }
  const generatedValue = generateValue(schema, sampling.root);
  if (generatedValue !== undefined) yield generatedValue;
  const long = lengthened(schema, sampling.root);
  if (long !== undefined) yield long;
  yield null;
}

/** The values that the author named; null only if there is no other. */
function* statedValues(schema: JsonObject, index: number): Generator<Json> {
  if (schema.const !== undefined) yield schema.const;
  if (schema.default !== undefined && schema.default !== null) yield schema.default;
  for (const values of [schema.examples, schema.enum]) {
    if (!Array.isArray(values)) continue;
    const present = (values as readonly Json[]).filter((value) => value !== null);
    yield* [...present.slice(index % (present.length || 1)), ...present];
  }
}

function* typedValues(schema: JsonObject, sampling: Sampling): Generator<Json> {
  const { properties, items, format, minimum, maximum, multipleOf, minItems } = schema;
  const types = typesOf(schema);
  const listType = items === undefined ? undefined : 'array';
  const implied = isObject(properties) ? 'object' : listType;
  switch (types.find((type) => type !== 'null') ?? implied) {
    case 'string':
      yield formats.get(format) ?? 'sample';
      if (schema.pattern !== undefined) yield '1';
      break;
    case 'integer':
    case 'number':
      yield* [1, minimum, multipleOf, maximum, 0].filter((value) => typeof value === 'number');
      break;
    case 'boolean':
      yield* [true, false];
      break;
    case 'array': {
      const item = sampleValue(items ?? true, sampling);
      const length = Math.max(1, Math.min(Number(minItems ?? 0), largest));
      if (item !== undefined) yield Array.from({ length }, () => item);
      yield [];
      break;
    }
    case 'object':
      yield sampleMembers(schema, sampling);
      yield sampleMembers(schema, sampling, requiredOf(schema));
      yield {
        ...sampleMembers(schema, sampling),
        sample: sampleValue(schema.additionalProperties ?? true, sampling) ?? null,
      };
      break;
  }
}

function sampleMembers(schema: JsonObject, sampling: Sampling, only?: readonly string[]): JsonObject {
  const members = propertiesOf(schema).flatMap(([name, property]): [string, Json][] => {
    if (only && !only.includes(name)) return [];
    const value = sampleValue(property, sampling);
    if (value === undefined) return [];
    return [[name, value]];
  });
  return Object.fromEntries(members);
}

/** The alternatives of a schema: the members of a union, and the target of a `$ref`. */
function branchesOf(schema: JsonObject, root: JsonObject): readonly JsonObject[] {
  const unions = [schema.anyOf, schema.oneOf].flatMap((members) => (Array.isArray(members) ? members : []));
  const target =
    typeof schema.$ref === 'string' ? [valueAt(root, pointerSegments(decodeURIComponent(schema.$ref)))] : [];
  return [...unions, ...target].filter(isObject);
}

/** A text of a pattern such as `^[0-9a-f]+$` with a length, which the generator does not reach. */
function lengthened({ minLength, maxLength: _, ...schema }: JsonObject, root: JsonObject): Json | undefined {
  const length = Number(minLength ?? 0);
  const part = length > 0 && length <= largest && schema.pattern !== undefined && generateValue(schema, root);
  if (part && typeof part === 'string') return part.repeat(Math.ceil(length / part.length)).slice(0, length);
  return undefined;
}

/** A value from the generator, for patterns, multiples and combined schemas; the caller validates it. */
function generateValue(schema: JsonObject, { definitions = {}, $defs = {} }: JsonObject): Json | undefined {
  const text = JSON.stringify(schema);
  const sizes = text.matchAll(/"min(?:Items|Length|Properties)":([\d.e+]+)/g);
  if ([...sizes].some(([, size]) => Number(size) > largest)) return undefined;
  return attempt(() => {
    const wholeSchema = { definitions, $defs, ...schema } as Parameters<typeof generateSync>[0];
    const value = runWithTimeLimit(taskTimeLimitMs, () => generateSync(wholeSchema, { seed: 1 }));
    if (value === undefined) return undefined;
    return JSON.parse(JSON.stringify(value));
  }, undefined);
}
