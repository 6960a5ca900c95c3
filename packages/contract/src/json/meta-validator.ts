import { draft07, lazyValidator } from './ajv.ts';

/** Validates that a value is a JSON Schema. */
export const schema = { $ref: draft07 };

export const validator = lazyValidator(schema);
