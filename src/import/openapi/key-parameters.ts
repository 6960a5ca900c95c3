import { below, type Json, type JsonObject } from 'market-mcp-contract/json';
import { isKeyName } from '../key-names.ts';
import type { Found, OpenApiDocument } from './document.ts';
import type { Operation } from './operations.ts';
import { plainText } from './text.ts';

/** A header or query parameter that is a key of the API: a secret of the server, never an argument. */
export interface KeyParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly isRequired: boolean;
  readonly text: string;
}

/** Whether a parameter is a security scheme of the document. */
export type IsScheme = (place: KeyParameter['in'], name: string) => boolean;

/** The parameters of an operation that are keys. */
export function keyParametersOf(
  document: OpenApiDocument,
  operation: Operation,
  isScheme: IsScheme,
): readonly KeyParameter[] {
  return parametersOf(document, operation).flatMap(({ value }) => keyParameter(value, isScheme) ?? []);
}

/** A parameter as a key; undefined if callers give it. */
export function keyParameter(
  { name, in: place, description, required }: JsonObject,
  isScheme: IsScheme,
): KeyParameter | undefined {
  if (place !== 'query' && place !== 'header') return undefined;
  if (!isKeyName(String(name)) && !isScheme(place, String(name))) return undefined;
  const text = plainText(description, 120) || `Key that the API takes as ${name}`;
  return { name: String(name), in: place, isRequired: required === true, text };
}

/** The parameters of the path, then those of the operation, which replace equal ones. */
export function parametersOf(
  document: OpenApiDocument,
  { found, shared }: Operation,
): readonly Found<JsonObject>[] {
  const all = new Map<string, Found<JsonObject>>();
  for (const part of [shared, found]) {
    const list = Array.isArray(part.value.parameters) ? (part.value.parameters as readonly Json[]) : [];
    for (const [i, given] of list.entries()) {
      const parameter = document.object(given, below(part.pointer, 'parameters', i));
      if (typeof parameter?.value.name !== 'string') continue;
      all.set(`${parameter.value.in} ${parameter.value.name}`, parameter);
    }
  }
  return [...all.values()];
}
