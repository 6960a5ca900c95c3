import { placeholderComment } from 'market-mcp-contract/definition';
import {
  childPointer,
  clientMismatches,
  isObject,
  type Json,
  type JsonObject,
  matchesWithin,
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
export function fixInput(schema: JsonObject, testValues: PlatformProfile['smoke'], fixes: Fixes): JsonObject {
  const rooted = fixRoot(schema, 'inputSchema', fixes);
  if (fixes.errors.length > 0 || !tryCompile(rooted).ok) return rooted;
  const plainSchema = withFittingValues(withPlainTypes(rooted, fixes), fixes);
  const tested = withTestValues(plainSchema, testValues, fixes);
  const [mismatch] = clientMismatches(tested, sampleArguments(tested, testValues), 'arguments');
  if (mismatch && fixes.errors.length === 0) {
    const { path, expected } = mismatch;
    const message = `the tool would refuse the arguments of the submission test: ${path}, expected ${expected}`;
    const hint = 'Give the parameters defaults or examples that are valid together.';
    fixes.error('inputSchema', sampleArguments(tested, testValues), message, hint);
  }
  return tested;
}

/** Turns a parameter that may be null into an optional one. */
function withPlainTypes(schema: JsonObject, fixes: Fixes): JsonObject {
  let result = schema;
  let required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const isRequired = required.includes(name);
    const plainProperty = withPlainType(property, isRequired, `inputSchema.properties.${name}`, fixes);
    if (!plainProperty) continue;
    const { schema: plainSchema, at, isNullable } = plainProperty;
    result = { ...result, properties: { ...membersOf(result), [name]: plainSchema } };
    const pointer = childPointer('#/properties', name);
    if (at !== undefined) result = withReferences(result, `${pointer}/${at}`, pointer);
    if (!isNullable || !isRequired || name in Object.prototype) continue;
    required = required.filter((requiredName) => requiredName !== name);
    fixes.change('inputSchema.required', `${name} was removed`, plainTypeReason);
  }
  return { ...result, required };
}

const plainTypeReason = 'a parameter has exactly one type (C§2.1); without a value it is left out';

/** A union of a schema and null as that schema, which was `at` a place in the parameter. An optional one may keep null. */
function withoutUnion(property: JsonObject, path: string, fixes: Fixes) {
  const { anyOf, ...siblings } = property;
  const members: readonly Json[] = Array.isArray(anyOf) ? anyOf : [];
  const isNull = (member: Json) => isObject(member) && member.type === 'null';
  const index = members.findIndex((member) => !isNull(member));
  const member = members[index];
  const isPlain = members.length === 2 && members.some(isNull) && isObject(member);
  const clashes = isPlain && Object.keys(member).some((key) => key !== 'description' && key in siblings);
  if (!isPlain || clashes) return { variant: property };
  fixes.change(path, `anyOf ${shorten(anyOf)} became ${shorten(member)}`, plainTypeReason);
  return { variant: { ...member, ...siblings }, at: `anyOf/${index}` };
}

function withoutNull(property: JsonObject, path: string, fixes: Fixes, reason: string): JsonObject {
  const withoutDefault =
    property.default === null ? fixes.without(property, 'default', path, reason) : property;
  return ['enum', 'examples'].reduce((result, keyword) => {
    const values = result[keyword];
    if (!Array.isArray(values) || !values.includes(null)) return result;
    const keptValues = values.filter((value) => value !== null);
    return fixes.set(result, keyword, keptValues, path, reason);
  }, withoutDefault);
}

interface PlainProperty {
  readonly schema: JsonObject;
  /** The part of a union that the schema was: `anyOf/0`. */
  readonly at: string | undefined;
  readonly isNullable: boolean;
}

/** A property with one type that may not be null; undefined if it already has one, or several types. */
function withPlainType(
  property: JsonObject,
  isRequired: boolean,
  path: string,
  fixes: Fixes,
): PlainProperty | undefined {
  const { variant, at } = isRequired ? withoutUnion(property, path, fixes) : { variant: property };
  const types = Array.isArray(variant.type) ? (variant.type as readonly Json[]) : [];
  const [type, otherType] = types.filter((type) => type !== 'null');
  const isList = type !== undefined && otherType === undefined;
  if (!isList && at === undefined) return undefined;
  const typed = isList ? fixes.set(variant, 'type', type, path, plainTypeReason) : variant;
  const schema = withoutNull(typed, path, fixes, plainTypeReason);
  return { schema, at, isNullable: at !== undefined || types.includes('null') };
}

/** Removes each default and example that does not match its schema; if all violate the format, removes the format. */
function withFittingValues(root: JsonObject, fixes: Fixes): JsonObject {
  return rewrite(root, 'inputSchema', (schema, path) => fixValues(root, schema, path, fixes));
}

function fixValues(root: JsonObject, schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const { default: fallback, examples, format, ...bareSchema } = schema;
  const list: readonly Json[] = Array.isArray(examples) ? examples : [];
  const authorsValues = fallback === undefined ? list : [fallback, ...list];
  const isUnfit = (value: Json) => !matchesWithin(root, schema, value);
  if (!authorsValues.some(isUnfit)) return schema;
  const reason = "it does not match the parameter's schema";
  if (format !== undefined && authorsValues.every((value) => matchesWithin(root, bareSchema, value))) {
    return fixes.without(schema, 'format', path, "the author's own values do not match it");
  }
  const fittingValues = list.filter((value) => !isUnfit(value));
  const hasUnfitDefault = fallback !== undefined && isUnfit(fallback);
  const fixed = hasUnfitDefault ? fixes.without(schema, 'default', path, reason) : schema;
  if (fittingValues.length === list.length) return fixed;
  if (fittingValues.length === 0) return fixes.without(fixed, 'examples', path, reason);
  return fixes.set(fixed, 'examples', fittingValues, path, reason);
}

/**
 * Ensures that the submission test can call the tool: a required parameter without any value gets a placeholder if
 * the tool would refuse the value of the test.
 */
function withTestValues(schema: JsonObject, testValues: PlatformProfile['smoke'], fixes: Fixes): JsonObject {
  const properties = { ...(schema.properties as JsonObject) };
  const required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const path = `inputSchema.properties.${name}`;
    if (!required.includes(name)) continue;
    const objectSchema = { ...propertyAlone(schema, name, property), required: [name] };
    const [mismatch] = clientMismatches(objectSchema, sampleArguments(objectSchema, testValues), 'arguments');
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
export function requireInput(definition: JsonObject, fixes: Fixes): JsonObject | undefined {
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
