import { isObject } from '../contract/json.ts';
import type { JsonObject } from '../contract/model.ts';
import { below, stepsOf, valueAt } from '../contract/schema/schema.ts';
import { type Fixes, rewrite } from './fixes.ts';

/** Maximum number of schemas in one definition that is written out. */
export const maxSchemas = 300;

/** Of the property that a map at the root becomes. */
export const mapDescription = 'The values by their keys.';

const kept = 'the marketplace keeps neither definitions nor a map at the root (MCP SDK 1.22.0)';

/** Whether the root of a schema describes the values of keys that are data. */
export function isMap({ additionalProperties: further }: JsonObject): boolean {
  return isObject(further) && Object.keys(further).length > 0;
}

/** Puts a map at the root into the property `result`. */
export function fixMap(schema: JsonObject, fixes: Fixes): JsonObject {
  const { additionalProperties: further } = schema;
  if (!isMap(schema)) {
    return isObject(further) ? fixes.set(schema, 'additionalProperties', true, 'outputSchema', kept) : schema;
  }
  const { $defs, definitions, ...map } = schema;
  fixes.change('outputSchema', 'its map became the property result', kept);
  const described = { description: mapDescription, ...map };
  const result = withReferences(described, '#', '#/properties/result');
  return {
    type: 'object',
    properties: { result },
    required: ['result'],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** A schema whose references to a place, or into it, lead to another; those to definitions stay. */
export function withReferences(schema: JsonObject, from: string, to: string): JsonObject {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema;
  return rewrite(schema, '', (one) => {
    const { $ref } = one;
    if (typeof $ref !== 'string' || defined.test($ref) || !`${$ref}/`.startsWith(`${from}/`)) return one;
    return { ...one, $ref: to + $ref.slice(from.length) };
  });
}

const defined = /^#\/(\$defs|definitions)\//;

/**
 * Writes the definitions of an outputSchema out where they are used. One that contains itself becomes a reference to the place
 * where it is written out.
 */
export function fixDefinitions(schema: JsonObject, fixes: Fixes): JsonObject {
  const { $defs, definitions, ...root } = schema;
  if ($defs === undefined && definitions === undefined) return schema;
  const copies: { readonly name: string; readonly at: string }[] = [];
  let schemas = 0;
  const copied = rewrite(
    root,
    '#',
    (one, at) => {
      schemas += 1;
      let whole = one;
      while (typeof whole.$ref === 'string' && defined.test(whole.$ref)) {
        const { $ref: name, ...beside } = whole as JsonObject & { $ref: string };
        const outer = copies.find((copy) => copy.name === name && `${at}/`.startsWith(`${copy.at}/`));
        const target = valueAt(schema, stepsOf(decodeURIComponent(name)));
        if (schemas > maxSchemas || outer?.at === at || !isObject(target)) return beside;
        if (outer) return { ...beside, $ref: outer.at };
        copies.push({ name, at });
        whole = joined(target, beside);
      }
      return whole;
    },
    below,
  );
  const at = `outputSchema.${$defs === undefined ? 'definitions' : '$defs'}`;
  if (schemas > maxSchemas) {
    const what = `has more than ${maxSchemas} schemas if its definitions are written out where they are used`;
    fixes.error(at, undefined, `${what}: ${kept}`, 'Leave out members that nobody needs.');
    return root;
  }
  const names = [...new Set(copies.map(({ name }) => name.replace(defined, '')))];
  fixes.change(at, `${names.join(', ') || 'nothing'} was written out where it is used`, kept);
  return copied;
}

const remarks = ['title', 'description', 'default', 'examples', '$comment', 'deprecated'];

/** A schema and the keywords beside the reference to it, which apply, too. */
function joined(target: JsonObject, beside: JsonObject): JsonObject {
  const isClear = Object.keys(beside).every((key) => remarks.includes(key) || !Object.hasOwn(target, key));
  return isClear ? { ...target, ...beside } : { allOf: [target, beside] };
}
