import { isObject, shorten } from '../contract/json.ts';
import { propertiesOf, propertyAlone, requiredOf } from '../contract/keywords.ts';
import type { Json, JsonObject } from '../contract/model.ts';
import { placeholderComment } from '../contract/placeholder.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { tryCompile } from '../contract/schema.ts';
import { sampleArguments } from '../contract/smoke.ts';
import { clientMismatches, fits } from '../model/match.ts';
import { sampleValue, samplingOf } from '../samples/sample-value.ts';
import { type Fixes, rewrite } from './fixes.ts';
import { fixRoot } from './root.ts';

const whyTest = 'the submission test sends it (app contribute/actions.ts)';

/** Makes an inputSchema one that the marketplace can call; its dialect is fixed before. */
export function fixInput(schema: JsonObject, smoke: PlatformProfile['smoke'], fixes: Fixes): JsonObject {
  const rooted = fixRoot(schema, 'inputSchema', fixes);
  if (fixes.errors.length > 0 || !tryCompile(rooted).ok) return rooted;
  const plain = withFittingValues(withPlainTypes(rooted, fixes), fixes);
  const tested = withTestValues(plain, smoke, fixes);
  const [mismatch] = clientMismatches(tested, sampleArguments(tested, smoke), 'arguments');
  if (mismatch && fixes.errors.length === 0) {
    fixes.error(
      'inputSchema',
      sampleArguments(tested, smoke),
      `the submission test would be refused: ${mismatch.path}, expected ${mismatch.expected}`,
      'Give the parameters default values or examples that fit together.',
    );
  }
  return tested;
}

/** A parameter that may be null becomes one that may be left out. */
function withPlainTypes(schema: JsonObject, fixes: Fixes): JsonObject {
  const why = 'a parameter has one plain type (C§2.1); one that is not given is left out';
  const properties = { ...(schema.properties as JsonObject) };
  let required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const types = Array.isArray(property.type) ? (property.type as readonly Json[]) : [];
    const [type, another] = types.filter((one) => one !== 'null');
    if (type === undefined || another !== undefined) continue;
    const path = `inputSchema.properties.${name}`;
    const plain = withoutNull(fixes.set(property, 'type', type, path, why), path, fixes, why);
    properties[name] = plain;
    if (!types.includes('null') || !required.includes(name) || name in Object.prototype) continue;
    required = required.filter((own) => own !== name);
    fixes.change('inputSchema.required', `${name} was taken out`, why);
  }
  return { ...schema, properties, required };
}

function withoutNull(property: JsonObject, path: string, fixes: Fixes, why: string): JsonObject {
  const withoutDefault = property.default === null ? fixes.without(property, 'default', path, why) : property;
  return ['enum', 'examples'].reduce((plain, keyword) => {
    const values = plain[keyword];
    if (!Array.isArray(values) || !values.includes(null)) return plain;
    return fixes.set(
      plain,
      keyword,
      values.filter((value) => value !== null),
      path,
      why,
    );
  }, withoutDefault);
}

/** Takes away each default and example that its own schema refuses: a format that all of them break goes instead. */
function withFittingValues(root: JsonObject, fixes: Fixes): JsonObject {
  return rewrite(root, 'inputSchema', (schema, path) => {
    const { default: fallback, examples, format, ...bare } = schema;
    const list: readonly Json[] = Array.isArray(examples) ? examples : [];
    const given = [...(fallback === undefined ? [] : [fallback]), ...list];
    const strict = format === undefined ? bare : { ...bare, format };
    const unfit = (value: Json) => !fits(root, strict, value);
    if (!given.some(unfit)) return schema;
    const why = "the parameter's own schema refuses it";
    if (format !== undefined && given.every((value) => fits(root, bare, value))) {
      return fixes.without(schema, 'format', path, "the author's own values do not have it");
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
 * Sees to it that the submission test can call the tool: a required parameter without any value gets a placeholder where
 * the test would send one that it refuses.
 */
function withTestValues(schema: JsonObject, smoke: PlatformProfile['smoke'], fixes: Fixes): JsonObject {
  const properties = { ...(schema.properties as JsonObject) };
  const required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const path = `inputSchema.properties.${name}`;
    const [mismatch] = required.includes(name) ? testMismatches(schema, name, property, smoke) : [];
    if (!mismatch) continue;
    const value = sampleValue(property, samplingOf(schema));
    if (value === undefined) {
      const hint = 'Give it a default or examples that fit.';
      fixes.error(
        path,
        mismatch.actual,
        `the submission test sends this: expected ${mismatch.expected}`,
        hint,
      );
      continue;
    }
    properties[name] = { ...property, $comment: placeholderComment, examples: [value] };
    fixes.change(`${path}.examples`, `the placeholder ${shorten([value])} was added`, whyTest);
  }
  return { ...schema, properties };
}

function testMismatches(
  root: JsonObject,
  name: string,
  property: JsonObject,
  smoke: PlatformProfile['smoke'],
) {
  const alone = { ...propertyAlone(root, name, property), required: [name] };
  return clientMismatches(alone, sampleArguments(alone, smoke), 'arguments');
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
