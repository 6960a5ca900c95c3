import { isObject, shorten } from '../contract/json.ts';
import { propertiesOf, propertyAlone, requiredOf } from '../contract/keywords.ts';
import type { Json, JsonObject } from '../contract/model.ts';
import { placeholderComment } from '../contract/placeholder.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { tryCompile } from '../contract/schema.ts';
import { sampleArguments } from '../contract/smoke.ts';
import { fits, mismatches } from '../model/match.ts';
import { sampleValue, samplingOf } from '../samples/sample-value.ts';
import { type Mending, rewrite } from './fixes.ts';
import { mendRoot } from './root.ts';

const whyTest = 'the submission test sends it (app contribute/actions.ts)';

/** Makes an inputSchema one that the marketplace can call; its dialect is mended before. */
export function mendInput(schema: JsonObject, smoke: PlatformProfile['smoke'], mending: Mending): JsonObject {
  const rooted = mendRoot(schema, 'inputSchema', mending);
  if (mending.faults.length > 0 || !tryCompile(rooted).ok) return rooted;
  const plain = withFittingValues(withPlainTypes(rooted, mending), mending);
  const tested = withTestValues(plain, smoke, mending);
  const [misfit] = mismatches(tested, sampleArguments(tested, smoke), 'arguments');
  if (misfit && mending.faults.length === 0) {
    mending.fault(
      'inputSchema',
      sampleArguments(tested, smoke),
      `the submission test would be refused: ${misfit.path}, expected ${misfit.expected}`,
      'Give the parameters default values or examples that fit together.',
    );
  }
  return tested;
}

/** A parameter that may be null becomes one that may be left out. */
function withPlainTypes(schema: JsonObject, mending: Mending): JsonObject {
  const why = 'a parameter has one plain type (C§2.1); one that is not given is left out';
  const properties = { ...(schema.properties as JsonObject) };
  let required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const types = Array.isArray(property.type) ? (property.type as readonly Json[]) : [];
    const [type, another] = types.filter((one) => one !== 'null');
    if (type === undefined || another !== undefined) continue;
    const path = `inputSchema.properties.${name}`;
    const plain = withoutNull(mending.set(property, 'type', type, path, why), path, mending, why);
    properties[name] = plain;
    if (!types.includes('null') || !required.includes(name) || name in Object.prototype) continue;
    required = required.filter((own) => own !== name);
    mending.change('inputSchema.required', `${name} was taken out`, why);
  }
  return { ...schema, properties, required };
}

function withoutNull(property: JsonObject, path: string, mending: Mending, why: string): JsonObject {
  const withoutDefault =
    property.default === null ? mending.without(property, 'default', path, why) : property;
  return ['enum', 'examples'].reduce((plain, keyword) => {
    const values = plain[keyword];
    if (!Array.isArray(values) || !values.includes(null)) return plain;
    return mending.set(
      plain,
      keyword,
      values.filter((value) => value !== null),
      path,
      why,
    );
  }, withoutDefault);
}

/** Takes away each default and example that its own schema refuses: a format that all of them break goes instead. */
function withFittingValues(root: JsonObject, mending: Mending): JsonObject {
  return rewrite(root, 'inputSchema', (schema, path) => {
    const { default: fallback, examples, format, ...bare } = schema;
    const list: readonly Json[] = Array.isArray(examples) ? examples : [];
    const given = [...(fallback === undefined ? [] : [fallback]), ...list];
    const strict = format === undefined ? bare : { ...bare, format };
    const unfit = (value: Json) => !fits(root, strict, value);
    if (!given.some(unfit)) return schema;
    const why = "the parameter's own schema refuses it";
    if (format !== undefined && given.every((value) => fits(root, bare, value))) {
      return mending.without(schema, 'format', path, "the author's own values do not have it");
    }
    const kept = list.filter((value) => !unfit(value));
    const mended =
      fallback !== undefined && unfit(fallback) ? mending.without(schema, 'default', path, why) : schema;
    if (kept.length === list.length) return mended;
    if (kept.length === 0) return mending.without(mended, 'examples', path, why);
    return mending.set(mended, 'examples', kept, path, why);
  });
}

/**
 * Sees to it that the submission test can call the tool: a required parameter without any value gets a placeholder where
 * the test would send one that it refuses.
 */
function withTestValues(schema: JsonObject, smoke: PlatformProfile['smoke'], mending: Mending): JsonObject {
  const properties = { ...(schema.properties as JsonObject) };
  const required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const path = `inputSchema.properties.${name}`;
    const [misfit] = required.includes(name) ? testMisfits(schema, name, property, smoke) : [];
    if (!misfit) continue;
    const value = sampleValue(property, samplingOf(schema));
    if (value === undefined) {
      const hint = 'Give it a default or examples that fit.';
      mending.fault(path, misfit.actual, `the submission test sends this: expected ${misfit.expected}`, hint);
      continue;
    }
    properties[name] = { ...property, $comment: placeholderComment, examples: [value] };
    mending.change(`${path}.examples`, `the placeholder ${shorten([value])} was added`, whyTest);
  }
  return { ...schema, properties };
}

function testMisfits(root: JsonObject, name: string, property: JsonObject, smoke: PlatformProfile['smoke']) {
  const alone = { ...propertyAlone(root, name, property), required: [name] };
  return mismatches(alone, sampleArguments(alone, smoke), 'arguments');
}

/** The inputSchema of a tool that declares none. */
export function inputOf(definition: JsonObject, mending: Mending): JsonObject | undefined {
  const { inputSchema } = definition;
  if (isObject(inputSchema)) return inputSchema;
  const none = { type: 'object', properties: {}, required: [] };
  if (inputSchema === undefined) {
    mending.change('inputSchema', `${shorten(none)} was added`, 'it is required (C§2.1)');
    return none;
  }
  mending.fault('inputSchema', inputSchema, 'is no JSON Schema object', `Write ${JSON.stringify(none)}.`);
  return undefined;
}
