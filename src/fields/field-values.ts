import { combineResults, pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { isObject, type Json, parseJsonText, shorten } from 'market-mcp-contract/json';
import type { FieldType, Shape } from '../model/tool-model.ts';
import { shapeErrors } from './shape.ts';
import type { WrittenValue } from './text-cursor.ts';

/** A number as JSON writes it. */
export const numberPattern = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const numberAlone = new RegExp(`^${numberPattern}$`);

/** A written value converted to the shape's type, or the reason why that is impossible. */
export function typedValue(
  shape: Shape,
  writtenValue: WrittenValue,
):
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly hint: string } {
  const value = 'json' in writtenValue ? (writtenValue.json as Json) : bareValue(shape, writtenValue.bare);
  if (value !== undefined && hasType(value, shape)) return { ok: true, value };
  const shownValue = shorten('bare' in writtenValue ? writtenValue.bare : writtenValue.json);
  return {
    ok: false,
    message: `${shownValue} is not ${typeNames[shape.type]}`,
    hint: `Write ${exampleOf[shape.type]}.`,
  };
}

/** Parses a whole text as a value of a shape: JSON, or plain as in the field language. */
export function parseValue(text: string, shape: Shape, location: string): Result<Json> {
  const value = typedValue(shape, writtenIn(text.trim(), shape));
  if (!value.ok) return reject(location, text, value.message, value.hint);
  const errors = shapeErrors({ ...shape, default: value.value }, location);
  if (errors.length > 0) return refuse(...errors);
  return pass(value.value);
}

/** Values separated by `|`, and by commas too unless they are lists or objects. Quotes protect both separators. */
export function parseValues(text: string, shape: Shape, location: string): Result<readonly Json[]> {
  const isScalar = shape.type !== 'array' && shape.type !== 'object';
  const separator = isScalar && !text.includes('|') ? ',' : '|';
  const parts = separator === ',' ? (text.match(/(?:"(?:[^"\\]|\\.)*"|[^,])+/g) ?? [text]) : text.split('|');
  return combineResults(parts.map((part) => parseValue(part, shape, location)));
}

function writtenIn(text: string, shape: Shape): WrittenValue {
  const looksLikeJson = shape.type === 'string' ? /^".*"$/s.test(text) : /^["[{]/.test(text);
  const [json] = looksLikeJson ? parseJsonText(text) : [];
  if (json === undefined) return { bare: text };
  return { json };
}

const typeNames: { readonly [type in FieldType]: string } = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'a list',
};

const exampleOf: { readonly [type in FieldType]: string } = {
  string: 'BTC, or "in quotes"',
  number: 'a number such as 1.5',
  integer: 'a whole number such as 10',
  boolean: 'true or false',
  object: '{"key":"value"}',
  array: '["a","b"]',
};

function bareValue(shape: Shape, text: string): Json | undefined {
  if (shape.nullable && text === 'null') return null;
  if (shape.type === 'string') return text;
  if (shape.type === 'boolean') return ['true', 'false'].includes(text) ? text === 'true' : undefined;
  if (shape.type === 'number' || shape.type === 'integer')
    return numberAlone.test(text) ? Number(text) : undefined;
  if (shape.type === 'array' && shape.items) {
    const { items } = shape;
    const values = text.split(',').map((part) => bareValue(items, part));
    if (values.every((value) => value !== undefined)) return values;
    return undefined;
  }
  return undefined;
}

function hasType(value: Json, { type, nullable }: Shape): boolean {
  if (value === null) return nullable === true;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type && (type !== 'number' || Number.isFinite(value));
}
