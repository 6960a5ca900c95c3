import { Ajv } from 'ajv';
import { cachedByObject, isObject, shorten } from '../json/json.ts';
import { propertiesOf, typesOf } from '../json/keywords.ts';
import { mismatches, mismatchesIn } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { fact, must, type StaticRule } from './rule.ts';

/** The keys of `_meta` that the platform profile knows. */
export const metaRules: readonly StaticRule[] = [
  {
    ...must('meta.shape', 'C§2.1; profile toolMeta'),
    title: 'every _meta has the structure that the platform expects',
    fix: 'Change the value to what the message expects.',
    inspect: ({ _meta }, _siblings, { toolMeta }) =>
      _meta === undefined || toolMeta === null ? [] : mismatches(partsOf(toolMeta).shape, _meta, '_meta'),
  },
  {
    ...fact('meta.sense', 'should', 'profile toolMeta; docs guides/tool-metadata.mdx'),
    title: 'the values of every _meta are consistent',
    fix: 'Add the missing value, or change the value that requires it.',
    inspect: ({ _meta, inputSchema }, _siblings, { toolMeta }) =>
      isObject(_meta) && toolMeta !== null
        ? [
            ...mismatches(partsOf(toolMeta).sense, _meta, '_meta'),
            ...contextProblems(_meta, inputSchema, toolMeta),
          ]
        : [],
  },
  {
    ...fact('meta.references', 'must', 'profile toolMeta; docs guides/tool-metadata.mdx'),
    title: 'every _meta refers to tools and parameters that exist',
    fix: 'Name a tool of this server, or declare the parameter that takes the injected data.',
    inspect: (tool, siblings, { toolMeta }) =>
      isObject(tool._meta) && toolMeta !== null ? referenceProblems(tool, siblings, toolMeta) : [],
  },
  {
    ...fact('meta.known-keys', 'should', 'profile toolMeta; docs guides/tool-metadata.mdx'),
    title: 'every _meta contains only keys that the platform knows',
    fix: 'Remove the key, correct its spelling, or use a key with your own prefix, such as "example.com/key".',
    inspect: ({ _meta }, _siblings, { toolMeta }) =>
      isObject(_meta) && toolMeta !== null ? unknownKeys(_meta, toolMeta, '_meta') : [],
  },
];

/** The two halves of `PlatformProfile.toolMeta`, split once, so that each is compiled once. */
const partsOf = cachedByObject(({ allOf, ...shape }: JsonObject) => ({
  shape,
  sense: { allOf: allOf ?? [{}] },
}));

/** Checks the two formats by which a profile binds `_meta` to the tools (`PlatformProfile.toolMeta`). */
function referenceProblems(
  tool: JsonObject,
  siblings: readonly JsonObject[],
  toolMeta: JsonObject,
): readonly Problem[] {
  const { validate, subject } = referencesOf(toolMeta);
  subject.names = new Set([tool, ...siblings].map(({ name }) => name));
  subject.takesContext = contextParameters(tool.inputSchema).length > 0;
  if (validate(tool._meta)) return [];
  validate.errors = validate.errors?.filter(({ keyword }) => keyword === 'format') ?? null;
  return mismatchesIn(validate, tool._meta, '_meta').map((problem) => ({
    ...problem,
    expected: problem.expected.includes('tool-name')
      ? 'the name of a tool of this server'
      : 'an input property of type object, array or string that receives the data',
  }));
}

/**
 * What the platform injects: a portfolio is an object, wallet addresses are an array, and tools of the marketplace itself
 * take an address as a string (docs guides/tool-metadata.mdx; app lib/ai/skills/mcp.ts).
 */
const contextTypes: ReadonlySet<unknown> = new Set(['object', 'array', 'string']);

/** The parameters that can receive what the platform injects. */
function contextParameters(inputSchema: Json | undefined): readonly (readonly [string, JsonObject])[] {
  return propertiesOf(inputSchema).filter(([, schema]) =>
    typesOf(schema).some((type) => contextTypes.has(type)),
  );
}

/** What describes a parameter that receives the data of a user of the platform. */
const contextWords =
  /wallet|address|account|portfolio|position|holding|balance|context|inject|hyperliquid|polymarket/i;

/** The problem of a tool that requires data of the user, if no parameter is described as one of them. */
function contextProblems(
  { contextRequirements }: JsonObject,
  inputSchema: Json | undefined,
  { properties }: JsonObject,
): readonly Problem[] {
  const isKnown = isObject(properties) && properties.contextRequirements !== undefined;
  if (!isKnown || !Array.isArray(contextRequirements) || contextRequirements.length === 0) return [];
  const parameters = contextParameters(inputSchema);
  const isDescribed = parameters.some(([name, { title, description }]) =>
    contextWords.test(shorten([name, title ?? '', description ?? ''], 10_000)),
  );
  if (parameters.length === 0 || isDescribed) return []; // without parameters, see meta.references
  return [
    {
      path: '_meta.contextRequirements',
      expected: 'a parameter whose name or description says wallet, address, account or portfolio',
      actual: shorten(parameters.map(([name]) => name)),
      fix: 'Describe the parameter that receives the data of the user, or remove contextRequirements.',
    },
  ];
}

/** What the two formats look up; set before each use. */
interface Subject {
  names: ReadonlySet<unknown>;
  takesContext: boolean;
}

/** The validator of the two formats, compiled once for all tools: a profile's `toolMeta` is large. */
const referencesOf = cachedByObject((toolMeta: JsonObject) => {
  const subject: Subject = { names: new Set(), takesContext: false };
  const formats = {
    'tool-name': (name: string) => subject.names.has(name),
    'context-input': () => subject.takesContext,
  };
  const validate = new Ajv({ allErrors: true, strict: false, logger: false, formats }).compile(toolMeta);
  return { validate, subject };
});

/** Keys with a `/` start with their owner's domain (MCP `_meta`); the platform ignores them. */
function unknownKeys(value: JsonObject, schema: JsonObject, path: string): readonly Problem[] {
  if (!isObject(schema.properties) || schema.additionalProperties === true) return [];
  const { properties } = schema;
  return Object.entries(value).flatMap(([key, member]) => {
    const knownSchema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (isObject(knownSchema))
      return isObject(member) ? unknownKeys(member, knownSchema, `${path}.${key}`) : [];
    if (key.includes('/')) return [];
    return [
      {
        path: `${path}.${key}`,
        expected: `one of ${shorten(Object.keys(properties))}`,
        actual: shorten(key),
      },
    ];
  });
}
