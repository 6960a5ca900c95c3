import { blankResult, fixedValue, type SignalName, signals } from '../definition/outcomes.ts';
import { isObject, objectOr, shorten } from '../json/json.ts';
import { propertiesOf, requiredOf, typesOf } from '../json/keywords.ts';
import { mismatches, tryCompile } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { schemasIn } from '../json/walk.ts';
import type { Problem, RuleResult } from '../model.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { sampleArguments } from '../platforms/sample-arguments.ts';
import type { Ledger } from '../wire/ledger.ts';
import { compileProblems } from './input.ts';
import { fact, mergeStatic, must, problemUnless, type StaticRule, should, valueProblems } from './rule.ts';
import {
  ofSchemas,
  outputSchemas,
  rootProblems,
  textProblems,
  undeclaredProblems,
} from './schema-problems.ts';

/** The outputSchema: its root, its properties, and whether it allows all three outcomes of a call. */
export const outputRules: readonly StaticRule[] = [
  {
    ...must('output.object-root', 'C§2.1, C§3.2, C§8'),
    title: 'every outputSchema is an object schema',
    fix: 'Set outputSchema.type to "object"; express null and errors inside properties.',
    inspect: ({ outputSchema }) => rootProblems(outputSchema, 'outputSchema'),
  },
  {
    ...must('output.no-root-union', 'C§2.1'),
    title: 'no outputSchema has a union at its root',
    fix: 'Replace the union by one object with optional or nullable properties.',
    inspect: ({ outputSchema }) =>
      ['anyOf', 'oneOf', 'allOf', 'not'].flatMap((keyword) => {
        const union = objectOr(outputSchema)[keyword];
        return valueProblems(union === undefined, `outputSchema.${keyword}`, 'not at the root', union);
      }),
  },
  {
    ...fact('output.properties', 'should', 'docs guides/build-tools.mdx'),
    title: 'every outputSchema declares what the tool returns',
    fix: 'List the fields of the result in properties. A bare {type: "object"} tells an agent nothing.',
    inspect: ({ outputSchema }) =>
      problemUnless(
        !isObject(outputSchema) || propertiesOf(outputSchema).some(([name]) => !Object.hasOwn(signals, name)),
        { path: 'outputSchema.properties', expected: 'at least one field of data', actual: 'none' },
      ),
  },
  {
    ...must('output.required-declared', 'C§2.1'),
    title: 'every required output field is declared',
    fix: 'Declare the property, or remove its name from required.',
    inspect: ({ outputSchema }) => undeclaredProblems(outputSchema, 'outputSchema'),
  },
  {
    ...must('output.compiles', 'C§2.1; app api/v1/tools/dispute/route.ts'),
    title: "every outputSchema compiles under the marketplace's validator",
    fix: 'Make it a valid JSON Schema (draft-07). With a schema that does not compile, the author loses every dispute.',
    inspect: ({ outputSchema }) => compileProblems(outputSchema, 'outputSchema'),
  },
  {
    ...fact(
      'output.kept-root',
      'must',
      'MCP SDK 1.22.0 (app pnpm-lock.yaml), ToolSchema: it drops $defs and refuses a map',
    ),
    title: 'every outputSchema survives the client of the marketplace, which keeps only a part of its root',
    fix: 'Write a definition where it is used, or refer to #/properties/…; put a map into a property. One such tool hides all tools.',
    inspect: ({ outputSchema }) => (isObject(outputSchema) ? lostProblems(outputSchema) : []),
  },
  ofSchemas(outputSchemas, {
    ...should('output.typed', 'C§2.1'),
    title: 'every output field has a type',
    fix: 'Add a type, such as type: ["number", "null"].',
    findProblems: ({ schema, path, property }) =>
      valueProblems(property === undefined || isTypedSchema(schema), `${path}.type`, 'a type', schema.type),
  }),
  ofSchemas(outputSchemas, {
    ...should('output.described', 'C§2.1'),
    title: 'every output field has a description',
    fix: 'Describe what the field means, with its unit.',
    findProblems: ({ schema, path, property }) =>
      property === undefined ? [] : textProblems(schema, 'description', `${path}.description`),
  }),
  ofSchemas(outputSchemas, {
    ...fact('output.items', 'should', 'docs guides/build-tools.mdx'),
    title: 'every list in the output declares its items',
    fix: 'Add items with a type, such as items: {type: "string"}.',
    findProblems: ({ schema, path }) =>
      problemUnless(!typesOf(schema).includes('array') || schema.items !== undefined, {
        path: `${path}.items`,
        expected: 'a schema',
        actual: shorten(schema.items),
      }),
  }),
  ofSchemas(outputSchemas, {
    ...fact('output.members', 'should', 'docs guides/build-tools.mdx'),
    title: 'every object inside the output declares its members',
    fix: 'Add properties, or additionalProperties with a schema if the keys are data.',
    findProblems: ({ schema, path }) =>
      problemUnless(
        path === 'outputSchema' ||
          !typesOf(schema).includes('object') ||
          propertiesOf(schema).length > 0 ||
          isObject(schema.additionalProperties) ||
          isObject(schema.patternProperties),
        { path: `${path}.properties`, expected: 'at least one property', actual: shorten(schema.properties) },
      ),
  }),
  mergeStatic(
    {
      title: 'every outputSchema allows an explicit empty result, and a failure',
      source: 'C§2.2, C§7, C§8',
      fix: 'Allow null in the required fields. Declare searchExhausted (boolean), and noResultsReason, error and message (strings).',
    },
    [
      {
        ...must('output.holds-empty', 'C§2.2, C§8'),
        title: 'every outputSchema allows an explicit empty result',
        fix: 'Allow null in the required fields and declare searchExhausted (boolean) and noResultsReason (string).',
        inspect: (tool, _siblings, profile) =>
          outcomeProblems(tool, profile, { searchExhausted: true }, { noResultsReason: 'Nothing matches.' }),
      },
      {
        ...must('output.holds-failure', 'C§2.2, C§7'),
        title: 'every outputSchema allows a failure',
        fix: 'Allow null in the required fields and declare error and message as strings.',
        inspect: (tool, _siblings, profile) =>
          outcomeProblems(tool, profile, { error: 'UPSTREAM_DOWN', message: 'The source does not answer.' }),
      },
    ],
  ),
  signalRule(['searchExhausted', 'noResultsReason'], {
    ...should('output.empty-signal', 'C§2.2'),
    title: 'every outputSchema declares a signal for empty results',
    fix: 'Declare searchExhausted (boolean) or noResultsReason (string) as optional properties.',
  }),
  signalRule(['error', 'message'], {
    ...should('output.failure-signal', 'C§2.2'),
    title: 'every outputSchema declares error and message',
    fix: 'Declare error and message as optional strings.',
  }),
];

/** What the client makes of the root: it drops the other keywords, and refuses a list if one of these has another form. */
const keptKeywords = ['type', 'properties', 'required', 'additionalProperties'];

function lostProblems(root: JsonObject): readonly Problem[] {
  const { additionalProperties: valueSchema = false, properties } = root;
  return [
    ...problemUnless(typeof valueSchema === 'boolean', {
      path: 'outputSchema.additionalProperties',
      expected: 'true or false at the root',
      actual: shorten(valueSchema),
    }),
    ...[...schemasIn({ properties: properties ?? {} }, 'outputSchema')].flatMap(
      ({ schema: { $ref }, path }) =>
        valueProblems(
          typeof $ref !== 'string' ||
            !$ref.startsWith('#/') ||
            keptKeywords.includes($ref.split('/')[1] ?? ''),
          `${path}.$ref`,
          'a reference into #/properties',
          $ref,
        ),
    ),
  ];
}

/** A rule that requires signals: one of those for an empty result, both of those for a failure. */
function signalRule(names: readonly SignalName[], text: Omit<StaticRule, 'inspect'>): StaticRule {
  return {
    ...text,
    inspect: ({ outputSchema }) => {
      const declaredNames = new Set(propertiesOf(outputSchema).map(([name]) => name));
      const missing = names.filter((name) => !declaredNames.has(name));
      const enough = names.includes('error') ? missing.length === 0 : missing.length < names.length;
      if (!isObject(outputSchema) || enough) return [];
      return missing.map((name) => ({
        path: `outputSchema.properties.${name}`,
        expected: `a ${signals[name].type}`,
        actual: 'nothing',
      }));
    },
  };
}

/**
 * Why an outputSchema allows no result without data, whichever of these signals the result has. Required fields may hold
 * null, an empty list, the argument that they repeat, as a count 0, or what every response contains, such as its time.
 */
function outcomeProblems(
  { inputSchema, outputSchema }: JsonObject,
  { smoke }: PlatformProfile,
  ...signalled: readonly JsonObject[]
): readonly Problem[] {
  if (!isObject(outputSchema) || !tryCompile(outputSchema).ok) return [];
  const required = requiredOf(outputSchema);
  const echoes = sampleArguments(
    { ...(isObject(inputSchema) && inputSchema), type: 'object', required },
    smoke,
  );
  const fixedMembers: JsonObject = Object.fromEntries(
    propertiesOf(outputSchema).flatMap(([name, schema]): [string, Json][] => {
      const [type, ...otherTypes] = typesOf(schema);
      if (!required.includes(name) || otherTypes.length > 0 || type === 'array' || type === 'object')
        return [];
      if (Object.hasOwn(echoes, name)) return [[name, echoes[name] ?? null]];
      if (name === 'searchExhausted') return [[name, false]];
      if (type === 'integer') return [[name, 0]];
      return [];
    }),
  );
  const found = signalled.map((signal) => {
    const members = { ...fixedMembers, ...signal };
    const rest = required.filter((name) => !Object.hasOwn(members, name));
    const blank = blankResult({ ...outputSchema, required: rest }, undefined, fixedValue);
    if (blank.ok) return mismatches(outputSchema, { ...blank.result, ...members }, 'structuredContent');
    return blank.blocked.map((path) => ({
      path,
      expected: 'a field that can be empty',
      actual: 'required, but allows neither null nor an empty list',
      fix: `Add "null" to ${path}.type, or remove the field from required.`,
    }));
  });
  return found.toSorted((left, right) => left.length - right.length)[0] ?? [];
}

/** The outcome that each case of this rule is about. */
const outcomes: Readonly<Record<string, 'empty' | 'fail'>> = {
  'output.holds-empty': 'empty',
  'output.holds-failure': 'fail',
};

/** Whether observed results can decide a rule. */
export function dependsOnCallResults({ id }: Pick<RuleResult, 'id'>): boolean {
  return id === 'output.holds-empty';
}

/** The verdict of such a rule without the problems of tools of which an observed result matches the outputSchema. */
export function withCallResults(
  result: RuleResult,
  tools: readonly JsonObject[],
  observed: Ledger['dataOf'],
): RuleResult {
  const problems = result.problems.filter(({ tool: name, case: id = '' }) => {
    const { outputSchema } = tools.find((tool) => tool.name === name) ?? {};
    const outcome = outcomes[id];
    const data = name === undefined || outcome === undefined ? undefined : observed(name, outcome);
    return !data || !isObject(outputSchema) || mismatches(outputSchema, data, 'structuredContent').length > 0;
  });
  if (problems.length > 0 || result.status !== 'fail') return { ...result, problems };
  return { ...result, status: 'pass', problems };
}

function isTypedSchema(schema: JsonObject): boolean {
  return ['type', '$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf'].some(
    (keyword) => schema[keyword] !== undefined,
  );
}
