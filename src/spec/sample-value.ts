import type { Json, JsonObject } from '../contract/model.ts';
import { signals } from '../contract/outcomes.ts';
import { isObject, typesOf } from '../contract/schema.ts';
import { propertiesOf, requiredOf } from './mending.ts';
import { fitsNumber, sampleNumber, sampleString, wordsOf } from './sample-scalar.ts';

/** Where in an answer a value stands, and what it shall agree with. */
export interface SamplePlace {
  /** The whole schema, for its definitions. */
  readonly root: JsonObject;
  readonly path: string;
  readonly name: string;
  /** Different indexes give different values. */
  readonly index: number;
  readonly depth: number;
  /** A name whose value is given: the argument that selected the answer. */
  readonly echo?: { readonly name: string; readonly value: Json };
  /** Paths for which no value was found. */
  readonly missing: string[];
}

/** Lists further inside hold a single item, so that recursive schemas stay small. */
const shallow = 5;
const deepest = 24;

/** A value for a schema: offline, the same on every run, from what its author said; undefined where none is found. */
export function sampleValue(schema: Json, place: SamplePlace): Json | undefined {
  if (!isObject(schema)) return schema === true ? `Sample ${place.name}` : undefined;
  if (place.depth > deepest) return typesOf(schema).includes('null') ? null : undefined;
  const whole = resolved(schema, place);
  const given = givenValue(whole, place.index);
  if (given !== undefined) return given;
  const value = typedValue(whole, place);
  if (value !== undefined) return value;
  if (typesOf(whole).includes('null')) return null;
  place.missing.push(place.path);
  return undefined;
}

/** What the author named: the only value, examples, allowed values, the default. */
function givenValue(schema: JsonObject, index: number): Json | undefined {
  if (schema.const !== undefined) return schema.const;
  for (const values of [schema.examples, schema.enum]) {
    const present = Array.isArray(values)
      ? (values as readonly Json[]).filter((value) => value !== null)
      : [];
    if (present.length > 0) return present[index % present.length];
  }
  return schema.default;
}

function typedValue(schema: JsonObject, place: SamplePlace): Json | undefined {
  const type = String(typesOf(schema).find((name) => name !== 'null') ?? impliedType(schema));
  const plain = { ...schema, type };
  switch (type) {
    case 'string':
      return sampleString(plain, place.name, place.index);
    case 'number':
    case 'integer':
      return sampleNumber(plain, place.name, place.index);
    case 'boolean':
      return place.index % 2 === 0;
    case 'array':
      return sampleArray(plain, place);
    case 'object':
      return sampleObject(plain, place);
    default:
      return undefined;
  }
}

function impliedType(schema: JsonObject): string | undefined {
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return 'object';
  if (schema.items !== undefined) return 'array';
  if (schema.type === undefined && schema.anyOf === undefined && schema.oneOf === undefined) return 'string';
  return undefined;
}

function sampleArray(schema: JsonObject, place: SamplePlace): Json | undefined {
  const least = Number(schema.minItems ?? 0);
  const most = Number(schema.maxItems ?? Number.POSITIVE_INFINITY);
  const length = Math.min(Math.max(place.depth > shallow ? 1 : 2, least), most, 100);
  if (schema.items === undefined && least === 0) return [];
  const values = Array.from({ length }, (_, i) =>
    sampleValue(schema.items ?? true, {
      ...place,
      path: `${place.path}.items`,
      name: singular(place.name),
      index: place.index * length + i,
      depth: place.depth + 1,
    }),
  );
  const found = values.filter((value) => value !== undefined);
  const distinct = [...new Map(found.map((value) => [JSON.stringify(value), value])).values()];
  const items = schema.uniqueItems === true ? distinct : found;
  return items.length >= least ? items : undefined;
}

function sampleObject(schema: JsonObject, place: SamplePlace): Json | undefined {
  const required = requiredOf(schema);
  const members: [string, Json][] = [];
  for (const [name, property] of propertiesOf(schema)) {
    if (place.depth === 0 && Object.hasOwn(signals, name)) continue;
    const path = `${place.path}.properties.${name}`;
    const missing: string[] = [];
    const inside = { ...place, path, name, depth: place.depth + 1, missing };
    const value = echoed(property, inside) ?? sampleValue(property, inside);
    if (value !== undefined) members.push([name, value]);
    else if (required.includes(name)) {
      place.missing.push(...missing, ...(missing.length > 0 ? [] : [path]));
      return undefined;
    }
  }
  if (members.length === 0 && isObject(schema.additionalProperties) && place.depth <= deepest) {
    const value = sampleValue(schema.additionalProperties, { ...place, depth: place.depth + 1, missing: [] });
    if (value !== undefined) members.push(['sample', value]);
  }
  return Object.fromEntries(withCounts(members, schema));
}

/** The argument that selected the answer, where a scalar property of its name can hold it. */
function echoed(property: JsonObject, { name, echo }: SamplePlace): Json | undefined {
  if (echo === undefined || echo.name !== name) return undefined;
  const { value } = echo;
  if (Array.isArray(property.enum)) return property.enum.includes(value) ? value : undefined;
  const types = typesOf(property);
  const type = types.includes('number') ? 'number' : 'integer';
  const fits =
    typeof value === 'number'
      ? types.includes(type) && fitsNumber(value, { ...property, type })
      : types.includes(typeof value);
  // Callers check formats, and the marketplace's test sends "test" whatever the format.
  const bounded = ['pattern', 'format', 'minLength', 'maxLength', 'const'].some(
    (keyword) => property[keyword] !== undefined,
  );
  return fits && !bounded ? value : undefined;
}

/** `count` beside a single list says how many it holds. */
function withCounts(members: readonly [string, Json][], schema: JsonObject): readonly [string, Json][] {
  const lists = members.filter(([, value]) => Array.isArray(value));
  const [list] = lists;
  if (lists.length !== 1 || list === undefined) return members;
  const { length } = list[1] as readonly Json[];
  return members.map(([name, value]): [string, Json] => {
    const property = (schema.properties as JsonObject)[name];
    const counts = typeof value === 'number' && /\b(count|found|total)$/.test(wordsOf(name).join(' '));
    const free =
      isObject(property) &&
      givenValue(property, 0) === undefined &&
      fitsNumber(length, { ...property, type: 'integer' });
    return [name, counts && free ? length : value];
  });
}

/** A schema without references and unions: the first branch that is not null, all parts of `allOf`. */
function resolved(schema: JsonObject, place: SamplePlace, hops = 0): JsonObject {
  if (hops > deepest) return {};
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema;
    const target = targetOf(place.root, $ref);
    return resolved({ ...(isObject(target) ? target : {}), ...beside }, place, hops + 1);
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const { [keyword]: _, ...beside } = schema;
    const branch = (branches as readonly Json[]).find((member) => isObject(member) && member.type !== 'null');
    return resolved(merged([beside, isObject(branch) ? branch : {}]), place, hops + 1);
  }
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...beside } = schema;
    const parts = (allOf as readonly Json[]).filter(isObject).map((part) => resolved(part, place, hops + 1));
    return resolved(merged([beside, ...parts]), place, hops + 1);
  }
  return schema;
}

function merged(parts: readonly JsonObject[]): JsonObject {
  return {
    ...Object.assign({}, ...parts),
    ...(parts.some((part) => part.properties !== undefined) && {
      properties: Object.fromEntries(parts.flatMap(propertiesOf)),
      required: parts.flatMap(requiredOf),
    }),
  };
}

/** What `#/definitions/price` points at. */
function targetOf(root: JsonObject, reference: string): Json | undefined {
  let at: Json | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
}
