import type { ValidateFunction } from 'ajv';

/**
 * Validators of schemas that are known when the package is built, by the key under which `recent` keeps them. A checkout has
 * none; build.js puts those of the default tool here, compiled with the same settings.
 */
export const precompiled: ReadonlyMap<string, ValidateFunction> = new Map();
