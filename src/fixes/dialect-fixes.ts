import {
  boundFor,
  isObject,
  type Json,
  type JsonObject,
  patternFlaw,
  propertiesOf,
  requiredOf,
  shorten,
} from 'market-mcp-contract/json';
import { type Fixes, rewrite } from './fixes.ts';

const dialects = 'old and new validators read it differently (app api/v1/tools/dispute/route.ts)';

/**
 * Rewrites a schema so that draft-07 and later drafts read it alike: no dialect, no ids, null in the type, lists whose
 * items have one schema, `required` as a list.
 */
export function fixDialect(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  return rewrite(schema, path, (place, at) =>
    [
      checkedReferences,
      checkedPatterns,
      withoutKeywords,
      withoutTuple,
      withRequiredList,
      withPlainProperties,
      withInheritedNamesRequired,
      withNullInType,
    ].reduce((fixed, fix) => fix(fixed, at, fixes), place),
  );
}

function checkedReferences(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
    const target = schema[keyword];
    if (target === undefined || (keyword === '$ref' && String(target).startsWith('#'))) continue;
    const hint = 'Copy the referenced schema to this place, or into $defs and write "#/$defs/…".';
    fixes.error(`${path}.${keyword}`, target, 'refers to something outside its schema', hint);
  }
  return schema;
}

const expensiveName = {
  message: 'is too expensive for a pattern of property names',
  hint: 'Write it without look-around, back-references and large repeat counts: ^x-',
};

function checkedPatterns(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const { pattern, patternProperties, maxLength } = schema;
  for (const name of isObject(patternProperties) ? Object.keys(patternProperties) : []) {
    const at = `${path}.patternProperties.${name}`;
    const flaw = patternFlaw(name) ?? (boundFor(name) === undefined ? undefined : expensiveName);
    if (flaw) fixes.error(at, name, flaw.message, flaw.hint);
  }
  if (typeof pattern !== 'string') return schema;
  const flaw = patternFlaw(pattern);
  if (flaw) fixes.error(`${path}.pattern`, pattern, flaw.message, flaw.hint);
  const bound = flaw ? undefined : boundFor(pattern, typeof maxLength === 'number' ? maxLength : undefined);
  const reason = 'this pattern cannot be matched in linear time, so the length of the text must be limited';
  if (bound === undefined) return schema;
  return fixes.set(schema, 'maxLength', bound, path, reason);
}

/** Why a keyword is removed. */
const removed = {
  $schema: dialects,
  $id: dialects,
  $vocabulary: dialects,
  unevaluatedProperties: 'the marketplace ignores it (Ajv 8, draft-07)',
  unevaluatedItems: 'the marketplace ignores it (Ajv 8, draft-07)',
};

function withoutKeywords(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  return Object.entries(removed).reduce(
    (fixed, [keyword, reason]) => fixes.without(fixed, keyword, path, reason),
    schema,
  );
}

/** `[a, b]` by position becomes a list of `a` or `b`. */
function withoutTuple(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const keyword = Array.isArray(schema.prefixItems) ? 'prefixItems' : 'items';
  const positions = schema[keyword];
  if (!Array.isArray(positions)) return fixes.without(schema, 'additionalItems', path, dialects);
  const beyond = keyword === 'prefixItems' ? schema.items : schema.additionalItems;
  const members = [...(positions as readonly Json[]), ...(isObject(beyond) ? [beyond] : [])];
  const distinct = [...new Map(members.map((member) => [JSON.stringify(member), member])).values()];
  const items = distinct.length === 1 && distinct[0] !== undefined ? distinct[0] : { anyOf: distinct };
  const { prefixItems: _, additionalItems: __, ...rest } = schema;
  const lengthLimit: JsonObject =
    beyond === false && schema.maxItems === undefined ? { maxItems: positions.length } : {};
  const fixed: JsonObject = { ...rest, items, ...lengthLimit };
  fixes.change(`${path}.${keyword}`, `${shorten(positions)} became items: ${shorten(items)}`, dialects);
  return fixed;
}

/** `required: true` inside a property becomes its name in the list. */
function withRequiredList(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const marked = propertiesOf(schema).filter(([, property]) => typeof property.required === 'boolean');
  if (marked.length === 0) return schema;
  const names = marked.filter(([, property]) => property.required === true).map(([name]) => name);
  const properties = Object.fromEntries(
    Object.entries(schema.properties as JsonObject).map(([name, property]) => {
      if (!isObject(property) || typeof property.required !== 'boolean') return [name, property];
      const { required: _, ...rest } = property;
      return [name, rest];
    }),
  );
  const required = [...new Set([...requiredOf(schema), ...names])];
  return fixes.set({ ...schema, properties }, 'required', required, path, 'it is a list of names (C§2.1)');
}

/** `true` as the schema of a property becomes `{}`. */
function withPlainProperties(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  if (!isObject(schema.properties) || !Object.values(schema.properties).includes(true)) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    if (property !== true) return [name, property];
    const reason = 'the schema of a property must be an object (C§2.1)';
    fixes.change(`${path}.properties.${name}`, 'true became {}', reason);
    return [name, {}];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** For Ajv, a member that every object inherits (`constructor`) is never absent, so it must be declared. */
function withInheritedNamesRequired(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const required = requiredOf(schema);
  const names = propertiesOf(schema)
    .map(([name]) => name)
    .filter((name) => name in Object.prototype && !required.includes(name));
  if (names.length === 0) return schema;
  const reason = 'JavaScript validators find an inherited member of this name, so it must be declared';
  return fixes.set(schema, 'required', [...required, ...names], path, reason);
}

/** `nullable: true` becomes `null` in the type and in the allowed values. */
function withNullInType(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  if (typeof schema.nullable !== 'boolean') return schema;
  const reason = 'most validators ignore the keyword (docs guides/build-tools.mdx)';
  const fixed = fixes.without(schema, 'nullable', path, reason);
  if (!schema.nullable || fixed.type === undefined) return fixed;
  return withNull(fixed, path, fixes, reason);
}

/** Allows null in `type`, `enum` and `const`, where they forbid it. */
export function withNull(schema: JsonObject, path: string, fixes: Fixes, reason: string): JsonObject {
  let fixed = schema;
  const types = [schema.type ?? []].flat() as Json[];
  if (types.length > 0 && !types.includes('null')) {
    fixed = fixes.set(fixed, 'type', [...types, 'null'], path, reason);
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) {
    fixed = fixes.set(fixed, 'enum', [...schema.enum, null], path, reason);
  }
  if (schema.const !== undefined && schema.const !== null) {
    const { const: only, ...rest } = fixed;
    fixes.change(`${path}.const`, `${shorten(only)} became enum: ${shorten([only, null])}`, reason);
    fixed = { ...rest, enum: [schema.const, null] };
  }
  return fixed;
}
