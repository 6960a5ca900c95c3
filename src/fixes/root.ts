import { closest } from 'market-mcp-contract/command';
import { isObject, type JsonObject, membersOf } from 'market-mcp-contract/json';
import type { Fixes } from './fixes.ts';

/** Gives the root of either schema type object, `properties`, and a `required` that names only those (C§2.1). */
export function fixRoot(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const steps = [withObjectType, withProperties, withRequired];
  const fixed = steps.reduce((root, step) => step(root, path, fixes), schema);
  const names = Object.keys(membersOf(fixed));
  if (names.includes('__proto__')) {
    const message = '__proto__ cannot be a key of an object';
    fixes.error(`${path}.properties.__proto__`, undefined, message, 'Rename it.');
  }
  for (const name of Array.isArray(fixed.required) ? (fixed.required as readonly unknown[]) : []) {
    if (typeof name === 'string' && names.includes(name)) continue;
    const near = closest(String(name), names);
    const hint = near ? `Did you mean ${near}?` : 'Declare it in properties, or remove it from required.';
    fixes.error(`${path}.required`, name, 'is not declared in properties', hint);
  }
  return fixed;
}

const mustBeObject = 'the root must be exactly "object" (C§2.1)';

function withObjectType(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  if (schema.type === 'object') return schema;
  const types = [schema.type ?? 'object'].flat();
  if (types.includes('object')) {
    return fixes.set(schema, 'type', 'object', path, mustBeObject);
  }
  const hint =
    schema.type === 'array'
      ? 'Put the list into a property: { "type": "object", "properties": { "items": … } }.'
      : 'Put the value into a property of an object.';
  fixes.error(`${path}.type`, schema.type, mustBeObject, hint);
  return schema;
}

function withProperties(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  if (isObject(schema.properties)) return schema;
  if (schema.properties === undefined)
    return fixes.set(schema, 'properties', {}, path, 'it is required (C§2.1)');
  fixes.error(`${path}.properties`, schema.properties, 'is not an object', 'Write {} if there are none.');
  return schema;
}

function withRequired(schema: JsonObject, path: string, fixes: Fixes): JsonObject {
  const why = 'it must be a list of names, empty if there are none (C§2.1)';
  if (schema.required === undefined || typeof schema.required === 'boolean') {
    return fixes.set(schema, 'required', [], path, why);
  }
  if (!Array.isArray(schema.required)) {
    const hint = 'Write [] if nothing is required.';
    fixes.error(`${path}.required`, schema.required, 'is not a list of names', hint);
    return schema;
  }
  const once = [...new Set(schema.required)];
  return once.length === schema.required.length ? schema : fixes.set(schema, 'required', once, path, why);
}
