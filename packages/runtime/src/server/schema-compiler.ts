// Ajv with a limit of steps for each comparison.

import { _, Ajv, type AnySchemaObject, type KeywordCxt } from 'ajv';
import formats from 'ajv-formats';
import { linearMatcher, type Matcher } from './pattern-matcher.ts';

/** What one comparison with a schema may cost: a step takes 50 ns at most, usually a tenth of it. */
const maxSteps = 1_500_000;
/** Further steps for each character of an answer: answers may be large, and their author chose the schema. */
const stepsPerCharacter = 30;

/** Thrown by a comparison that takes too many steps. */
export class TooManySteps extends Error {}

let stepsLeft = 0;
let identities: Identities | undefined;

/**
 * Limits a comparison by counting, so that every machine decides alike.
 *
 * @param length length of a compared answer in characters; 0 for arguments
 * @throws TooManySteps, or whatever the comparison throws
 */
export function withinSteps<T>(length: number, compare: () => T): T {
  stepsLeft = maxSteps + length * stepsPerCharacter;
  try {
    return compare();
  } finally {
    identities = undefined;
  }
}

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new TooManySteps();
}

/** Validates as clients of the official SDK do, so that they accept every answer of this server. */
export function createCompiler(useDefaults: boolean): Ajv {
  const ajv = new Ajv({
    strict: false,
    strictNumbers: true, // JSON.parse reads 1e400 as Infinity
    useDefaults,
    validateSchema: false,
    meta: false, // 1.5 ms of each start, for references to the meta-schema, which the contract forbids (C§2.1)
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
    compile: (isAsked: boolean) => (items: readonly unknown[]) => {
      identities ??= createIdentities();
      return !isAsked || new Set(items.map(identities)).size === items.length;
    },
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
    error: { message: 'must match pattern', params: ({ schemaCode }) => _`{allowed: ${schemaCode}}` },
  });
  const definitions = new Set<object>();
  for (const keyword of [...counted, ...Object.keys(scanning)]) countVisits(ajv, keyword, definitions);
  return ajv;
}

/** The keywords that can do more work than the value is long: they have several subschemas, values or a reference. */
const counted = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'contains'],
  ...['properties', 'patternProperties', 'dependencies', 'enum'],
];
/** The keywords that read all items or members of a value, and the steps for each of these. */
const scanning: { readonly [keyword: string]: (parent: AnySchemaObject) => number } = {
  items: () => 1,
  additionalItems: () => 1,
  minProperties: () => 1,
  maxProperties: () => 1,
  propertyNames: () => 2,
  additionalProperties: ({ properties = {} }) => 1 + Math.min(8, Object.keys(properties).length),
};

function spendOnAll(value: object, steps: number): void {
  // To list the names of an object costs something even if it has none.
  spend(Array.isArray(value) ? steps * value.length : 12 + steps * Object.keys(value).length);
}

/** These collect the errors of what they try. */
const trying = ['anyOf', 'oneOf', 'contains'];
const maxTriedErrors = 20;

/**
 * Makes compiled code count the visits to a keyword, or what it reads there.
 *
 * @param visited definitions that count already: two keywords may have the same
 */
function countVisits(ajv: Ajv, keyword: string, visited: Set<object>): void {
  const rule = ajv.RULES.all[keyword];
  if (typeof rule !== 'object' || !('code' in rule.definition)) throw new Error(`Ajv has no ${keyword}`);
  const { definition } = rule;
  if (visited.has(definition)) return;
  visited.add(definition);
  const { code } = definition;
  const stepsOfScan = scanning[keyword];
  definition.code = (context: KeywordCxt) => {
    const { gen, schema, data, it } = context;
    if (stepsOfScan) {
      const counter = gen.scopeValue('func', { ref: spendOnAll });
      gen.code(_`${counter}(${data}, ${stepsOfScan(context.parentSchema)})`);
      code(context);
      return;
    }
    const counter = gen.scopeValue('func', { ref: spend });
    if (keyword === 'enum' && schema.length > 0 && !schema.some(isContainer)) {
      const allowedValues = gen.scopeValue('obj', { ref: new Set(schema) });
      context.pass(_`${allowedValues}.has(${data})`);
      return;
    }
    gen.code(_`${counter}(${keywordWeight(keyword, schema, it.opts.useDefaults === true)})`);
    if (trying.includes(keyword)) {
      const { subschema } = context;
      context.subschema = (part, valid) => {
        const isItem = keyword === 'contains';
        if (isItem) gen.code(_`${counter}(8)`);
        const tried = subschema.call(context, isItem ? { ...part, createErrors: false } : part, valid);
        gen.if(_`errors > ${maxTriedErrors}`, () => context.reset());
        return tried;
      };
    }
    code(context);
  };
}

const isContainer = (value: unknown) => typeof value === 'object' && value !== null;

/** The steps of a visit to a keyword: alternatives that fail cost an error each, defaults a new value. */
function keywordWeight(keyword: string, schema: unknown, useDefaults: boolean): number {
  if (keyword === '$ref') return 8;
  const parts = Object.values(schema as object);
  if (keyword !== 'properties')
    return 1 + parts.length * (['anyOf', 'oneOf', 'enum'].includes(keyword) ? 3 : 1);
  const defaults = parts.map((part) => part?.default).filter((value) => useDefaults && value !== undefined);
  return defaults.reduce((sum, value) => sum + 20 + JSON.stringify(value).length, 1 + parts.length);
}

/** Length of the texts that are matched by backtracking. */
export const maxBacktracked = 1_000;

/** Matches in linear time, or by backtracking if a maxLength bounds the text. */
function matcherOf(pattern: string, place: string, maxLength?: unknown): Matcher {
  const linear = linearMatcher(pattern);
  if (linear) return counting(linear, (length) => length * linear.cost);
  if (typeof maxLength !== 'number' || maxLength > maxBacktracked) {
    const reason = 'has lookaround, a backreference or too many repetitions';
    const advice = `Only a pattern with a maxLength of ${maxBacktracked} or less may have these.`;
    throw new Error(`${place}: ${JSON.stringify(pattern)} ${reason}. ${advice}`);
  }
  const regExp = new RegExp(pattern, 'u');
  // Ajv applies `pattern` also to text that is too long. A character has one or two units.
  const bounded = { test: (text: string) => text.length <= 2 * maxLength && regExp.test(text) };
  // Such a pattern may take the square of the length.
  return counting(bounded, (length) => (length <= 2 * maxLength ? length ** 2 / 25 : 0));
}

function counting(matcher: Matcher, stepsFor: (length: number) => number): Matcher {
  return {
    test(text) {
      spend(1 + stepsFor(text.length));
      return matcher.test(text);
    },
  };
}

type Identities = (value: unknown) => unknown;

/**
 * A function that gives equal JSON values the same identity, whatever the order of their members. Plain values are their
 * own. It reads each array and object once, so lists inside lists take no longer than their text.
 */
function createIdentities(): Identities {
  // Values are numbered by their content, in which the numbers of inner values stand for these.
  const numbers = new Map<unknown, number>();
  const numbered: object[] = [];
  const numberOf = (value: object): number => {
    let number = numbers.get(value);
    if (number !== undefined) return number;
    const content = contentOf(value);
    number = numbers.get(content);
    if (number === undefined) {
      number = numbered.push(value) - 1;
      numbers.set(content, number);
    }
    numbers.set(value, number);
    return number;
  };
  // No plain value is written as an array of one number.
  const inner = (part: unknown) => (typeof part === 'object' && part !== null ? [numberOf(part)] : part);
  const contentOf = (value: object): string => {
    if (Array.isArray(value)) {
      spend(16 + value.length);
      return JSON.stringify(value.map(inner));
    }
    const names = Object.keys(value).sort();
    spend(16 + 12 * names.length);
    return `{${JSON.stringify(names.flatMap((name) => [name, inner((value as Record<string, unknown>)[name])]))}`;
  };
  return (value) => (typeof value === 'object' && value !== null ? numbered[numberOf(value)] : value);
}
