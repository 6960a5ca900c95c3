import { uriDecoded } from 'market-mcp-contract/command';
import { childPointer, isObject, type JsonObject, pointerSegments, valueAt } from 'market-mcp-contract/json';
import { type Fixes, rewrite } from './fixes.ts';

/** Maximum number of schemas in one definition that is written out. */
export const maxSchemas = 300;

/** Of the property that a map at the root becomes. */
export const mapDescription = 'The values by their keys.';

const keptReason = 'the marketplace keeps neither definitions nor a map at the root (MCP SDK 1.22.0)';

/** Whether the root of a schema describes the values of keys that are data. */
export function isMap({ additionalProperties: valueSchema }: JsonObject): boolean {
  return isObject(valueSchema) && Object.keys(valueSchema).length > 0;
}

/** Puts a map at the root into the property `result`. */
export function fixMap(schema: JsonObject, fixes: Fixes): JsonObject {
  const { additionalProperties: valueSchema } = schema;
  if (!isMap(schema)) {
    if (isObject(valueSchema))
      return fixes.set(schema, 'additionalProperties', true, 'outputSchema', keptReason);
    return schema;
  }
  const { $defs, definitions, ...map } = schema;
  fixes.change('outputSchema', 'its map became the property result', keptReason);
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
  return rewrite(schema, '', (subschema) => {
    const { $ref } = subschema;
    if (typeof $ref !== 'string' || defined.test($ref) || !`${$ref}/`.startsWith(`${from}/`))
      return subschema;
    return { ...subschema, $ref: to + $ref.slice(from.length) };
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
  const copied = writtenOut(root, schema, defined);
  const at = `outputSchema.${$defs === undefined ? 'definitions' : '$defs'}`;
  if (!copied) {
    const problem = `has more than ${maxSchemas} schemas if its definitions are written out where they are used`;
    fixes.error(at, undefined, `${problem}: ${keptReason}`, 'Leave out members that nobody needs.');
    return root;
  }
  const names = copied.names.map((name) => name.replace(defined, ''));
  fixes.change(at, `${names.join(', ') || 'nothing'} was written out where it is used`, keptReason);
  return copied.schema;
}

/**
 * Writes references to other parameters, or to members of them, out where they are used: code generators write them for a
 * schema that is used twice. A parameter that contains itself keeps its references.
 */
export function fixInputReferences(schema: JsonObject, fixes: Fixes): JsonObject {
  if (!JSON.stringify(schema).includes('"$ref":"#/properties/')) return schema;
  const copied = writtenOut(schema, schema, /^#\/properties\//);
  if (!copied || copied.names.length === 0) return schema;
  const names = copied.names.map((name) => pointerSegments(name).join('.'));
  const reason = 'a parameter has exactly one type (C§2.1), and the submission test follows no reference';
  fixes.change('inputSchema', `${names.join(', ')} was written out where it is used`, reason);
  return copied.schema;
}

interface WrittenOut {
  readonly schema: JsonObject;
  /** The references that were replaced. */
  readonly names: readonly string[];
}

/** A schema with references replaced by the schemas of `whole` that they name; undefined if it becomes too large. */
function writtenOut(schema: JsonObject, root: JsonObject, pattern: RegExp): WrittenOut | undefined {
  const copying: Copying = { root, pattern, copies: [], schemas: 0 };
  const copied = rewrite(
    schema,
    '#',
    (subschema, at) => {
      copying.schemas += 1;
      return replaceReference(subschema, at, copying);
    },
    childPointer,
  );
  if (copying.schemas > maxSchemas) return undefined;
  return { schema: copied, names: [...new Set(copying.copies.map(({ name }) => name))] };
}

/** The state of one copying. */
interface Copying {
  readonly root: JsonObject;
  /** The references that are replaced. */
  readonly pattern: RegExp;
  readonly copies: { readonly name: string; readonly at: string }[];
  /** The number of schemas so far. */
  schemas: number;
}

function replaceReference(subschema: JsonObject, at: string, copying: Copying): JsonObject {
  const { root, pattern, copies } = copying;
  let location = subschema;
  while (typeof location.$ref === 'string' && pattern.test(location.$ref)) {
    const { $ref, ...siblings } = location as JsonObject & { $ref: string };
    const name = uriDecoded($ref);
    if (name !== at && `${at}/`.startsWith(`${name}/`)) return location;
    const outer = copies.find((copy) => copy.name === name && `${at}/`.startsWith(`${copy.at}/`));
    const target = valueAt(root, pointerSegments(name));
    if (target === undefined) return location;
    if (copying.schemas > maxSchemas || outer?.at === at || !isObject(target)) return siblings;
    if (outer) return { ...siblings, $ref: outer.at };
    copies.push({ name, at });
    location = joinReference(target, siblings);
  }
  return location;
}

const remarks = ['title', 'description', 'default', 'examples', '$comment', 'deprecated'];

/** A schema and the keywords beside the reference to it, which also apply. */
function joinReference(target: JsonObject, siblings: JsonObject): JsonObject {
  const isClear = Object.keys(siblings).every((key) => remarks.includes(key) || !Object.hasOwn(target, key));
  if (isClear) return { ...target, ...siblings };
  return { allOf: [target, siblings] };
}
