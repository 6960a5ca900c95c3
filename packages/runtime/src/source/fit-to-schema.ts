// Makes a response fit its schema where it differs (`drift`), and reports that.

import { logToStderr } from '../process.ts';
import { limited } from '../prometheus.ts';
import { type ObjectSchema, signals } from '../server/define-tool.ts';
import { losesDigits } from '../server/exact-numbers.ts';
import { type AnswerDrift, type ArrivedAnswer, arrivals, createThrottledLog, drifts } from '../server/log.ts';
import { isObject, type Members, problemFinder, type SchemaProblem } from '../server/schema.ts';
import { callingTool } from './current-call.ts';
import type { PagingHeaders } from './pages.ts';
import { ownMember } from './request-parameters.ts';

/** Returned for a value that its schema does not admit. */
const misfit = Symbol('misfit');

/** Keywords that `SchemaFitter` compares, or that admit all values. */
const knownKeywords = new Set(
  'type enum properties required items title description default examples nullable additionalProperties $comment'.split(
    ' ',
  ),
);

/** How an answer may differ from its schema. */
export interface Tolerance {
  /** `fail`: not at all. */
  readonly drift: 'fail' | undefined;
  /**
   * Whether only declared members are kept (`keep: 'declared'`): the author chose each of them. No member is then replaced, and half of all
   * must be present.
   */
  readonly keepsDeclaredOnly: boolean;
  readonly signal: AbortSignal | undefined;
  readonly headers?: PagingHeaders | undefined;
}

/**
 * Changes an answer until its schema admits it, and returns the answer, or the problem if that is not possible. A missing member becomes
 * null if the schema admits null. A wrong optional member becomes null or is dropped, which the log and the metrics report. A text that
 * spells a number exactly becomes a number where the schema expects one. At least half of the required members of each object must be
 * present. A required object needs one of them, or none if its parent contains a list or an object with content. Example: if `price` is a
 * number and the optional `name` a string or null, `{ price: '1.5', name: 3 }` becomes `{ price: 1.5, name: null }`.
 *
 * @param length of the answer in characters
 */
export function fitToSchema(
  value: unknown,
  schema: ObjectSchema,
  length: number,
  { drift, keepsDeclaredOnly, signal, headers }: Tolerance,
): { readonly value: unknown; readonly mismatch: SchemaProblem | null } {
  if (arrivals.hasSubscribers) arrivals.publish({ schema, value, headers } satisfies ArrivedAnswer);
  const mismatch = problemFinder(schema)(value, 'answer', length);
  if (drift === 'fail') return { value, mismatch };
  if (keepsDeclaredOnly && !hasHalfOfMembers(value, schema)) {
    const text = 'expected at least half of the chosen members';
    return { value, mismatch: mismatch ?? { path: 'answer', text, withoutValue: text } };
  }
  if (!mismatch) return { value, mismatch };
  const paths = new Set<string>();
  const required = schema.required.filter((name) => !Object.hasOwn(signals, name));
  const fitted = new SchemaFitter(keepsDeclaredOnly, paths).fit(value, { ...schema, required }, 'answer');
  if (fitted === misfit || problemFinder(schema)(fitted, 'answer', length)) return { value, mismatch };
  const tool = callingTool(signal) ?? '';
  for (const path of paths) reportDrift({ tool, path: limitedPath(path) });
  return { value: fitted, mismatch: null };
}

/** Members that the runtime adds to an answer. */
const addedMembers: ReadonlySet<string> = new Set([...Object.keys(signals), 'done', 'next', 'total']);

function hasHalfOfMembers(value: unknown, schema: ObjectSchema): boolean {
  if (!isObject(value)) return true;
  const names = Object.keys(schema.properties).filter((name) => !addedMembers.has(name));
  const arrived = names.filter((name) => Object.hasOwn(value, name));
  return arrived.length * 2 >= names.length;
}

const limitedPath = limited();

const logOnce = createThrottledLog(logToStderr, 'source-drift', 60_000);

function reportDrift(drift: AnswerDrift): void {
  const hint = "Correct the schema, or set drift: 'fail' in src/apis/ so that such an answer fails.";
  logOnce(`${drift.tool} ${drift.path}`, { ...drift, hint });
  if (drifts.hasSubscribers) drifts.publish(drift);
}

/** The keywords of a schema that describe members. */
interface DeclaredMembers {
  readonly properties?: { readonly [name: string]: Members };
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** The schema of a member, with its path. An undeclared member of a map has the schema of the map's values. */
function memberSchemaOf(name: string, schema: DeclaredMembers, path: string) {
  const { properties = {}, additionalProperties: valueSchema } = schema;
  if (isObject(valueSchema) && !Object.hasOwn(properties, name))
    return { memberSchema: valueSchema, isValue: true, at: `${path}.*` };
  return { memberSchema: ownMember(properties, name), isValue: false, at: `${path}.${name}` };
}

function isLoss(fitted: unknown, member: unknown): boolean {
  return fitted === misfit || (fitted === null && member !== null);
}

class SchemaFitter {
  readonly #keepsDeclaredOnly: boolean;
  readonly #paths: Set<string>;
  /** Required objects without any of their required members. */
  readonly #hollow = new WeakSet<object>();

  constructor(keepsDeclaredOnly: boolean, paths: Set<string>) {
    this.#keepsDeclaredOnly = keepsDeclaredOnly;
    this.#paths = paths;
  }

  /** The value with its members; `misfit` if its type is wrong or too many members are missing. */
  fit(value: unknown, schema: Members, path: string, isRequired = false): unknown {
    const isPlain = Object.keys(schema).every((keyword) => knownKeywords.has(keyword));
    if (!isPlain) return isMatch(value, schema) ? value : misfit;
    if (!matchesType(value, schema)) {
      const number = this.#keepsDeclaredOnly ? undefined : parseSpelledNumber(value, schema);
      if (number === undefined) return misfit;
      this.#paths.add(path);
      return number;
    }
    if (Array.isArray(value) && isObject(schema.items)) return this.#items(value, schema.items, path);
    if (isObject(value)) return this.#members(value, schema, path, isRequired);
    return value;
  }

  #items(values: readonly unknown[], schema: Members, path: string): unknown {
    const items = values.map((item) => this.#orNull(item, schema, `${path}[*]`));
    return items.includes(misfit) ? misfit : items;
  }

  #members(value: Members, schema: DeclaredMembers, path: string, isRequired: boolean): unknown {
    const members = this.#fitMembers(value, schema, path);
    if (members === null) return misfit;
    const { properties = {}, required = [] } = schema;
    const missing = required.filter((name) => !members.has(name));
    const fit = this.#requiredFit(members, missing.length, required, isRequired);
    if (fit === misfit) return misfit;
    for (const name of missing) if (admitsNull(properties[name] ?? {})) members.set(name, null);
    const fitted = Object.fromEntries(members);
    if (fit === 'hollow') {
      this.#hollow.add(fitted);
      this.#paths.add(path);
    }
    return fitted;
  }

  /** The members that the schema admits; null if too many are wrong, so that this is a different object. */
  #fitMembers(value: Members, schema: DeclaredMembers, path: string): Map<string, unknown> | null {
    const { required = [] } = schema;
    const members = new Map<string, unknown>();
    let lostCount = 0;
    for (const [name, member] of Object.entries(value)) {
      const { memberSchema, isValue, at } = memberSchemaOf(name, schema, path);
      const fitted = memberSchema ? this.#orNull(member, memberSchema, at, required.includes(name)) : member;
      if (isValue && isLoss(fitted, member)) lostCount += 1;
      if (fitted !== misfit) members.set(name, fitted);
      else if (required.includes(name) || this.#keepsDeclaredOnly) return null;
      else this.#paths.add(at);
    }
    // A map with more than a tenth of wrong values is a different object.
    if (lostCount * 10 > Object.keys(value).length) return null;
    return members;
  }

  /**
   * `content`: the object has enough required members. `hollow`: the object is required and has none of its required members. `misfit`: too
   * many are missing, or some are hollow and none is a list or an object with content.
   */
  #requiredFit(
    members: ReadonlyMap<string, unknown>,
    missingCount: number,
    required: readonly string[],
    isRequired: boolean,
  ): 'content' | 'hollow' | typeof misfit {
    const hollow = required.filter((name) => this.#hollow.has(Object(members.get(name))));
    const goneCount = missingCount + hollow.length;
    if (isRequired && goneCount === required.length && goneCount > 0)
      return this.#keepsDeclaredOnly || missingCount === 0 ? misfit : 'hollow';
    if (!isRequired && goneCount * 2 > required.length) return misfit;
    const hasContent = hollow.length === 0 || required.some((name) => this.#isContent(members.get(name)));
    return hasContent ? 'content' : misfit;
  }

  /** Whether a member is a list or an object with something in it that was expected. */
  #isContent(member: unknown): boolean {
    return (
      typeof member === 'object' &&
      member !== null &&
      !this.#hollow.has(member) &&
      Object.keys(member).length > 0
    );
  }

  /** The value as it fits, or null if the schema admits that in its place. */
  #orNull(value: unknown, schema: Members, path: string, isRequired = false): unknown {
    const fitted = this.fit(value, schema, path, isRequired);
    if (fitted !== misfit || isRequired || this.#keepsDeclaredOnly || !admitsNull(schema)) return fitted;
    this.#paths.add(path);
    return null;
  }
}

/** The number that a text spells in JSON, if it is exact and the schema admits it; `007` is not a number in JSON. */
function parseSpelledNumber(value: unknown, schema: Members): number | undefined {
  if (
    typeof value !== 'string' ||
    !/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?$/.test(value) ||
    losesDigits(value)
  )
    return undefined;
  const number = Number(value);
  if (matchesType(number, schema)) return number;
  return undefined;
}

function admitsNull(schema: Members): boolean {
  if (schema.anyOf === undefined) return matchesType(null, schema);
  return isMatch(null, schema);
}

function matchesType(value: unknown, { type, nullable, enum: listed }: Members): boolean {
  if (Array.isArray(listed) && !listed.includes(value)) return false;
  const types: readonly unknown[] = [type ?? []].flat();
  if (types.length === 0 || (value === null && nullable === true)) return true;
  if (value === null) return types.includes('null');
  if (Array.isArray(value)) return types.includes('array');
  if (typeof value !== 'number') return types.includes(typeof value);
  return (
    Number.isFinite(value) &&
    (types.includes('number') || (types.includes('integer') && Number.isInteger(value)))
  );
}

/** Returns whether a value matches a schema; true if the schema does not compile, as in a Worker. The whole answer is compared later. */
function isMatch(value: unknown, schema: Members): boolean {
  const wrapper = wrappedSchemas.get(schema) ?? {
    type: 'object',
    properties: { value: schema },
    required: ['value'],
  };
  wrappedSchemas.set(schema, wrapper);
  try {
    return problemFinder(wrapper)({ value }, '', 0) === null;
  } catch {
    return true;
  }
}

const wrappedSchemas = new WeakMap<Members, ObjectSchema>();
