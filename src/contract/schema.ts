import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Json, JsonObject, Problem } from './model.ts';

/**
 * Compiles a schema exactly as the marketplace does: the draft-07 build of Ajv 8 that reports all errors, tolerates
 * unknown keywords and ignores formats (public source: app api/v1/tools/dispute/route.ts). One Ajv per schema, so that
 * no `$id` of one tool meets another's. `useDefaults` fills absent properties in place, as a server does with its
 * input (C§2.1).
 *
 * @throws Error where the schema does not compile.
 */
export function compileSchema(
  schema: JsonObject,
  { useDefaults = false }: { readonly useDefaults?: boolean } = {},
): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false, useDefaults, logger: false });
  return ajv.compile(schema);
}

/**
 * The differences between a value and the schema it was validated against. Paths are dotted below `root`
 * (`structuredContent.items[0].price`).
 */
export function problemsOf(validate: ValidateFunction, value: unknown, root: string): readonly Problem[] {
  return (validate.errors ?? []).map((error) => ({
    path: root + dotted(error.instancePath) + member(error),
    expected: expectedBy(error),
    actual: shorten(valueAt(value, error.instancePath)),
  }));
}

/** A value as text for a person, at most `limit` characters. */
export function shorten(value: unknown, limit = 80): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

/** The types a schema names, `nullable: true` counted as `null`. Empty where it names none. */
export function typesOf(schema: JsonObject): readonly Json[] {
  const named = Array.isArray(schema.type)
    ? schema.type
    : schema.type === undefined
      ? []
      : [schema.type as Json];
  return schema.nullable === true && !named.includes('null') ? [...named, 'null'] : named;
}

/** Whether a JSON value is an object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function dotted(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

/** `required` and `additionalProperties` report the object; the member they speak of is in their params. */
function member({ params }: ErrorObject): string {
  const name = params.missingProperty ?? params.additionalProperty;
  return typeof name === 'string' ? `.${name}` : '';
}

function expectedBy({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'a value, the property is required';
  if (keyword === 'additionalProperties') return 'no such property';
  if (keyword === 'type') return `type ${[params.type].flat().join(' or ')}`;
  if (keyword === 'enum') return `one of ${shorten(params.allowedValues)}`;
  if (keyword === 'const') return shorten(params.allowedValue);
  return (message ?? keyword).replace(/^must /, 'to ');
}

function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
