import { isObject, objectOr } from '../json/json.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { type LocatedSchema, schemasIn } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { type StaticRule, valueProblems } from './rule.ts';

/** Whether a value is a string that is not blank. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The problem of a member that must be a text. */
export function textProblems(object: JsonObject, member: string, path = member): readonly Problem[] {
  return valueProblems(isText(object[member]), path, 'a string that is not empty', object[member]);
}

/** The problem of a schema of a tool, at a path, that is missing or whose root is not an object. */
export function rootProblems(schema: unknown, path: string): readonly Problem[] {
  if (schema === undefined) return valueProblems(false, path, 'an object schema', schema);
  const type = isObject(schema) ? schema.type : schema;
  return valueProblems(isObject(schema) && type === 'object', `${path}.type`, '"object"', type);
}

/** The entries of a schema's `required` that its `properties` do not declare. */
export function undeclaredProblems(schema: unknown, path: string): readonly Problem[] {
  if (!isObject(schema) || !Array.isArray(schema.required)) return [];
  const properties = objectOr(schema.properties);
  return schema.required.flatMap((name) => {
    const isDeclared = typeof name === 'string' && Object.hasOwn(properties, name);
    return valueProblems(isDeclared, `${path}.required`, `names of ${path}.properties`, name);
  });
}

/** A tool's inputSchema and everything inside it. */
export function inputSchemas({ inputSchema }: JsonObject): readonly LocatedSchema[] {
  return [...schemasIn(inputSchema, 'inputSchema')];
}

/** A tool's outputSchema and everything inside it. */
export function outputSchemas({ outputSchema }: JsonObject): readonly LocatedSchema[] {
  return [...schemasIn(outputSchema, 'outputSchema')];
}

/** A tool's two schemas and everything inside them. */
export function allSchemas(tool: JsonObject): readonly LocatedSchema[] {
  return [...inputSchemas(tool), ...outputSchemas(tool)];
}

/** A text reduced to its letters and digits, to compare two texts. */
export function normalize(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Whether a value is a list that is not empty. */
export function hasItems(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0;
}

interface SchemaRule extends Omit<StaticRule, 'inspect'> {
  findProblems(place: LocatedSchema): readonly Problem[];
}

/** A rule about every schema inside some of a tool's schemas, themselves included. */
export function ofSchemas(of: typeof allSchemas, { findProblems, ...text }: SchemaRule): StaticRule {
  return { ...text, inspect: (tool) => of(tool).flatMap(findProblems) };
}
