import type { Json, JsonObject } from '../contract/model.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { isObject, misfits, shorten, tryCompile } from '../contract/schema.ts';
import { sampleArguments } from '../contract/smoke.ts';
import { mendRoot } from './mend-root.ts';
import { type Mending, propertiesOf, propertyAlone, requiredOf } from './mending.ts';
import { sampleValue } from './sample-value.ts';

const whyTest = 'the submission test sends it (app contribute/actions.ts)';

/** Makes an inputSchema one that the marketplace can call; its dialect is mended before. */
export function mendInput(schema: JsonObject, smoke: PlatformProfile['smoke'], mending: Mending): JsonObject {
  const rooted = mendRoot(schema, 'inputSchema', mending);
  if (mending.faults.length > 0 || !tryCompile(rooted).ok) return rooted;
  const plain = withPlainTypes(rooted, mending);
  const tested = withTestValues(plain, smoke, mending);
  const [misfit] = misfits(tested, sampleArguments(tested, smoke), 'arguments');
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

/** Adds an example to parameters that would otherwise be tested with a value they refuse. */
function withTestValues(schema: JsonObject, smoke: PlatformProfile['smoke'], mending: Mending): JsonObject {
  const properties = { ...(schema.properties as JsonObject) };
  const required = requiredOf(schema);
  for (const [name, property] of propertiesOf(schema)) {
    const path = `inputSchema.properties.${name}`;
    const [misfit] = testMisfits(schema, name, property, smoke);
    if (!misfit) continue;
    const given = ['default', 'examples', 'enum'].find((keyword) => property[keyword] !== undefined);
    const place = { root: schema, path, name, index: 0, depth: 1, missing: [] };
    const value = given === undefined ? sampleValue(property, place) : undefined;
    const mended = value === undefined ? property : { ...property, examples: [value] };
    if (value !== undefined && testMisfits(schema, name, mended, smoke).length === 0) {
      properties[name] = mended;
      mending.change(`${path}.examples`, `${shorten([value])} was added`, whyTest);
    } else if (given !== undefined) {
      const value = given === 'default' ? property.default : [property[given]].flat()[0];
      const at = given === 'default' ? `${path}.default` : `${path}.${given}[0]`;
      mending.fault(at, value, `does not fit its own parameter: expected ${misfit.expected}`, 'Correct it.');
    } else if (required.includes(name)) {
      const hint = 'Give it a default or examples that fit.';
      mending.fault(path, misfit.actual, `the submission test sends this: expected ${misfit.expected}`, hint);
    }
  }
  return { ...schema, properties };
}

function testMisfits(root: JsonObject, name: string, property: JsonObject, smoke: PlatformProfile['smoke']) {
  const alone = { ...propertyAlone(root, name, property), required: [name] };
  return misfits(alone, sampleArguments(alone, smoke), 'arguments');
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
