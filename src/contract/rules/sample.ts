import { isObject, kept, objectOr, present, shorten, withoutPrototype } from '../json.ts';
import type { Json, JsonObject, Problem } from '../model.ts';
import { mismatches } from '../schema/schema.ts';
import { schemasIn } from '../schema/walk.ts';
import { hasItems } from './read.ts';
import { must, type StaticRule, should, unless } from './rule.ts';

/** The sample values in an inputSchema; callers build arguments from them. */
export const sampleRules: readonly StaticRule[] = [
  ofSamples({
    ...must('input.default', 'C§2.1'),
    title: 'every default matches its parameter',
    fix: 'Change the default to a value that the parameter allows.',
    judge: (schema, path, mismatchesOf) =>
      schema.default === undefined ? [] : mismatchesOf(schema.default, `${path}.default`),
  }),
  ofSamples({
    ...should('input.examples', 'C§2.1'),
    title: 'all examples of a parameter match it',
    fix: 'Make examples an array of values that the parameter allows.',
    judge: ({ examples }, path, mismatchesOf) => {
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
    judge: (schema, path, mismatchesOf) => {
      if (!hasItems(schema.enum)) return [];
      const types = [...new Set(schema.enum.map(typeName))];
      return [
        ...unless(schema.type !== undefined || types.length === 1, {
          path: `${path}.enum`,
          expected: 'values of one type',
          actual: types.join(', '),
        }),
        ...schema.enum.flatMap((value, index) => mismatchesOf(value, `${path}.enum[${index}]`)),
      ];
    },
  }),
];

interface SampleRule extends Omit<StaticRule, 'inspect'> {
  /** `mismatchesOf` lists the mismatches between a value and the schema that contains it. */
  judge(
    schema: JsonObject,
    path: string,
    mismatchesOf: (value: Json, path: string) => readonly Problem[],
  ): readonly Problem[];
}

/** A rule about the sample values of each schema inside an inputSchema: those of parameters and of their members. */
function ofSamples({ judge, ...text }: SampleRule): StaticRule {
  return {
    ...text,
    inspect: ({ inputSchema }) => {
      if (!isObject(inputSchema)) return [];
      const { schema: side, members } = sideBySide(inputSchema);
      return members.flatMap(({ name, place }) =>
        judge(place.schema, place.path, (value, path) =>
          mismatches(side, withoutPrototype({ [name]: value }), 'arguments').map((problem) => ({
            ...problem,
            path,
          })),
        ),
      );
    },
  };
}

/**
 * One schema in which every schema inside an inputSchema is an optional property, with a unique name and with
 * the definitions it may refer to. It is compiled once and validates a value against any one of them.
 */
const sideBySide = kept((inputSchema: JsonObject) => {
  const [, ...inner] = schemasIn(inputSchema, 'inputSchema');
  const members = inner.map((place) => ({ name: `value of ${place.path}`, place }));
  const { properties, definitions, $defs } = inputSchema;
  const own = Object.fromEntries(members.map(({ name, place }) => [name, place.schema]));
  const all = { ...objectOr(properties), ...own };
  return { schema: present<Json>({ properties: all, definitions, $defs }), members };
});

function typeName(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
