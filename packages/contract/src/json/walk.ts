import { isObject } from './json.ts';
import type { Json, JsonObject } from './value.ts';

/**
 * Limits within which definitions are checked. Real ones are far below: a schema nested ten deep takes 30 levels, and no
 * agent can choose among a hundred tools. A list with more pages fails `discovery.tools`.
 */
export const bounds = { levels: 100, values: 20_000, tools: 1_000, pages: 100 } as const;

/** Whether a value stays within `bounds`; cyclic objects do not. */
export function isReadable(value: unknown): boolean {
  let level: unknown[] = [value];
  let values = 1;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > bounds.levels) return false;
    const next: unknown[] = [];
    for (const item of level) {
      const members = typeof item === 'object' && item !== null ? Object.values(item) : [];
      values += members.length;
      if (values > bounds.values) return false;
      next.push(...members);
    }
    level = next;
  }
  return true;
}

/** The values inside of a JSON value that are neither objects nor lists, in their order, with their path (`.items.0.name`). */
export function* leavesIn(value: Json): Generator<readonly [path: string, leaf: Json]> {
  const open: (readonly [string, Json])[] = [['', value]];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const [path, inner] = entry;
    if (typeof inner !== 'object' || inner === null) yield [path, inner];
    else for (const [name, member] of Object.entries(inner).reverse()) open.push([`${path}.${name}`, member]);
  }
}

/** A schema somewhere inside another. */
export interface LocatedSchema {
  readonly schema: JsonObject;
  /** `outputSchema.properties.items.items` */
  readonly path: string;
  /** Its name in `properties`, if it is a property. */
  readonly property?: string;
}

/** A schema and all schemas inside it, outermost first. The keywords are those of draft-07 and its successors. */
export function* schemasIn(schema: unknown, path: string, property?: string): Generator<LocatedSchema> {
  if (!isObject(schema)) return;
  yield property === undefined ? { schema, path } : { schema, path, property };
  for (const keyword of single) {
    const member = schema[keyword];
    if (isObject(member)) yield* schemasIn(member, `${path}.${keyword}`);
  }
  for (const keyword of listed) {
    const members = schema[keyword];
    if (!Array.isArray(members)) continue;
    for (const [index, member] of members.entries()) yield* schemasIn(member, `${path}.${keyword}[${index}]`);
  }
  for (const keyword of mapsOfSchemas) yield* schemasInMap(schema[keyword], keyword, path);
}

function* schemasInMap(members: unknown, keyword: string, path: string): Generator<LocatedSchema> {
  if (!isObject(members)) return;
  for (const [name, member] of Object.entries(members)) {
    yield* schemasIn(member, `${path}.${keyword}.${name}`, keyword === 'properties' ? name : undefined);
  }
}

/** Keywords whose value is a schema. */
export const single = (
  'items additionalItems contains additionalProperties propertyNames not if then else unevaluatedItems ' +
  'unevaluatedProperties'
).split(' ');
/** Keywords whose value is a list of schemas. */
export const listed = ['items', 'prefixItems', 'allOf', 'anyOf', 'oneOf'];
/** Keywords whose value is a map of schemas. */
export const mapsOfSchemas =
  'properties patternProperties definitions $defs dependencies dependentSchemas'.split(' ');
