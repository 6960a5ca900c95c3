/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** One difference between a value and what is expected of it. */
export interface Mismatch {
  /** Path in the value: `outputSchema.properties.price.type`. */
  readonly path?: string;
  readonly expected: string;
  readonly actual: string;
}
