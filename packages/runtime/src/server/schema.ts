// Compiled schemas of tools, and the problems that they find.

import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { ObjectSchema, Tool } from './define-tool.ts';
import { createCompiler, TooManySteps, withinSteps } from './schema-compiler.ts';

/** An unvalidated JSON object. */
export type Members = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Estimates the length of a tool's next result, in characters. */
export class LengthEstimate {
  #current = 0;

  get current(): number {
    return this.#current;
  }

  /** Takes the length of a new result into account. After a shorter result, the estimate falls to its length, but at most by half. */
  update(resultLength: number): void {
    this.#current = Math.max(resultLength, this.#current / 2);
  }
}

export interface CompiledTool {
  readonly tool: Tool;
  /** Sets the defaults of absent arguments in the input, then returns its first problem. */
  readonly applyInputSchema: ProblemFinder;
  readonly findOutputProblem: ProblemFinder;
  /** An answer without data: the required members, with empty values. */
  readonly blank: Members;
  readonly lengthEstimate: LengthEstimate;
}

/** The compiled schemas, with the id that `$ref: "#"` needs because Ajv keeps no schema here. */
const schemasWithId = new WeakMap<ObjectSchema, ObjectSchema>();

function withId(schema: ObjectSchema): ObjectSchema {
  const identifiedSchema = schemasWithId.get(schema) ?? { $id: 'tool:', ...schema };
  schemasWithId.set(schema, identifiedSchema);
  return identifiedSchema;
}

/** Created on first use, because a server that cannot start needs none. */
const compilers = new Map<boolean, Ajv>();

function sharedCompiler(useDefaults: boolean): Ajv {
  const compiler = compilers.get(useDefaults) ?? createCompiler(useDefaults);
  compilers.set(useDefaults, compiler);
  return compiler;
}

/** @throws Error that names the tool and the schema that does not compile. */
export function compileTool(tool: Tool): CompiledTool {
  return {
    tool,
    applyInputSchema: compileToolSchema(sharedCompiler(true), tool, 'inputSchema'),
    findOutputProblem: compileToolSchema(sharedCompiler(false), tool, 'outputSchema'),
    blank: blankObject(tool.outputSchema),
    lengthEstimate: new LengthEstimate(),
  };
}

/** Compiles a schema as an outputSchema, or returns the compiled one. */
export function problemFinder(schema: ObjectSchema): ProblemFinder {
  return createProblemFinder(sharedCompiler(false).compile(withId(schema)));
}

function compileToolSchema(ajv: Ajv, tool: Tool, part: 'inputSchema' | 'outputSchema'): ProblemFinder {
  try {
    if ('$async' in tool[part]) throw new Error('"$async" is not a keyword of JSON Schema');
    return createProblemFinder(ajv.compile(withId(tool[part])));
  } catch (error) {
    const reason = error instanceof RangeError ? 'it is too large' : (error as Error).message;
    throw new Error(`Tool ${tool.name}: its ${part} does not compile: ${reason}`);
  }
}

/** A difference, such as `must be string, got 3` at `arguments.items[0].coin`. */
export interface SchemaProblem {
  readonly path: string;
  readonly text: string;
  /** The same without the value: `expected string, got number`. */
  readonly withoutValue: string;
}

/**
 * Compares a value with a schema, and returns the first problem.
 *
 * @param root name of the value in paths
 * @param length length of an answer in characters, which may take more steps than arguments
 * @returns null if the value is valid
 */
export type ProblemFinder = (value: unknown, root: string, length?: number) => SchemaProblem | null;

function createProblemFinder(validate: ValidateFunction): ProblemFinder {
  return (value, root, length = 0) => {
    try {
      if (withinSteps(length, () => validate(value))) return null;
      return deepestProblem(validate.errors ?? [], value, root);
    } catch (error) {
      const isLong = error instanceof TooManySteps;
      if (!isLong && !(error instanceof RangeError)) throw error;
      const reason = isLong ? 'takes too many steps' : 'is nested too deeply';
      const text = `${reason} to be compared with its schema`;
      return { path: root, text, withoutValue: text };
    }
  };
}

function deepestError(errors: readonly Partial<ErrorObject>[]): Partial<ErrorObject> {
  let deepest: Partial<ErrorObject> = {};
  let depth = -1;
  for (const error of errors) {
    const steps = error.instancePath?.split('/').length ?? -1;
    if (steps < depth || error.keyword === 'if') continue; // the failed branch has its own error
    deepest = error;
    depth = steps;
  }
  return deepest;
}

/** The problem that is deepest in the value. If all alternatives differ at one location, their keyword is the problem. */
function deepestProblem(
  errors: readonly Partial<ErrorObject>[],
  value: unknown,
  root: string,
): SchemaProblem {
  const error = deepestError(errors);
  const { instancePath = '', keyword, params = {}, message = `must match ${keyword}` } = error;
  const member = params.missingProperty ?? params.additionalProperty;
  const pointer = member === undefined ? instancePath : `${instancePath}/${member}`;
  const path = root + pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  if (member !== undefined) return { path, text: message, withoutValue: message };
  const allowedValues = params.allowedValues ?? params.allowedValue ?? params.allowed;
  const expected = allowedValues === undefined ? message : `${message}: ${shorten(allowedValues)}`;
  const actual = valueAtPointer(value, instancePath);
  const types = params.type === undefined ? undefined : `expected ${[params.type].flat().join(' or ')}`;
  if (types !== undefined && typeof actual === 'string' && /^-?\d{16,}$/.test(actual)) {
    const actualText = `${types}, got an integer that is not within ±${Number.MAX_SAFE_INTEGER}, or text`;
    return { path, text: actualText, withoutValue: actualText };
  }
  const isOfType = types === undefined && keyword !== 'anyOf' && keyword !== 'oneOf';
  return {
    path,
    text: `${expected}, got ${shorten(actual)}`,
    withoutValue: isOfType ? expected : `${types ?? expected}, got ${jsonTypeName(actual)}`,
  };
}

function jsonTypeName(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function valueAtPointer(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce((at, name) => (at as Members)[name.replaceAll('~1', '/').replaceAll('~0', '~')], value);
}

/** Whether a value contains a number that JSON.parse read as Infinity. */
export function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);
}

function shorten(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value);
  if (text.length <= 80) return text;
  return `${text.slice(0, 79)}…`;
}

/** The required members with empty values. A member that has none is undefined. */
export function blankObject({ properties = {}, required = [] }: Schema): Members {
  return Object.fromEntries(required.map((name) => [name, blankValue(properties[name] ?? {})]));
}

/** Null if allowed, `[]` for an array, a blank object for an object. */
function blankValue(schema: Schema): unknown {
  const types = [schema.type ?? 'null'].flat();
  if (types.includes('null') || schema.nullable) return null;
  if (types.includes('array')) return [];
  if (types.includes('object')) return blankObject(schema);
  return undefined;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
}
