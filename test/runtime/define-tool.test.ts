import { expect, expectTypeOf, test } from 'vitest';
import {
  defineTool,
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
