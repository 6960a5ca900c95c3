import { isObject, objectOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { PlatformProfile } from './profile.ts';

/** Deeper parameters are sent empty; no real tool nests so deep. */
const maximumDepth = 16;

/**
 * The arguments the marketplace's submission test sends to a tool: of every required property (of every property
 * where `required` is absent) its `default`, else `examples[0]`, else `enum[0]`, else a fixed value of its type. A
 * property without one plain type gets `{}` (public source: app contribute/actions.ts).
 */
export function sampleArguments(inputSchema: JsonObject, smoke: PlatformProfile['smoke']): JsonObject {
  const sample = smokeValue(inputSchema, smoke, 0);
  return objectOr(sample);
}

function sampleObject(schema: JsonObject, smoke: PlatformProfile['smoke'], depth: number): JsonObject {
  const properties = objectOr(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  return Object.fromEntries(
    required
      .filter((name): name is string => typeof name === 'string' && Object.hasOwn(properties, name))
      .map((name) => [name, smokeValue(properties[name], smoke, depth + 1)]),
  );
}

function smokeValue(schema: Json | undefined, smoke: PlatformProfile['smoke'], depth: number): Json {
  if (!isObject(schema) || depth > maximumDepth) return {};
  if (schema.default !== undefined) return schema.default;
  for (const candidates of [schema.examples, schema.enum]) {
    if (Array.isArray(candidates) && candidates.length > 0) return candidates[0];
  }
  switch (schema.type) {
    case 'string':
      return smoke.string;
    case 'number':
    case 'integer':
      return smoke.number;
    case 'boolean':
      return smoke.boolean;
    case 'array':
      if (schema.items) return [smokeValue(schema.items, smoke, depth + 1)];
      return [];
    case 'object':
      return sampleObject(schema, smoke, depth);
    default:
      return {};
  }
}
