import { isPlaceholder } from '../definition/placeholder.ts';
import { cachedByObject, isObject, objectOr, present, shorten, withoutPrototype } from '../json/json.ts';
import { propertiesOf } from '../json/keywords.ts';
import { mismatches, tryCompile, withoutDialect } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { schemasIn } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { sampleArguments } from '../platforms/sample-arguments.ts';
import { fact, must, problemUnless, type StaticRule, should, valueProblems } from './rule.ts';
import {
  hasItems,
  inputSchemas,
  ofSchemas,
  rootProblems,
  textProblems,
  undeclaredProblems,
} from './schema-problems.ts';

/** The inputSchema, its parameters and their sample values, from which callers build arguments. */
export const inputRules: readonly StaticRule[] = [
  {
    ...must('input.object-root', 'C§2.1'),
    title: 'every inputSchema is an object schema',
    fix: 'Set inputSchema.type to "object".',
    inspect: ({ inputSchema }) => rootProblems(inputSchema, 'inputSchema'),
  },
  {
    ...must('input.properties', 'C§2.1'),
    title: 'every inputSchema has properties',
    fix: 'Add properties; use {} if the tool takes no arguments.',
    inspect: ({ inputSchema }) => {
      if (!isObject(inputSchema)) return [];
      const { properties } = inputSchema;
      return valueProblems(isObject(properties), 'inputSchema.properties', 'an object', properties);
    },
  },
  {
    ...must('input.required', 'C§2.1'),
    title: 'every inputSchema has a list of required properties',
    fix: 'Add required; use [] if nothing is required.',
    inspect: ({ inputSchema }) => {
      if (!isObject(inputSchema)) return [];
      const { required } = inputSchema;
      return valueProblems(
        isNameList(required),
        'inputSchema.required',
        'an array of property names',
        required,
      );
    },
  },
  {
    ...must('input.required-declared', 'C§2.1'),
    title: 'every required parameter is declared',
    fix: 'Declare the property, or remove its name from required.',
    inspect: ({ inputSchema }) => undeclaredProblems(inputSchema, 'inputSchema'),
  },
  {
    ...must('input.compiles', 'C§2.1'),
    title: 'every inputSchema compiles as JSON Schema',
    fix: 'Correct the schema at the place that the message names.',
    inspect: ({ inputSchema }) =>
      compileProblems(isObject(inputSchema) ? withoutDialect(inputSchema) : inputSchema, 'inputSchema'),
  },
  ofParameters({
    ...should('input.type', 'C§2.1'),
    title: 'every parameter has exactly one type',
    fix: 'Use one type. An optional parameter can be left out, so it need not be null.',
    findProblems: ({ type }, path) =>
      valueProblems(typeof type === 'string', `${path}.type`, 'one type', type),
  }),
  ofParameters({
    ...should('input.description', 'C§2.1'),
    title: 'every parameter has a description',
    fix: 'Describe what the parameter means and its format, such as "ISO 4217 code, such as EUR".',
    findProblems: (schema, path) => textProblems(schema, 'description', `${path}.description`),
  }),
  ofParameters({
    ...should('input.sample', 'C§2.1'),
    title: 'every parameter has a default, examples or an enum',
    fix: 'Add examples. Agents and the submission test build their arguments from them.',
    findProblems: (schema, path) =>
      problemUnless(schema.default !== undefined || hasItems(schema.examples) || hasItems(schema.enum), {
        path,
        expected: 'default, examples or enum',
        actual: 'none of these',
      }),
  }),
  ofSchemas(inputSchemas, {
    ...should('input.placeholder', 'C§2.1'),
    title: 'no parameter has a placeholder as its example',
    fix: 'Replace the placeholder by a value for which the tool returns data, and remove the $comment.',
    findProblems: ({ schema, path }) =>
      problemUnless(!isPlaceholder(schema.$comment), {
        path: `${path}.examples`,
        expected: 'a value for which the tool returns data',
        actual: `the placeholder ${shorten(schema.examples)}`,
      }),
  }),
  ofSchemas(inputSchemas, {
    ...fact('input.items', 'should', 'app contribute/actions.ts'),
    title: 'every array parameter declares its items',
    fix: 'Add items with a type. Without it, the submission test and most agents send an empty array.',
    findProblems: ({ schema: { type, items }, path }) =>
      valueProblems(type !== 'array' || items !== undefined, `${path}.items`, 'a schema', items),
  }),
  {
    ...fact('input.smoke-arguments', 'should', 'app contribute/actions.ts'),
    title: 'the arguments of the submission test match every inputSchema',
    fix: 'Give the parameter a default or examples that match its schema. Otherwise the test sends "test", 1 or true.',
    inspect: ({ inputSchema }, _siblings, { smoke }) =>
      isObject(inputSchema)
        ? mismatches(
            withoutDialect(inputSchema),
            withoutPrototype(sampleArguments(inputSchema, smoke)),
            'arguments',
          )
        : [],
  },
  ofSamples({
    ...must('input.default', 'C§2.1'),
    title: 'every default matches its parameter',
    fix: 'Change the default to a value that the parameter allows.',
    findProblems: (schema, path, mismatchesOf) =>
      schema.default === undefined ? [] : mismatchesOf(schema.default, `${path}.default`),
  }),
  ofSamples({
    ...should('input.examples', 'C§2.1'),
    title: 'all examples of a parameter match it',
    fix: 'Make examples an array of values that the parameter allows.',
    findProblems: ({ examples }, path, mismatchesOf) => {
      if (examples === undefined) return [];
      if (!Array.isArray(examples)) {
        return [{ path: `${path}.examples`, expected: 'an array', actual: shorten(examples) }];
      }
      return examples.flatMap((example, index) => mismatchesOf(example, `${path}.examples[${index}]`));
    },
  }),
  ofSamples({
    ...should('input.enum', 'C§2.1'),
    title: 'every allowed value of a parameter has its type',
    fix: 'Change the values of enum, or the type.',
    findProblems: (schema, path, _mismatchesOf, openMismatchesOf) => {
      if (!hasItems(schema.enum)) return [];
      const types = [...new Set(schema.enum.map(typeName))];
      return [
        ...problemUnless(schema.type !== undefined || types.length === 1, {
          path: `${path}.enum`,
          expected: 'values of one type',
          actual: types.join(', '),
        }),
        ...schema.enum.flatMap((value, index) => openMismatchesOf(value, `${path}.enum[${index}]`)),
      ];
    },
  }),
];

/** The problem of a schema that does not compile. */
export function compileProblems(schema: unknown, path: string): readonly Problem[] {
  const result = isObject(schema) ? tryCompile(schema) : undefined;
  if (result?.ok === false) return [{ path, expected: 'a schema that compiles', actual: result.reason }];
  return [];
}

interface ParameterRule extends Omit<StaticRule, 'inspect'> {
  findProblems(schema: JsonObject, path: string): readonly Problem[];
}

/** A rule about each member of `inputSchema.properties`. */
function ofParameters({ findProblems, ...text }: ParameterRule): StaticRule {
  return {
    ...text,
    inspect: ({ inputSchema }) =>
      propertiesOf(inputSchema).flatMap(([name, schema]) =>
        findProblems(schema, `inputSchema.properties.${name}`),
      ),
  };
}

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

type MismatchesOf = (value: Json, path: string) => readonly Problem[];

interface SampleRule extends Omit<StaticRule, 'inspect'> {
  /** `mismatchesOf` lists the mismatches between a value and the schema that contains it, `openMismatchesOf` those without its enum. */
  findProblems(
    schema: JsonObject,
    path: string,
    mismatchesOf: MismatchesOf,
    openMismatchesOf: MismatchesOf,
  ): readonly Problem[];
}

/** A rule about the sample values of each schema inside an inputSchema: those of parameters and of their members. */
function ofSamples({ findProblems, ...text }: SampleRule): StaticRule {
  return {
    ...text,
    inspect: ({ inputSchema }) => {
      if (!isObject(inputSchema)) return [];
      const { schema: side, members } = sideBySide(inputSchema);
      const mismatchesOf =
        (name: string): MismatchesOf =>
        (value, path) =>
          mismatches(side, withoutPrototype({ [name]: value }), 'arguments').map((problem) => ({
            ...problem,
            path,
          }));
      return members.flatMap(({ name, place }) =>
        findProblems(place.schema, place.path, mismatchesOf(name), mismatchesOf(openly(name))),
      );
    },
  };
}

/**
 * One schema in which every schema inside an inputSchema is an optional property, with a unique name and with
 * the definitions it may refer to. It is compiled once and validates a value against any one of them.
 */
const sideBySide = cachedByObject((inputSchema: JsonObject) => {
  const [, ...inner] = schemasIn(inputSchema, 'inputSchema');
  const members = inner.map((place) => ({ name: `value of ${place.path}`, place }));
  const { properties, definitions, $defs } = inputSchema;
  const ownProperties = Object.fromEntries(
    members.flatMap(({ name, place: { schema } }) => [
      [name, schema],
      ...(schema.enum === undefined ? [] : [[openly(name), present<Json>({ ...schema, enum: undefined })]]),
    ]),
  );
  const allProperties = { ...objectOr(properties), ...ownProperties };
  return { schema: present<Json>({ properties: allProperties, definitions, $defs }), members };
});

/** The name of the same schema without its enum: each of many values would be compared with all. */
function openly(name: string): string {
  return `${name} without enum`;
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
