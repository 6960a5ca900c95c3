import { isObject } from '../contract/json.ts';
import type { JsonObject } from '../contract/model.ts';
import { closest } from '../model/input-error.ts';
import type { Mending } from './fixes.ts';

/** What both schemas have at their root: type object, `properties`, and `required` that names only those (C§2.1). */
export function mendRoot(schema: JsonObject, path: string, mending: Mending): JsonObject {
  const steps = [withObjectType, withProperties, withRequired];
  const mended = steps.reduce((root, step) => step(root, path, mending), schema);
  const properties = isObject(mended.properties) ? mended.properties : {};
  const names = Object.keys(properties);
  if (names.includes('__proto__')) {
    mending.fault(`${path}.properties.__proto__`, undefined, 'no object can hold this key', 'Rename it.');
  }
  for (const name of Array.isArray(mended.required) ? (mended.required as readonly unknown[]) : []) {
    if (typeof name === 'string' && names.includes(name)) continue;
    const near = closest(String(name), names);
    mending.fault(
      `${path}.required`,
      name,
      'is not declared in properties',
      near ? `Did you mean ${near}?` : 'Declare it, or take it out.',
    );
  }
  return mended;
}

function withObjectType(schema: JsonObject, path: string, mending: Mending): JsonObject {
  if (schema.type === 'object') return schema;
  const types = [schema.type ?? 'object'].flat();
  if (types.includes('object')) {
    return mending.set({ ...schema }, 'type', 'object', path, 'the root is exactly "object" (C§2.1)');
  }
  mending.fault(
    `${path}.type`,
    schema.type,
    'the root must be exactly "object" (C§2.1)',
    schema.type === 'array'
      ? 'Put the list into a property: { "type": "object", "properties": { "items": … } }.'
      : 'Put the value into a property of an object.',
  );
  return schema;
}

function withProperties(schema: JsonObject, path: string, mending: Mending): JsonObject {
  if (isObject(schema.properties)) return schema;
  if (schema.properties === undefined)
    return mending.set(schema, 'properties', {}, path, 'it is required (C§2.1)');
  mending.fault(`${path}.properties`, schema.properties, 'is no object', 'Write {} where there are none.');
  return schema;
}

function withRequired(schema: JsonObject, path: string, mending: Mending): JsonObject {
  const why = 'it is a list of names, empty where there are none (C§2.1)';
  if (schema.required === undefined || typeof schema.required === 'boolean') {
    return mending.set(schema, 'required', [], path, why);
  }
  if (!Array.isArray(schema.required)) {
    mending.fault(
      `${path}.required`,
      schema.required,
      'is no list of names',
      'Write [] where there are none.',
    );
    return schema;
  }
  const once = [...new Set(schema.required)];
  return once.length === schema.required.length ? schema : mending.set(schema, 'required', once, path, why);
}
