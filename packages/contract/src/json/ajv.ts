import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { JsonObject } from './value.ts';

/** How the marketplace reads a schema: every error is reported, unknown keywords are tolerated, formats are ignored. */
export const settings: Options = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  logger: false,
  code: { optimize: false }, // Ajv's own pass doubles the time of compilation; V8 removes the same code
};

/** Compiles one of our own schemas when its validator is first used. */
export function lazyValidator(schema: JsonObject): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => {
    validate ??= new Ajv({ ...settings, validateSchema: false }).compile(schema);
    return validate;
  };
}
