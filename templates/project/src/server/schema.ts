import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { ObjectSchema, Tool } from './define-tool.ts';
import { linearMatcher, type Matcher } from './pattern.ts';

/** An unvalidated JSON object. */
export type Members = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface CompiledTool {
  readonly tool: Tool;
  /** Also sets the defaults of absent arguments. */
  readonly validateInput: ValidateFunction;
  readonly validateOutput: ValidateFunction;
  /** An answer without data: the required members that have an empty value. */
  readonly blank: Members;
  /** Length of the last answer in characters, or of a longer one before, halved with each answer since. */
  expectedLength: number;
}

/** Validates as clients of the official SDK do, so that they accept every answer of this server. */
function createCompiler(useDefaults: boolean): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true, // errors hold the value
    strict: false,
    strictNumbers: true, // JSON.parse reads 1e400 as Infinity
    useDefaults,
    validateSchema: false,
    addUsedSchema: false, // two tools may have the same $id
    logger: false,
    code: {
      optimize: false, // doubles the compile time; V8 removes the same code
      regExp: Object.assign((name: string) => matcherOf(name, 'patternProperties'), { code: 'matcherOf' }),
    },
  });
  formats.default(ajv);
  // Matches the same texts, without the quadratic time of two adjacent repetitions.
  const { source, flags } = formats.default.get('url') as RegExp;
  ajv.addFormat('url', new RegExp(source.replace(String.raw`\S+(?::\S*)?@`, String.raw`\S+@`), flags));
  // Ajv compares every pair of items: 5 s for 200 KB of objects.
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isAsked: boolean) => (items: readonly unknown[]) =>
      !isAsked || new Set(items.map(canonical)).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  });
  ajv.removeKeyword('pattern').addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    compile: (pattern: string, { maxLength }, { errSchemaPath }) => {
      const matcher = matcherOf(pattern, `${errSchemaPath}/pattern`, maxLength);
      return (text: string) => matcher.test(text);
    },
    error: { message: 'must match pattern' },
  });
  return ajv;
}

const mostLength = 100_000;

/** Matches in linear time, or by backtracking if a maxLength bounds the text. */
function matcherOf(pattern: string, place: string, maxLength?: unknown): Matcher {
  const linear = linearMatcher(pattern);
  if (linear) return linear;
  if (typeof maxLength !== 'number' || maxLength > mostLength) {
    const reason = 'has lookaround, a backreference or too many repetitions';
    const advice = `Only a pattern with a maxLength of ${mostLength} or less may have these.`;
    throw new Error(`${place}: ${JSON.stringify(pattern)} ${reason}. ${advice}`);
  }
  const regExp = new RegExp(pattern, 'u');
  // Ajv applies `pattern` to text that is too long, too. A character has one or two units.
  return { test: (text) => text.length <= 2 * maxLength && regExp.test(text) };
}

/** Text that is identical for equal JSON values, whatever the order of their members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

const inputs = createCompiler(true);
const outputs = createCompiler(false);

/** @throws Error that names the tool and the schema that does not compile. */
export function compileTool(tool: Tool): CompiledTool {
  return {
    tool,
    validateInput: compile(inputs, tool, 'inputSchema'),
    validateOutput: compile(outputs, tool, 'outputSchema'),
    blank: blankObject(tool.outputSchema),
    expectedLength: 0,
  };
}

/** Compiles a schema with the rules for an outputSchema. */
export function validatorOf(schema: ObjectSchema): ValidateFunction {
  return outputs.compile(schema);
}

function compile(ajv: Ajv, tool: Tool, part: 'inputSchema' | 'outputSchema'): ValidateFunction {
  try {
    if ('$async' in tool[part]) throw new Error('"$async" is not a keyword of JSON Schema');
    return ajv.compile(tool[part]);
  } catch (error) {
    throw new Error(`Tool ${tool.name}: its ${part} does not compile: ${(error as Error).message}`);
  }
}

/** A difference, such as `must be string, got 3` at `arguments.items[0].coin`. */
export interface Problem {
  readonly path: string;
  readonly text: string;
}

const mostProblems = 5;

/** The first few differences between a value and its schema; null if it is valid. `root` is its name in paths. */
export function problemsOf(validate: ValidateFunction, value: unknown, root: string): Problem[] | null {
  try {
    if (validate(value)) return null;
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if'); // the failed branch has its own error
    return errors.slice(0, mostProblems).map((error) => problemOf(error, root));
  } catch {
    return [{ path: root, text: 'nested too deeply to be compared with its schema' }];
  }
}

function problemOf(error: ErrorObject, root: string): Problem {
  const { instancePath, keyword, params, message = keyword, schema, data } = error;
  const member = params.missingProperty ?? params.additionalProperty;
  const pointer = member === undefined ? instancePath : `${instancePath}/${member}`;
  const path = root + pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  if (member !== undefined) return { path, text: message };
  const allowed = ['enum', 'const', 'pattern'].includes(keyword) ? `: ${shorten(schema)}` : '';
  return { path, text: `${message}${allowed}, got ${shorten(data)}` };
}

/** Whether a value contains a number that JSON.parse read as Infinity. */
export function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);
}

function shorten(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** The required members with empty values. A member that has none is undefined. */
function blankObject({ properties = {}, required = [] }: Schema): Members {
  return Object.fromEntries(required.map((name) => [name, blankValue(properties[name] ?? {})]));
}

/** Null if allowed, `[]` for an array, a blank object for an object. */
function blankValue(schema: Schema): unknown {
  const types = [schema.type ?? 'null'].flat();
  if (types.includes('null') || schema.nullable) return null;
  if (types.includes('array')) return [];
  return types.includes('object') ? blankObject(schema) : undefined;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
}
