import type { ErrorObject, ValidateFunction } from 'ajv';
import { runWithTimeLimit, TimeLimitExceeded, taskTimeLimitMs } from './bounded.ts';
import { compileSchema, mayBeEndless, schemaChecker } from './compile.ts';
import { cachedByObject, messageOf, shorten } from './json.ts';
import type { Json, JsonObject, Mismatch } from './value.ts';

export type CompiledSchema =
  | { readonly ok: true; readonly validate: ValidateFunction }
  | { readonly ok: false; readonly reason: string };

/** `compileSchema` with a cache; it reports a schema that does not compile instead of throwing. */
export const tryCompile = cachedByObject((schema: JsonObject): CompiledSchema => {
  try {
    return { ok: true, validate: guardSchemaWork(schema, () => compileSchema(schema)) };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
});

/**
 * An inputSchema as it is checked: without a `$schema` that names a dialect of JSON Schema. The marketplace compiles
 * outputSchemas only; for agents and clients an inputSchema may name its dialect, including 2020-12 (MCP 2025-11-25).
 */
export function withoutDialect(schema: JsonObject): JsonObject {
  if (isDialect(schema.$schema)) return stripped(schema);
  return schema;
}

const stripped = cachedByObject(({ $schema: _dialect, ...rest }: JsonObject) => rest);

/** The `$schema` URIs of JSON Schema dialects. */
const dialect = /^https?:\/\/json-schema\.org\/(draft-0[467]|draft\/20(19-09|20-12))\/schema#?$/;

/** Whether a `$schema` names a dialect of JSON Schema. */
export function isDialect(name: Json | undefined): boolean {
  return typeof name === 'string' && dialect.test(name);
}

/**
 * The mismatches between a value and a schema. None if the schema does not compile: that is a separate
 * finding. An endless `$ref` counts as a mismatch, and so does a schema that takes too long.
 */
export function mismatches(schema: JsonObject, value: unknown, root: string): readonly Mismatch[] {
  const result = tryCompile(schema);
  if (!result.ok) return [];
  try {
    if (guardSchemaWork(schema, () => result.validate(value))) return [];
    return mismatchesIn(result.validate, value, root);
  } catch (error) {
    const actual =
      error instanceof TimeLimitExceeded ? `${tooSlow} that ${error.message}` : 'endless recursion';
    return [{ path: root, expected: 'a schema that can be validated quickly', actual }];
  }
}

const tooSlow = 'a pattern, a $ref or uniqueItems';
const isGuarded = cachedByObject((schema: JsonObject) => mayBeEndless(JSON.stringify(schema)));

/**
 * Milliseconds of CPU time for work on a schema: a tenth after the first that took too long, since a check evaluates many values by one
 * schema.
 */
const timeLimit = cachedByObject((_schema: JsonObject) => ({ ms: taskTimeLimitMs }));

/**
 * Limits the time for work on a schema that may be endless. For any other schema the limit would only cost time.
 *
 * @throws TimeLimitExceeded, or whatever the work throws.
 */
export function guardSchemaWork<T>(schema: JsonObject, work: () => T): T {
  if (!isGuarded(schema)) return work();
  schemaChecker(); // its meta-schema is compiled outside the measured time
  const limit = timeLimit(schema);
  try {
    return runWithTimeLimit(limit.ms, work);
  } catch (error) {
    if (error instanceof TimeLimitExceeded) limit.ms = taskTimeLimitMs / 10;
    throw error;
  }
}

/**
 * The differences between a value and the schema it was validated against. Paths are dotted below `root`
 * (`structuredContent.items[0].price`).
 */
export function mismatchesIn(validate: ValidateFunction, value: unknown, root: string): readonly Mismatch[] {
  return (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if') // the chosen branch has reported the error
    .map((error) => {
      // `required` and `additionalProperties` report the object; the member concerned is in their params.
      const member: unknown = error.params.missingProperty ?? error.params.additionalProperty;
      const steps = [...pointerSegments(error.instancePath), ...(typeof member === 'string' ? [member] : [])];
      return {
        path: root + steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join(''),
        expected: expectedBy(error),
        actual: shorten(valueAt(value, steps)),
      };
    });
}

/** The segments of a JSON pointer. */
export function pointerSegments(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A JSON pointer, extended by steps. */
export function childPointer(pointer: string, ...steps: readonly (string | number)[]): string {
  const parts = steps.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'));
  return [pointer, ...parts].join('/');
}

function expectedBy({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'a value (the property is required)';
  if (keyword === 'additionalProperties') return 'no property with this name';
  if (keyword === 'type') return `type ${[params.type].flat().join(' or ')}`;
  if (keyword === 'enum') return `one of ${shorten(params.allowedValues)}`;
  if (keyword === 'const') return shorten(params.allowedValue);
  return (message ?? keyword).replace(/^must /, 'to ');
}

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce((at, step) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<string, unknown>)[step];
  }, value);
}
