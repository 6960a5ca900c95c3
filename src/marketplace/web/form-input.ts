import { isDeepStrictEqual } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';
import {
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  propertiesOf,
  readJson,
  requiredOf,
} from 'market-mcp-contract/json';
import { exactJsonIn } from '../core/answer-values.ts';
import type { FormInput } from './security.ts';

/** A field as text; empty if it is absent. */
export function inputText(input: FormInput, name: string): string {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  if (typeof value === 'string') return value.replaceAll('\r\n', '\n');
  if (typeof value === 'number') return String(value);
  return '';
}

/** All values of a field as text. */
export function fieldTexts(input: FormInput, name: string): readonly string[] {
  const value = Object.hasOwn(input, name) ? input[name] : undefined;
  return [value].flat().filter((text): text is string => typeof text === 'string');
}

/** Parses JSON from a field. @throws CommandError `BAD_JSON` that names the field. */
export function parseJsonField(text: string, field: string): Json {
  const reading = readJson(text, { exact: true });
  if (reading.ok) return reading.value as Json;
  const hint = reading.kind === 'number' ? 'Write the number in quotes.' : 'Write JSON: {"name": "value"}';
  throw new CommandError('BAD_JSON', `${field}: ${reading.flaw}`, hint);
}

/**
 * The arguments in a form for an inputSchema: each text is converted to its property's type. A text that cannot be
 * converted is sent unchanged; the server has to refuse it. Empty fields are omitted, except required texts.
 */
export function argumentsOf(input: FormInput, inputSchema: Json | undefined): JsonObject {
  const required = requiredOf(inputSchema);
  const entries = Object.entries(membersOf(inputSchema)).flatMap(([name, property]): [string, Json][] => {
    const text = inputText(input, `arg.${name}`);
    const type = isObject(property) ? property.type : undefined;
    if (text.trim() === '' && !(type === 'string' && required.includes(name))) return [];
    return [[name, readAs(text, isObject(property) ? property : {})]];
  });
  return Object.fromEntries(entries);
}

function readAs(text: string, { type, enum: choices }: JsonObject): Json {
  if (Array.isArray(choices)) {
    const chosenValue = choices.find((choice) => text === fieldText(choice));
    if (chosenValue !== undefined) return chosenValue;
  }
  if (type === 'string') return text;
  const [value = text] = exactJsonIn(text);
  return value;
}

/** The text of a value in its field; empty if there is none. */
export function fieldText(value: Json | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}

/** The values of which a property's field lets choose one; undefined if it takes any text. */
export function choicesOf({ type, enum: choices }: JsonObject): readonly Json[] | undefined {
  if (Array.isArray(choices)) return choices;
  if (type === 'boolean') return [true, false];
  return undefined;
}

/** Whether the form of an inputSchema, filled in with these arguments, sends them unchanged. */
export function canFillIn(args: Json, inputSchema: Json | undefined): boolean {
  if (!isObject(args)) return false;
  const required = requiredOf(inputSchema);
  const canShow = ([name, property]: readonly [string, JsonObject]): boolean => {
    const choices = choicesOf(property);
    if (!Object.hasOwn(args, name)) return !(choices && required.includes(name));
    const value = args[name];
    if (choices) return choices.some((choice) => isDeepStrictEqual(choice, value));
    return !/[\r\n]/.test(fieldText(value));
  };
  const fields = Object.entries(args).map(([name, value]) => [`arg.${name}`, fieldText(value)]);
  const sentArguments = argumentsOf(Object.fromEntries(fields), inputSchema);
  return propertiesOf(inputSchema).every(canShow) && isDeepStrictEqual(sentArguments, args);
}
