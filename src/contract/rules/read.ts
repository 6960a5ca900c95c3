import { isAscii } from '../ascii.ts';
import { isObject } from '../json.ts';
import type { Json, JsonObject } from '../model.ts';
import { type LocatedSchema, schemasIn } from '../schema/walk.ts';

/** Whether a value is a string that is not blank. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The entries of a schema's `required` that its `properties` do not declare. */
export function undeclared(schema: unknown): readonly unknown[] {
  if (!isObject(schema) || !Array.isArray(schema.required)) return [];
  const { properties } = schema;
  return schema.required.filter(
    (name) => typeof name !== 'string' || !isObject(properties) || !Object.hasOwn(properties, name),
  );
}

/** A tool's two schemas and everything inside them. */
export function allSchemas(tool: JsonObject): readonly LocatedSchema[] {
  return [...schemasIn(tool.inputSchema, 'inputSchema'), ...schemasIn(tool.outputSchema, 'outputSchema')];
}

/** A text reduced to its letters and digits, to compare two texts. */
export function normalize(text: string): string {
  const other = isAscii(text) ? /[^A-Za-z\d]/g : /[^\p{L}\p{N}]/gu;
  return text.toLowerCase().replaceAll(other, '');
}

/** Whether a value is a list that is not empty. */
export function hasItems(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0;
}
