import type { Json } from '../../packages/contract/src/json/value.ts';
import type { Field, ScalarType, Shape, ToolSpec } from '../../src/model/tool-model.ts';
import fc from '../fast-check.ts';

/** Any text that a file can contain, including hostile ones. */
export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  fc.constantFrom(
    '"',
    "'",
    '`${x}`',
    '*/',
    '{{x}}',
    '</script>',
    '\\',
    'a|b',
    '=x',
    'null',
    '1..5',
    ' padded ',
    '\n',
    '🚀',
  ),
);

/** Includes names that every JavaScript object has. */
export const fieldName = fc.oneof(
  fc.stringMatching(/^[a-z][a-zA-Z0-9_]{0,12}$/),
  fc.constantFrom(
    'constructor',
    'toString',
    'hasOwnProperty',
    'a b',
    'a.b',
    'x[]',
    '"quoted"',
    '🚀',
    '*/',
    '?:',
  ),
);

const number = fc
  .double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
  .map((value) => value + 0);
const integer = fc.integer({ min: -1_000_000, max: 1_000_000 });

function scalarOf(type: ScalarType): fc.Arbitrary<Json> {
  if (type === 'string') return anyText;
  if (type === 'boolean') return fc.boolean();
  return type === 'integer' ? integer : number;
}

/** Omits the members that are undefined. */
function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

/** A scalar whose values match it. */
const scalar: fc.Arbitrary<Shape> = fc
  .constantFrom<ScalarType>('string', 'number', 'integer', 'boolean')
  .chain((type) =>
    fc
      .record({
        nullable: maybe(fc.constant(true)),
        enum:
          type === 'boolean'
            ? fc.constant(undefined)
            : maybe(fc.uniqueArray(scalarOf(type), { minLength: 1, maxLength: 4 })),
        values: fc.array(scalarOf(type), { minLength: 1, maxLength: 3 }),
        uses: fc.constantFrom('default', 'examples', 'both', 'none'),
        format:
          type === 'string'
            ? maybe(fc.constantFrom('date-time', 'uri', 'email', 'x-own'))
            : fc.constant(undefined),
        pattern:
          type === 'string'
            ? maybe(fc.constantFrom('^[A-Z]{3}$', '^\\d+/[a-z]$', '^a\\/b$'))
            : fc.constant(undefined),
        range:
          type === 'number' || type === 'integer'
            ? maybe(fc.tuple(integer, integer))
            : fc.constant(undefined),
      })
      .map(({ nullable, enum: allowed, values, uses, format, pattern, range }) => {
        const free = allowed === undefined && pattern === undefined && range === undefined;
        const isFormal = format !== undefined && format !== 'x-own';
        const given = allowed ?? (free ? values : []);
        return present({
          type,
          nullable,
          enum: allowed,
          // These texts are not dates or addresses, and no date matches these patterns.
          format: allowed || (isFormal && (pattern || uses !== 'none')) ? undefined : format,
          pattern: allowed ? undefined : pattern,
          minimum: allowed || !range ? undefined : Math.min(...range),
          maximum: allowed || !range ? undefined : Math.max(...range),
          default: given.length > 0 && (uses === 'default' || uses === 'both') ? given[0] : undefined,
          examples: given.length > 0 && (uses === 'examples' || uses === 'both') ? given : undefined,
        });
      }),
  );

/** Fields of every type, nested up to `depth` levels. */
export function fields(depth: number, { minLength = 0, maxLength = 5 } = {}): fc.Arbitrary<readonly Field[]> {
  return fc.uniqueArray(field(depth), { minLength, maxLength, selector: ({ name }) => name });
}

function field(depth: number): fc.Arbitrary<Field> {
  return fc
    .record({ name: fieldName, required: fc.boolean(), shape: shape(depth), description: maybe(anyText) })
    .map(({ name, required, shape, description }) =>
      present({ name, ...(required && { required }), ...shape, description }),
    );
}

function shape(depth: number): fc.Arbitrary<Shape> {
  if (depth === 0) return scalar;
  const object = fields(depth - 1, { minLength: 1, maxLength: 3 }).map(
    (members): Shape => ({ type: 'object', fields: members }),
  );
  const described = fc.tuple(fc.oneof(scalar, object), maybe(anyText));
  const list = described.map(
    ([items, description]): Shape => ({
      type: 'array',
      items: { ...withoutDefault(items), ...(description && { description }) },
    }),
  );
  const any = fc.oneof(
    { weight: 4, arbitrary: scalar },
    object,
    list,
    list.map((items): Shape => ({ type: 'array', items })),
  );
  return fc
    .tuple(any, maybe(fc.constant(true)))
    .map(([one, nullable]) => present({ ...one, nullable: one.nullable ?? nullable }));
}

/** The field language has no default for the items of a list. */
function withoutDefault({ default: _, ...items }: Shape): Shape {
  return items;
}

export const toolSpec: fc.Arbitrary<ToolSpec> = fc.record({
  name: fc.stringMatching(/^[a-z][a-z0-9]{1,8}(_[a-z0-9]{1,8}){1,2}$/),
  description: anyText.filter((text) => text.trim() !== ''),
  input: fields(2),
  output: fields(3, { minLength: 1 }),
  returns: fc.constantFrom('record', 'list'),
});
