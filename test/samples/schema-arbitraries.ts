import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import fc from '../fast-check.ts';

/** Includes names that JavaScript objects have, and those of the signals. */
const names = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('a', 'b', 'c', 'id', 'a b', 'constructor') },
  fc.constantFrom(...Object.keys(signals)),
);
/** A rare keyword: random keywords mostly contradict each other. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, arbitrary);
const present = (schema: object): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
const scalars = fc.constantFrom<Json>('x', '', 'test', 0, 1, -2.5, true, null);
const small = fc.integer({ min: 0, max: 4 });
const patterns = fc.constantFrom('^[A-Z]{3}$', '^0x[0-9a-f]{4}$', '^\\d+$', '(?=x)y', '^error$', '');
const formats = fc.constantFrom(
  'date-time',
  'date',
  'time',
  'duration',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'regex',
  'json-pointer',
  'byte',
  'x-own',
);

const strings = fc
  .record({
    type: fc.constant('string'),
    format: rarely(formats),
    pattern: rarely(patterns),
    minLength: rarely(small),
    maxLength: rarely(small),
    default: rarely(scalars),
    examples: rarely(fc.array(scalars, { maxLength: 2 })),
    nullable: rarely(fc.boolean()),
  })
  .map(present);

const numbers = fc
  .record({
    type: fc.constantFrom('number', 'integer'),
    minimum: rarely(small),
    maximum: rarely(small),
    exclusiveMinimum: rarely(small),
    multipleOf: rarely(fc.constantFrom(1, 3, 0.01)),
    default: rarely(scalars),
  })
  .map(present);

const enums = fc
  .record({ size: fc.constantFrom(1, 2, 47, 300), type: fc.constantFrom('string', 'integer', undefined) })
  .map(({ size, type }) => ({
    ...(type !== undefined && { type }),
    enum: Array.from({ length: size }, (_, i): Json => (type === 'integer' ? i : `v${i}`)),
  }));

const { schema, object } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 12, arbitrary: strings },
    { weight: 6, arbitrary: numbers },
    enums as fc.Arbitrary<JsonObject>,
    fc.constant({ type: 'boolean' }),
    fc.constant({}),
    scalars.map((value) => ({ const: value })),
    fc.constantFrom({ $ref: '#/definitions/d' }, { $ref: '#/definitions/nowhere' }, { $ref: '#' }),
    { weight: 6, arbitrary: tie('object') },
    {
      weight: 4,
      arbitrary: fc
        .record({
          type: fc.constant('array'),
          items: tie('schema'),
          minItems: rarely(small),
          uniqueItems: rarely(fc.boolean()),
        })
        .map(present),
    },
    fc
      .tuple(
        fc.constantFrom('anyOf', 'oneOf', 'allOf'),
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
      )
      .map(([keyword, members]) => ({ [keyword]: members })),
    tie('schema').map((one) => ({ not: one })),
    fc.record({
      type: fc.constant(['string', 'null']),
      description: fc.constant('x'),
    }) as fc.Arbitrary<JsonObject>,
    fc.record({
      type: fc.constant('array'),
      items: fc.array(tie('schema'), { maxLength: 2 }),
    }) as fc.Arbitrary<JsonObject>,
  ),
  object: fc
    .record({
      type: fc.constant('object'),
      properties: fc.dictionary(names, tie('schema'), { maxKeys: 4 }),
      additionalProperties: rarely(fc.oneof(fc.boolean(), tie('schema'))),
      patternProperties: rarely(fc.dictionary(patterns, tie('schema'), { maxKeys: 1 })),
      propertyNames: rarely(
        fc.oneof(
          formats.map((format) => ({ format })),
          patterns.map((pattern) => ({ pattern })),
        ),
      ),
      minProperties: rarely(small),
      maxProperties: rarely(small),
      required: fc.uniqueArray(names, { maxLength: 3 }),
    })
    .map(({ required, ...members }) => ({
      ...present(members),
      required: required.filter((name) => Object.hasOwn(members.properties, name)),
    })),
}));

/** Draft-07 schemas as the root of a definition: mostly objects, and mostly satisfiable. */
export const schemaDocument: fc.Arbitrary<JsonObject> = fc
  .record({ root: fc.oneof({ weight: 15, arbitrary: object }, schema), d: schema })
  .map(({ root, d }) => ({ ...root, definitions: { d } }));
