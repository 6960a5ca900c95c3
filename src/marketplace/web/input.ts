import { isObject, jsonIn } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import { membersOf, requiredOf } from '../../contract/schema/keywords.ts';
import { MarketError } from '../core/errors.ts';
import type { Input } from './security.ts';

/** A field as text; empty if it is absent. */
export function textOf(input: Input, name: string): string {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (typeof value === 'string') return value.replaceAll('\r\n', '\n');
  return typeof value === 'number' ? String(value) : '';
}

/** All values of a field as text. */
export function textsOf(input: Input, name: string): readonly string[] {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  return [value].flat().filter((text): text is string => typeof text === 'string');
}

/** Parses JSON from a field. @throws MarketError `BAD_JSON` that names the field. */
export function jsonOf(text: string, field: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    const hint = 'Write JSON: {"name": "value"}';
    throw new MarketError('BAD_JSON', `${field}: ${(error as Error).message}`, hint);
  }
}

/**
 * The arguments in a form for an inputSchema: each text is converted to its property's type. A text that cannot be
 * converted is sent as it is; the server has to refuse it. Empty fields are omitted, except required texts.
 */
export function argumentsOf(input: Input, inputSchema: Json | undefined): JsonObject {
  const required = requiredOf(inputSchema);
  const entries = Object.entries(membersOf(inputSchema)).flatMap(([name, property]): [string, Json][] => {
    const text = textOf(input, `arg.${name}`);
    const type = isObject(property) ? property.type : undefined;
    if (text.trim() === '' && !(type === 'string' && required.includes(name))) return [];
    return [[name, readAs(text, isObject(property) ? property : {})]];
  });
  return Object.fromEntries(entries);
}

function readAs(text: string, { type, enum: choices }: JsonObject): Json {
  if (Array.isArray(choices)) {
    const chosen = choices.find(
      (choice) => text === (typeof choice === 'string' ? choice : JSON.stringify(choice)),
    );
    if (chosen !== undefined) return chosen;
  }
  if (type === 'string') return text;
  const [value = text] = jsonIn(text);
  return value;
}
