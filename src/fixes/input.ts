import { placeholderComment } from 'market-mcp-contract/definition';
import {
  below,
  clientMismatches,
  fits,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  propertiesOf,
  propertyAlone,
  requiredOf,
  shorten,
  tryCompile,
} from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { sampleArguments } from 'market-mcp-contract/wire';
import { sampleValue, samplingOf } from '../samples/sample-value.ts';
import { withReferences } from './definitions.ts';
import { type Fixes, fixRoot, rewrite } from './fixes.ts';

const whyTest = 'the submission test sends this value (app contribute/actions.ts)';

/** Fixes an inputSchema so that the marketplace can call the tool; its dialect is fixed before. */
export function fixInput(schema: JsonObject, smoke: PlatformProfile['smoke'], fixes: Fixes): JsonObject {
  const rooted = fixRoot(schema, 'inputSchema', fixes);
  if (fixes.errors.length > 0 || !tryCompile(rooted).ok) return rooted;
  const plain = withFittingValues(withPlainTypes(rooted, fixes), fixes);
  const tested = withTestValues(plain, smoke, fixes);
  const [mismatch] = clientMismatches(tested, sampleArguments(tested, smoke), 'arguments');
  if (mismatch && fixes.errors.length === 0) {
    const { path, expected } = mismatch;
    const message = `the tool would refuse the arguments of the submission test: ${path}, expected ${expected}`;
    const hint = 'Give the parameters defaults or examples that are valid together.';
    fixes.error('inputSchema', sampleArguments(tested, smoke), message, hint);
  }
  return tested;
}

/** Turns a parameter that may be null into an optional one. */
function withPlainTypes(schema: JsonObject, fixes: Fixes): JsonObject {
  let whole = schema;
  let required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const path = `inputSchema.properties.${name}`;
    const { alone, at } = required.includes(name) ? withoutUnion(property, path, fixes) : { alone: property };
    const types = Array.isArray(alone.type) ? (alone.type as readonly Json[]) : [];
    const [type, another] = types.filter((one) => one !== 'null');
    const isList = type !== undefined && another === undefined;
    if (!isList && at === undefined) continue;
    const typed = isList ? fixes.set(alone, 'type', type, path, whyPlain) : alone;
    const plain = withoutNull(typed, path, fixes, whyPlain);
    whole = { ...whole, properties: { ...membersOf(whole), [name]: plain } };
    const place = below('#/properties', name);
    if (at !== undefined) whole = withReferences(whole, `${place}/${at}`, place);
    const isNullable = at !== undefined || types.includes('null');
    if (!isNullable || !required.includes(name) || name in Object.prototype) continue;
    required = required.filter((own) => own !== name);
    fixes.change('inputSchema.required', `${name} was removed`, whyPlain);
  }
  return { ...whole, required };
}

const whyPlain = 'a parameter has exactly one type (C§2.1); without a value it is left out';

/** A union of a schema and null as that schema, which was `at` a place in the parameter. An optional one may keep null. */
function withoutUnion(property: JsonObject, path: string, fixes: Fixes) {
  const { anyOf, ...beside } = property;
  const members: readonly Json[] = Array.isArray(anyOf) ? anyOf : [];
  const isNull = (member: Json) => isObject(member) && member.type === 'null';
  const index = members.findIndex((member) => !isNull(member));
  const member = members[index];
  const isPlain = members.length === 2 && members.some(isNull) && isObject(member);
  const clashes = isPlain && Object.keys(member).some((key) => key !== 'description' && key in beside);
  if (!isPlain || clashes) return { alone: property };
  fixes.change(path, `anyOf ${shorten(anyOf)} became ${shorten(member)}`, whyPlain);
  return { alone: { ...member, ...beside }, at: `anyOf/${index}` };
}

function withoutNull(property: JsonObject, path: string, fixes: Fixes, why: string): JsonObject {
  const withoutDefault = property.default === null ? fixes.without(property, 'default', path, why) : property;
  return ['enum', 'examples'].reduce((plain, keyword) => {
    const values = plain[keyword];
    if (!Array.isArray(values) || !values.includes(null)) return plain;
    const kept = values.filter((value) => value !== null);
    return fixes.set(plain, keyword, kept, path, why);
  }, withoutDefault);
}

/** Removes each default and example that does not match its schema; if all violate the format, removes the format. */
function withFittingValues(root: JsonObject, fixes: Fixes): JsonObject {
  return rewrite(root, 'inputSchema', (schema, path) => {
    const { default: fallback, examples, format, ...bare } = schema;
    const list: readonly Json[] = Array.isArray(examples) ? examples : [];
    const given = [...(fallback === undefined ? [] : [fallback]), ...list];
    const unfit = (value: Json) => !fits(root, schema, value);
    if (!given.some(unfit)) return schema;
    const why = "it does not match the parameter's schema";
    if (format !== undefined && given.every((value) => fits(root, bare, value))) {
      return fixes.without(schema, 'format', path, "the author's own values do not match it");
    }
    const kept = list.filter((value) => !unfit(value));
    const fixed =
      fallback !== undefined && unfit(fallback) ? fixes.without(schema, 'default', path, why) : schema;
    if (kept.length === list.length) return fixed;
    if (kept.length === 0) return fixes.without(fixed, 'examples', path, why);
    return fixes.set(fixed, 'examples', kept, path, why);
  });
}

/**
 * Ensures that the submission test can call the tool: a required parameter without any value gets a placeholder if
 * the tool would refuse the value of the test.
 */
function withTestValues(schema: JsonObject, smoke: PlatformProfile['smoke'], fixes: Fixes): JsonObject {
  const properties = { ...(schema.properties as JsonObject) };
  const required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const path = `inputSchema.properties.${name}`;
    if (!required.includes(name)) continue;
    const alone = { ...propertyAlone(schema, name, property), required: [name] };
    const [mismatch] = clientMismatches(alone, sampleArguments(alone, smoke), 'arguments');
    if (!mismatch) continue;
    const value = sampleValue(property, samplingOf(schema));
    if (value === undefined) {
      const message = `the submission test sends this value, but the schema expects ${mismatch.expected}`;
      const hint = 'Give it a default or examples that match its schema.';
      fixes.error(path, mismatch.actual, message, hint);
      continue;
    }
    properties[name] = { ...property, $comment: placeholderComment, examples: [value] };
    fixes.change(`${path}.examples`, `the placeholder ${shorten([value])} was added`, whyTest);
  }
  return { ...schema, properties };
}

/** The inputSchema of a tool that declares none. */
export function inputOf(definition: JsonObject, fixes: Fixes): JsonObject | undefined {
  const { inputSchema } = definition;
  if (isObject(inputSchema)) return inputSchema;
  const none = { type: 'object', properties: {}, required: [] };
  if (inputSchema === undefined) {
    fixes.change('inputSchema', `${shorten(none)} was added`, 'it is required (C§2.1)');
    return none;
  }
  fixes.error('inputSchema', inputSchema, 'is not a JSON Schema object', `Write ${JSON.stringify(none)}.`);
  return undefined;
}
