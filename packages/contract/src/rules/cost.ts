import { attempt } from '../json/attempt.ts';
import { isObject, shorten } from '../json/json.ts';
import { typesOf } from '../json/keywords.ts';
import { slowness, type Work } from '../json/pattern-cost.ts';
import { doublingSchema } from '../json/recursion.ts';
import { repeatedScans } from '../json/scans.ts';
import type { JsonObject } from '../json/value.ts';
import type { LocatedSchema } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { problemsAt, type StaticRule, should, valueProblems } from './rule.ts';
import { allSchemas, inputSchemas } from './schema-problems.ts';

const maxDistinct = 1_000;
const maxScans = 20;
/** For the patterns of all tools of a list, shared equally: about ten seconds. */
const patternWork = 20_000_000;

/** The cost of validating the values of one call. */
export const costRules: readonly StaticRule[] = [
  {
    ...should('schema.pattern-time', 'CWE-1333'),
    title: 'every pattern is matched quickly, whatever text the schema allows',
    fix: 'Add a maxLength, or let no two repeats in the pattern match the same text: ^[a-z]+(-[a-z]+)*$.',
    inspect: (tool, siblings) => {
      const work = { left: patternWork / (siblings.length + 1) };
      return allSchemas(tool).flatMap((place) => patternProblems(place, work));
    },
  },
  {
    ...should('schema.doubling', 'CWE-407'),
    title: 'no schema refers to itself in two ways for the same part of a value',
    fix: 'Refer to the schema once for each property: join the alternatives, or move the property out of them.',
    inspect: ({ inputSchema, outputSchema }) =>
      Object.entries({ inputSchema, outputSchema }).flatMap(([name, schema]) => {
        const found = isObject(schema) ? doublingSchema(schema, name) : undefined;
        const problem = {
          expected: 'one reference to itself for each part of a value',
          actual: 'two or more, so that each level of a value doubles the work',
        };
        if (found) return [{ path: found.path, ...problem }];
        return [];
      }),
  },
  {
    ...should('schema.repeated-scans', 'CWE-407'),
    title: `no value is compared with more than ${maxScans} schemas that each read all its items or members`,
    fix: 'Write one list whose items have the alternatives, or add maxItems to the lists.',
    inspect: ({ inputSchema, outputSchema }) =>
      Object.entries({ inputSchema, outputSchema }).flatMap(([name, schema]) => {
        const found = isObject(schema) ? repeatedScans(schema, name, maxScans) : undefined;
        const expected = `${maxScans} schemas at most that read all items or members of this value`;
        if (found) return [{ path: found.place.path, expected, actual: String(found.times) }];
        return [];
      }),
  },
  {
    ...should('input.distinct-items', 'CWE-407'),
    title: 'every list with uniqueItems has a limit on its length',
    fix: `Add maxItems, ${maxDistinct} at most: validators compare every two values.`,
    inspect: (tool) => inputSchemas(tool).flatMap(distinctProblems),
  },
];

function patternProblems({ schema, path }: LocatedSchema, work: Work): readonly Problem[] {
  const { pattern, patternProperties, propertyNames } = schema;
  const names = isObject(patternProperties) ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === 'string' ? timeProblem(pattern, lengthOf(schema), `${path}.pattern`, work) : []),
    ...names.flatMap((name) =>
      timeProblem(name, lengthOf(propertyNames), `${path}.patternProperties.${name}`, work),
    ),
  ];
}

function lengthOf(schema: unknown): number | undefined {
  if (isObject(schema) && typeof schema.maxLength === 'number') return schema.maxLength;
  return undefined;
}

function timeProblem(
  pattern: string,
  maxLength: number | undefined,
  path: string,
  work: Work,
): readonly Problem[] {
  if (!attempt(() => new RegExp(pattern, 'u'), undefined)) return []; // reported by another rule
  const slow = slowness(pattern, maxLength, work);
  const expected = 'a pattern that a backtracking engine matches quickly, or a smaller maxLength';
  return problemsAt(slow === undefined, path, expected, `${shorten(pattern)}, which ${slow}`);
}

/** Validators look up plain values in a table instead of comparing each pair. */
const plainTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);

function distinctProblems({ schema, path }: LocatedSchema): readonly Problem[] {
  const { uniqueItems, maxItems, items } = schema;
  if (uniqueItems !== true) return [];
  const types = isObject(items) ? typesOf(items as JsonObject) : [];
  const arePlain = types.length > 0 && types.every((type) => plainTypes.has(type));
  const isLimited = arePlain || (typeof maxItems === 'number' && maxItems <= maxDistinct);
  return valueProblems(isLimited, `${path}.maxItems`, `${maxDistinct} at most`, maxItems);
}
