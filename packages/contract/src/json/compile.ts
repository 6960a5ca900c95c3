import { Ajv, type ValidateFunction } from 'ajv';
import { settings } from './ajv.ts';
import { recent } from './recent.ts';
import type { JsonObject } from './value.ts';

/**
 * Compiles a schema exactly as the marketplace does: the draft-07 build of Ajv 8 that reports all errors, tolerates
 * unknown keywords and ignores formats (public source: app api/v1/tools/dispute/route.ts).
 * `useDefaults` fills absent properties in place, as a server does with its input (C§2.1).
 *
 * @returns a validator. Read its `errors` before the next use: equal schemas may share a validator.
 * @throws Error if the schema does not compile, or contains `$async`: its validator would return a promise.
 */
export function compileSchema(
  schema: JsonObject,
  { useDefaults = false }: { readonly useDefaults?: boolean } = {},
): ValidateFunction {
  const text = JSON.stringify(schema);
  const key = `checked ${compileKey(text, useDefaults)}`;
  const compiled = recent.get(key);
  if (compiled) return compiled;
  requireDialect(schema);
  const validate = compileUnchecked(schema, text, useDefaults);
  recent.keep(key, validate);
  return validate;
}

/**
 * `compileSchema` without the check of the dialect: any schema that compiles is accepted.
 *
 * @param text the schema as JSON
 * @throws Error if the schema does not compile
 */
export function compileUnchecked(schema: JsonObject, text: string, useDefaults = false): ValidateFunction {
  return compileOnce(compileKey(text, useDefaults), schema, () => {
    if (schema.$async !== undefined) throw new Error('"$async" is not a keyword of JSON Schema');
    return ajvFor(text, useDefaults);
  });
}

/** The validator of a schema under a key in `recent`, compiled if it is not there. */
export function compileOnce(key: string, schema: JsonObject, makeAjv: () => Ajv): ValidateFunction {
  const compiled = recent.get(key);
  if (compiled) return compiled;
  const ajv = makeAjv();
  try {
    const validate = ajv.compile(schema);
    recent.keep(key, validate);
    return validate;
  } finally {
    ajv.removeSchema(schema);
  }
}

function compileKey(text: string, useDefaults: boolean): string {
  return `${useDefaults ? 'defaults' : 'plain'} ${text}`;
}

/** @throws Error if the dialect that the schema names is unknown, or the schema is invalid in it. */
function requireDialect(schema: JsonObject): void {
  schemaChecker().validateSchema(schema, true);
}

let checker: Ajv | undefined;

/** Returns an Ajv that has compiled its meta-schema. An interruption would leave the meta-schema half compiled. */
export function schemaChecker(): Ajv {
  if (checker) return checker;
  const ajv = new Ajv(settings);
  ajv.validateSchema({});
  checker = ajv;
  return ajv;
}

const compilers = new Map<boolean, Ajv>();

/**
 * Creating an Ajv takes longer than compiling a small schema, mostly because of the meta-schema that a `$ref`
 * may refer to. Schemas that cannot disturb each other share an Ajv without meta-schema.
 */
function ajvFor(text: string, useDefaults: boolean): Ajv {
  const options = { ...settings, useDefaults, validateSchema: false };
  // Two tools may use the same name, and an interrupted compilation leaves half of it.
  if (/"\$id":/.test(text) || mayBeEndless(text)) return new Ajv(options);
  const compiler = compilers.get(useDefaults) ?? new Ajv({ ...options, meta: false });
  compilers.set(useDefaults, compiler);
  return compiler;
}

/** Whether work on a schema may never end; decided from its text. */
export function mayBeEndless(text: string): boolean {
  return /"(pattern|patternProperties|\$ref|uniqueItems)":/.test(text);
}
