import { expect, expectTypeOf, test } from 'vitest';
import {
  type Data,
  defineTool,
  type Input,
  type Outcome,
  signals,
  type Tool,
} from '../../packages/runtime/src/server/define-tool.ts';

const inputSchema = {
  type: 'object',
  properties: {
    chain: { type: 'string', enum: ['base', 'ethereum'], default: 'base' },
    limit: { type: 'integer' },
    pages: { type: 'integer', default: 3 },
    tags: { type: 'array', items: { type: 'string' } },
    range: { type: 'object', properties: { from: { type: 'number' } }, required: ['from'] },
  },
  required: ['limit'],
} as const;

const outputSchema = {
  type: 'object',
  properties: {
    ...signals,
    gwei: { type: ['number', 'null'] },
    rows: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'string' }, tier: { type: ['string', 'null'], enum: ['a', 'b', null] } },
        required: ['id'],
      },
    },
  },
  required: ['gwei', 'rows'],
} as const;

test('infers the types of run from the schemas', () => {
  const tool = defineTool({
    name: 'typed',
    description: 'A tool whose types are looked at by the compiler.',
    inputSchema,
    outputSchema,
    examples: [],
    run(input, { found, empty, fail, signal }) {
      expectTypeOf(input.chain).toEqualTypeOf<'base' | 'ethereum'>();
      expectTypeOf(input.limit).toEqualTypeOf<number>();
      expectTypeOf(input.pages).toEqualTypeOf<number>();
      expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>();
      expectTypeOf(input.range).toEqualTypeOf<{ from: number } | undefined>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(empty).parameters.toEqualTypeOf<[string]>();
      expectTypeOf(fail).returns.toEqualTypeOf<Outcome>();
      // @ts-expect-error No such parameter.
      void input.block;
      // @ts-expect-error A numeric string is not a number.
      found({ gwei: '12', rows: [] });
      // @ts-expect-error A required member is missing.
      found({ gwei: 12 });
      // @ts-expect-error No such member.
      found({ gwei: 12, rows: [], extra: 1 });
      // @ts-expect-error A wrong type in a list.
      found({ gwei: 12, rows: [{ id: 1 }] });
      // @ts-expect-error No such member in a list.
      found({ gwei: 12, rows: [{ id: 'x', extra: 1 }] });
      // @ts-expect-error A required member is missing in a list.
      found({ gwei: 12, rows: [{}] });
      // @ts-expect-error Not one of the allowed values.
      found({ gwei: 12, rows: [{ id: 'x', tier: 'c' }] });
      return found({ gwei: null, rows: [{ id: 'x', tier: null }, { id: 'y' }] });
    },
  });
  expectTypeOf(tool).toEqualTypeOf<Tool>();
  expect(tool.inputSchema).toBe(inputSchema);
});

test("requires an object at a schema's root and a list in required", () => {
  const rest = {
    name: 'n',
    description: 'd',
    examples: [],
    run: (): Outcome => ({ kind: 'empty', reason: '' }),
  };
  // @ts-expect-error The root is an array.
  defineTool({ ...rest, inputSchema, outputSchema: { type: 'array', properties: {}, required: [] } });
  // @ts-expect-error `required` is missing.
  defineTool({ ...rest, inputSchema, outputSchema: { type: 'object', properties: {} } });
});

test('admits further members if a schema mentions them', () => {
  defineTool({
    name: 'open',
    description: 'A tool whose answer may hold further members.',
    inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: { type: 'string' } },
    outputSchema: { ...outputSchema, additionalProperties: true },
    examples: [],
    run(input, { found }) {
      expectTypeOf(input.anything).toEqualTypeOf<unknown>();
      // @ts-expect-error A declared member keeps its type.
      found({ gwei: '12', rows: [], extra: 1 });
      return found({ gwei: 12, rows: [], extra: 1 });
    },
  });
});

test('uses unknown for keywords without a type, and keeps the others', () => {
  const number = { type: 'number' } as const;
  const a = { type: 'object', properties: { a: number } } as const;
  const schema = {
    type: 'object',
    properties: {
      all: { allOf: [{ type: 'string' }] },
      ref: { $ref: '#/definitions/a' },
      any: { anyOf: [{ type: 'string' }, { ...a, required: ['a'] }] },
      one: { oneOf: [number, { const: null }] },
      beside: { anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: number } },
      together: {
        properties: { a: {} },
        anyOf: [{ type: 'object', properties: { b: {} }, required: ['b'] }],
      },
      narrowed: { type: 'string', anyOf: [{ maxLength: 1 }, { minLength: 9 }] },
      open: { ...a, required: [], allOf: [{ required: ['a'] }] },
      map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
      mixed: { type: 'object', additionalProperties: { type: 'string' }, patternProperties: { x: number } },
      tuple: { type: 'array', items: [{ type: 'string' }, number] },
      nullable: { type: 'string', nullable: true },
      bare: {},
      anything: { type: 'object' },
      list: { type: 'array' },
    },
    required: ['all', 'ref', 'any', 'one', 'beside', 'together', 'narrowed', 'open', 'map', 'mixed', 'tuple'],
  } as const;
  type D = Required<Data<typeof schema>>;
  type Unknown = 'all' | 'ref' | 'beside' | 'together' | 'bare';
  expectTypeOf<{ -readonly [Name in Unknown]: D[Name] }>().toEqualTypeOf<{ [Name in Unknown]: unknown }>();
  expectTypeOf<D['any']>().toEqualTypeOf<string | { a: number }>();
  expectTypeOf<D['one']>().toEqualTypeOf<number | null>();
  expectTypeOf<D['narrowed']>().toEqualTypeOf<string>();
  expectTypeOf<{ a: number; more: string }>().toExtend<D['open']>();
  expectTypeOf<{ a: string }>().not.toExtend<D['open']>();
  expectTypeOf<D['map']>().toEqualTypeOf<{ [name: string]: string[] }>();
  expectTypeOf<D['mixed' | 'anything']>().toEqualTypeOf<{ [name: string]: unknown }>();
  expectTypeOf<D['tuple' | 'list']>().toEqualTypeOf<unknown[]>();
  expectTypeOf<D['nullable']>().toEqualTypeOf<string | null>();
});

test('keeps the types of a root with keywords beside its properties, and admits further members', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'string', default: 'x' } },
    required: [],
    anyOf: [{ required: ['a'] }, { required: ['c'] }],
  } as const;
  type I = Input<typeof schema>;
  expectTypeOf<[I['a'], I['b'], I['c']]>().toEqualTypeOf<[number | undefined, string, unknown]>();
  expectTypeOf<{ c: number }>().toExtend<Data<typeof schema>>();
  expectTypeOf<{ a: string }>().not.toExtend<Data<typeof schema>>();
});
