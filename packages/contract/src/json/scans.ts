import { isObject } from './json.ts';
import { forSameValue } from './recursion.ts';
import type { JsonObject } from './value.ts';
import { type LocatedSchema, schemasIn } from './walk.ts';

/** How many schemas read all items of a list, and how many all members of an object. */
interface Scans {
  readonly items: number;
  readonly members: number;
}

/** A list of so few items is read quickly by any number of schemas. */
const fewItems = 1_000;

/**
 * The outermost schema that compares one value with more than `most` schemas, alternatives and references included, each of
 * which reads all items or members of the value.
 */
export function repeatedScans(
  root: JsonObject,
  path: string,
  limit: number,
): { readonly place: LocatedSchema; readonly times: number } | undefined {
  const scansBySchema = new Map<unknown, Scans>();
  const scansOf = (schema: unknown): Scans => {
    if (!isObject(schema)) return { items: 0, members: 0 };
    const before = scansBySchema.get(schema);
    if (before) return before;
    scansBySchema.set(schema, { items: 0, members: 0 }); // a reference to itself compares no further schema
    let { items, members } = ownScans(schema);
    for (const part of forSameValue(schema, root)) {
      const inner = scansOf(part);
      items += inner.items;
      members += inner.members;
    }
    const isShort = typeof schema.maxItems === 'number' && schema.maxItems <= fewItems;
    const scans = { items: isShort ? 0 : items, members };
    scansBySchema.set(schema, scans);
    return scans;
  };
  for (const place of schemasIn(root, path)) {
    const { items, members } = scansOf(place.schema);
    const times = Math.max(items, members);
    if (times > limit) return { place, times };
  }
  return undefined;
}

function ownScans(schema: JsonObject): Scans {
  const { items, additionalItems, contains, additionalProperties, propertyNames, patternProperties } = schema;
  const reads = (part: unknown) => isObject(part) && Object.keys(part).length > 0;
  return {
    items: [items, additionalItems, contains].filter(reads).length,
    members:
      [additionalProperties, propertyNames, patternProperties].filter(reads).length +
      Number(typeof schema.minProperties === 'number'),
  };
}
