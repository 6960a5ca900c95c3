import { blankResult, signals } from 'market-mcp-contract/definition';
import {
  aloneName,
  childPointer,
  clientMismatches,
  isObject,
  type JsonObject,
  membersOf,
  propertyAlone,
  requiredOf,
  shorten,
} from 'market-mcp-contract/json';
import { fixDefinitions, fixMap, withReferences } from './definitions.ts';
import { withNull } from './dialect-fixes.ts';
import { Fixes, fixRoot } from './fixes.ts';

const whyBlank = 'an empty result or a failure must match the schema, too (C§2.2, C§7)';

/** The signals of an empty result and of a failure, with typical texts. */
const signalled: readonly JsonObject[] = [
  { searchExhausted: true, noResultsReason: 'The source has no data for these arguments.' },
  { error: 'SOURCE_UNAVAILABLE', message: 'The data source did not answer. Try again later.' },
];

/** Fixes an outputSchema so that it allows all three outcomes of a call; its dialect is fixed before. */
export function fixOutput(schema: JsonObject, fixes: Fixes): JsonObject {
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not']) {
    if (schema[keyword] === undefined) continue;
    const hint = 'Write one object, and turn the alternatives into optional or nullable properties.';
    const message = 'a union at the root is rejected (C§2.1)';
    fixes.error(`outputSchema.${keyword}`, schema[keyword], message, hint);
  }
  const inlinedSchema = fixDefinitions(fixMap(schema, fixes), fixes);
  const rooted = fixRoot(inlinedSchema, 'outputSchema', fixes);
  const signalSchema = allowBlank(addSignals(rooted, fixes), fixes);
  if (fixes.errors.length > 0) return signalSchema;
  return allowSignals(signalSchema, fixes);
}

/** Allows every required property to be empty, by null if necessary, so that `blankResult` finds a valid answer. */
export function allowBlank(schema: JsonObject, fixes: Fixes = new Fixes('', '')): JsonObject {
  const properties = { ...membersOf(schema) };
  const moved: string[] = [];
  for (const name of requiredOf(schema)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isObject(property) || canBeBlank(schema, property)) continue;
    const path = `outputSchema.properties.${name}`;
    const nullable = withNull(property, path, fixes, whyBlank);
    if (canBeBlank(schema, nullable)) properties[name] = nullable;
    else {
      properties[name] = orNull(nullable, path, fixes);
      moved.push(childPointer('#/properties', name));
    }
  }
  return moved.reduce((result, from) => withReferences(result, from, `${from}/anyOf/0`), {
    ...schema,
    properties,
  } as JsonObject);
}

/** Keywords that do not concern null and the empty list, beyond what `blankResult` handles. */
const harmless = new Set(
  'type title description enum default examples format pattern minLength maxLength minimum maximum minItems items'.split(
    ' ',
  ),
);

/** Whether the value that `blankResult` gives a property matches its schema. */
function canBeBlank(root: JsonObject, property: JsonObject): boolean {
  const objectSchema = { ...propertyAlone(root, aloneName, property), required: [aloneName] };
  const blank = blankResult(objectSchema);
  if (blank.ok && Object.keys(property).every((keyword) => harmless.has(keyword))) return true;
  return blank.ok && clientMismatches(objectSchema, blank.result, '').length === 0;
}

/** For schemas with more than a type: references and unions. */
function orNull(property: JsonObject, path: string, fixes: Fixes): JsonObject {
  const { description, title, ...rest } = property;
  const texts = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  fixes.change(path, `${shorten(rest)} became anyOf: that schema, or null`, whyBlank);
  return { ...texts, anyOf: [rest, { type: 'null' }] };
}

function addSignals(schema: JsonObject, fixes: Fixes): JsonObject {
  const properties = membersOf(schema);
  const missing = Object.entries(signals).filter(([name]) => !Object.hasOwn(properties, name));
  if (missing.length === 0) return schema;
  const change = `${missing.map(([name]) => name).join(', ')} ${missing.length > 1 ? 'were' : 'was'} added`;
  const reason = 'callers recognize an empty result or a failure by them (C§2.2)';
  fixes.change('outputSchema.properties', change, reason);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(missing) } };
}

/** Removes keywords that forbid the signals at the root, and reports those that cannot be removed. */
function allowSignals(schema: JsonObject, fixes: Fixes): JsonObject {
  let fixed = schema;
  for (const keyword of ['maxProperties', 'propertyNames', 'dependencies', 'dependentRequired']) {
    const { [keyword]: limit, ...rest } = fixed;
    if (limit === undefined || signalMismatches(fixed).length <= signalMismatches(rest).length) continue;
    fixed = fixes.without(fixed, keyword, 'outputSchema', whyBlank);
  }
  for (const { path = '', expected } of signalMismatches(fixed).slice(0, 3)) {
    const name = path.split(/[.[]/)[1] ?? '';
    const at = Object.hasOwn(signals, name) ? `outputSchema.properties.${name}` : 'outputSchema';
    const hint = Object.hasOwn(signals, name)
      ? `Rename your field ${name}: callers read it as the signal of an empty result or a failure.`
      : 'Remove all requirements of the schema other than types and required.';
    const message = `an empty result or a failure does not match: ${path || 'it'} needs ${expected}`;
    fixes.error(at, undefined, message, hint);
  }
  return fixed;
}

function signalMismatches(schema: JsonObject) {
  const blank = blankResult(schema);
  const result = blank.ok ? blank.result : {};
  return signalled.flatMap((signal) => clientMismatches(schema, { ...result, ...signal }, ''));
}
