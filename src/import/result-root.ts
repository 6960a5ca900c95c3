import { signals } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, membersOf, requiredOf } from 'market-mcp-contract/json';
import { listResult } from '../tools/definition.ts';

export type Wrap = 'items' | 'result' | null;

/**
 * The member of a result that must contain the answer of an API, null if the answer can be the result. The root of an outputSchema is an
 * object (C§2.1), and callers read a member with the name of a signal as the sign of an empty or failed call (C§2.2).
 */
export function requiredWrap(schema: JsonObject, examples: readonly Json[]): Wrap {
  if (schema.type === 'array') return 'items';
  const { properties } = schema;
  if (schema.type !== 'object' || !isObject(properties) || schema.additionalProperties !== undefined)
    return 'result';
  const isTaken = Object.entries(signals).some(([name, { type }]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isNoSignal = (value: Json) =>
      isObject(value) && Object.hasOwn(value, name) && (name === 'error' || typeof value[name] !== type);
    const isDeclared = isObject(property) && property.type === type && property.enum === undefined;
    return (property !== undefined && (name === 'error' || !isDeclared)) || examples.some(isNoSignal);
  });
  if (isTaken) return 'result';
  return null;
}

/** `properties` and `required` of the result. @param description of the answer, if its schema has none */
export function answerRoot(
  schema: JsonObject,
  wrap: Wrap,
  description = 'What the API answers.',
): JsonObject {
  const result = { description, ...schema };
  if (wrap === 'items') return listResult(result);
  if (wrap === 'result') return { properties: { result }, required: ['result'] };
  // The signals are never required.
  const required = requiredOf(schema).filter((name) => !Object.hasOwn(signals, name));
  return { properties: membersOf(schema), required };
}
