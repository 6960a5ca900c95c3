import { isObject, objectOr } from '../json/json.ts';
import { membersOf, requiredOf, typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { ToolExample } from '../model.ts';

/**
 * The optional output properties with which one outputSchema allows all three outcomes of a call: data, an explicit empty
 * result (C§2.2, last sentence) and a failure (C§2.2, "Recommended failure payload").
 */
export const signals = {
  searchExhausted: {
    type: 'boolean',
    description: 'True if the search is complete and found nothing. The empty result is then the answer.',
  },
  noResultsReason: { type: 'string', description: 'Why nothing was found.' },
  error: { type: 'string', description: 'Code of the failure; present only when the call failed.' },
  message: { type: 'string', description: 'What went wrong; present only when the call failed.' },
} as const;

export type SignalName = keyof typeof signals;

/** Whether structuredContent contains the signal of an empty result (C§2.2). */
export function hasEmptySignal({ searchExhausted, noResultsReason }: JsonObject): boolean {
  const hasReason = typeof noResultsReason === 'string' && noResultsReason.trim() !== '';
  return searchExhausted === true || hasReason;
}

/**
 * The outcome of a call that has a result (C§2.2, C§7).
 *
 * @param data the data of the result, if it is not in `structuredContent`
 */
export function resultOutcome(
  { isError, structuredContent }: JsonObject,
  data: Json | undefined = structuredContent,
): ToolExample['expect'] {
  if (isError === true) return 'fail';
  if (isObject(data) && hasEmptySignal(data)) return 'empty';
  return 'found';
}

/** Either the members that a result without data must have, or the paths of those that allow no empty value. */
export type Blank =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly blocked: readonly string[] };

/** A value for a property that allows no empty one. */
export type FixedValue = (schema: JsonObject) => Json | undefined;

/** A value that every response of a tool can contain, whatever it found: a time, a constant, one of a closed list, a boolean. */
export const fixedValue: FixedValue = (schema) => {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const types = typesOf(schema);
  if (types.includes('boolean')) return false;
  if (!types.includes('string')) return undefined;
  const { format } = schema;
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  if (format === 'date') return '2026-01-01';
  return undefined;
};

/**
 * Fills every required property of an outputSchema with its empty value: null where allowed, else `[]` for an array
 * and an object filled in the same way for an object. An empty result or a failure is this result plus a signal.
 *
 * @param root prefix of the reported paths.
 * @param fixed fills a property that allows no empty value.
 */
export function blankResult(schema: JsonObject, root = 'outputSchema', fixed?: FixedValue): Blank {
  const properties = membersOf(schema);
  const result: [string, Json][] = [];
  const blocked: string[] = [];
  for (const name of requiredOf(schema)) {
    const path = `${root}.properties.${name}`;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const blank = blankSchemaValue(objectOr(property), path, fixed);
    if (blank.ok) result.push([name, blank.value]);
    else blocked.push(...blank.blocked);
  }
  if (blocked.length > 0) return { ok: false, blocked };
  return { ok: true, result: Object.fromEntries(result) };
}

function blankSchemaValue(
  schema: JsonObject,
  path: string,
  fixed?: FixedValue,
): { ok: true; value: Json } | { ok: false; blocked: readonly string[] } {
  const types = typesOf(schema);
  const allowedValues = Array.isArray(schema.enum) ? schema.enum : undefined;
  if ((types.length === 0 || types.includes('null')) && (!allowedValues || allowedValues.includes(null))) {
    return { ok: true, value: null };
  }
  if (types.includes('array') && !(Number(schema.minItems) > 0)) return { ok: true, value: [] };
  if (types.includes('object')) {
    const blank = blankResult(schema, path, fixed);
    return blank.ok ? { ok: true, value: blank.result } : blank;
  }
  const value = fixed?.(schema);
  if (value === undefined) return { ok: false, blocked: [path] };
  return { ok: true, value };
}
