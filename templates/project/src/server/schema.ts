import { Ajv, type ErrorObject, str, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { JsonObject, ObjectSchema, Tool } from './define-tool.ts';
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
  readonly blank: JsonObject;
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
    // These would compile the meta-schema or keep every schema.
    validateSchema: false,
    meta: false,
    addUsedSchema: false,
    logger: false,
    code: {
      optimize: false, // doubles the compile time; V8 removes the same code
      regExp: Object.assign(nameMatcher, { code: 'nameMatcher' }),
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
      const matcher = linearMatcher(pattern) ?? boundedMatcher(pattern, maxLength, errSchemaPath);
      return (text: string) => matcher.test(text);
    },
    error: { message: ({ schemaCode }) => str`must match pattern "${schemaCode}"` },
  });
  return ajv;
}

/** Matches property names, which have no maxLength. */
function nameMatcher(pattern: string): Matcher {
  const matcher = linearMatcher(pattern);
  if (matcher === null) throw new Error(`patternProperties: ${JSON.stringify(pattern)} ${notLinear}.`);
  return matcher;
}

const notLinear =
  'has lookaround, a backreference or too many repetitions, so it cannot be matched in linear time';
const mostLength = 100_000;

/** Matches by backtracking. It checks the length itself: Ajv applies `pattern` to text that is too long, too. */
function boundedMatcher(pattern: string, maxLength: unknown, path: string): Matcher {
  if (typeof maxLength !== 'number' || maxLength > mostLength) {
    const where = [...path.split('/').slice(1), 'pattern'].join('.');
    const advice = `Add a maxLength of ${mostLength} or less.`;
    throw new Error(`${where}: ${JSON.stringify(pattern)} ${notLinear}. ${advice}`);
  }
  const regExp = new RegExp(pattern, 'u');
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
    const schema: ObjectSchema & { $async?: unknown } = tool[part];
    if (schema.$async !== undefined) throw new Error('"$async" is not a keyword of JSON Schema');
    return ajv.compile(schema);
  } catch (error) {
    throw new Error(`Tool ${tool.name}: its ${part} does not compile: ${(error as Error).message}`);
  }
}

/** A difference, such as `expected type string, got 3` at `arguments.items[0].coin`. */
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
  } catch (error) {
    const text = error instanceof RangeError ? 'nested too deeply' : 'cannot be compared with its schema';
    return [{ path: root, text }];
  }
}

function problemOf(error: ErrorObject, root: string): Problem {
  const { instancePath, params, data } = error;
  const { missingProperty: missing, additionalProperty: additional } = params;
  const actual =
    missing !== undefined ? undefined : additional !== undefined ? Object(data)[additional] : data;
  const steps = instancePath.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = [...steps.slice(1), missing ?? additional ?? []].flat();
  return {
    path: root + path.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join(''),
    text: `expected ${expectedBy(error)}, got ${actual === undefined ? 'nothing' : shorten(actual)}`,
  };
}

function expectedBy({ keyword, params, message = keyword }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'a value (the property is required)';
    case 'additionalProperties':
      return 'no property of this name';
    case 'type':
      return `type ${[params.type].flat().join(' or ')}`;
    case 'enum':
      return `one of ${shorten(params.allowedValues)}`;
    case 'const':
      return shorten(params.allowedValue);
    default:
      return message.replace(/^must /, 'to ');
  }
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

/** Sets every required property that has an empty value. */
function blankObject({ properties = {}, required = [] }: Schema): JsonObject {
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : {});
  const members = required.map((name) => [name, blankValue(schemaOf(name))]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Null if allowed, `[]` for an array, a blank object for an object; undefined otherwise. */
function blankValue(schema: Schema = {}): unknown {
  const types = [schema.type ?? []].flat();
  const nullable = types.length === 0 || types.includes('null') || schema.nullable === true;
  if (nullable && (schema.enum?.includes(null) ?? true)) return null;
  if (types.includes('array') && !((schema.minItems ?? 0) > 0)) return [];
  if (!types.includes('object')) return undefined;
  const blank = blankObject(schema);
  return Object.keys(blank).length === new Set(schema.required).size ? blank : undefined;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly minItems?: number;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
}
