import type { ValidateFunction } from 'ajv';

/**
 * Validators of schemas that are known at build time, by their key in `recent`. Empty in a checkout;
 * build.js inserts those of the default tool, compiled with the same settings.
 */
export const precompiled: ReadonlyMap<string, ValidateFunction> = new Map();
