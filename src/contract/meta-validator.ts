import { draft07, lazily } from './ajv.ts';

/** What is a schema. */
export const schema = { $ref: draft07 };

export const validator = lazily(schema);
