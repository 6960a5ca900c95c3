import { describe, expect, it, vi } from 'vitest';
import { type Outcomes, signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { runCall } from '../../packages/runtime/src/server/run-call.ts';
import { compileTool } from '../../packages/runtime/src/server/schema.ts';

const number = { type: ['number', 'null'] } as const;
const outputSchema = {
  type: 'object',
  properties: {
    ...signals,
    price: number,
    volume: number,
    rows: {
      type: ['array', 'null'],
      items: { type: 'object', properties: { bid: number, ask: number }, required: ['bid', 'ask'] },
    },
    id: { type: 'string' },
  },
  required: ['price', 'volume', 'rows'],
} as const;

/** Ends a call of a tool that returns these data, in production or elsewhere. */
async function callWith(
  data: object,
  production: boolean,
  required: readonly string[] = outputSchema.required,
) {
  const tool = {
    name: 'get_price',
    description: 'Price',
    inputSchema: { type: 'object', properties: {}, required: [] },
    outputSchema: { ...outputSchema, required },
    examples: [],
    run: async (_: object, { found }: Outcomes<object>) => found(data),
  } as unknown as Tool;
  const report = vi.fn();
  const onMissing = vi.fn();
  const context = {
    requestId: 'id',
    onDisconnect: () => () => {},
    timeoutMs: undefined,
    onIncident: report,
    fillsMissing: production,
    onMissing,
  };
  const { result, outcome, code } = await runCall(compileTool(tool), {}, context);
  const paths = onMissing.mock.calls.map(([path]) => path);
  return { outcome, code, answer: result.structuredContent, paths, text: result.content[0].text };
}

describe('a required member that a tool leaves out', () => {
  it('is null in production, and its path is named', async () => {
    const { outcome, answer, paths, text } = await callWith(
      { price: 1, rows: [{ bid: 1 }, { bid: 2 }] },
      true,
    );
    expect(outcome).toBe('found');
    expect(answer).toEqual({ price: 1, volume: null, rows: [1, 2].map((bid) => ({ bid, ask: null })) });
    expect(JSON.parse(text)).toEqual(answer);
    expect(paths).toEqual(['answer.rows[*].ask', 'answer.volume']);
  });

  it('is an error outside production', async () => {
    expect((await callWith({ price: 1, rows: [] }, false)).code).toBe('OUTPUT_MISMATCH');
  });

  it.each<[string, object, readonly string[] | undefined]>([
    ['less than half of the members are there', { price: 1 }, undefined],
    ['it may not be null', { price: 1, volume: 2, rows: [] }, ['price', 'volume', 'rows', 'id']],
    ['another member has a wrong type', { price: 'x', rows: [] }, undefined],
  ])('is an error in production if %s', async (_, data, required) => {
    const { code, paths } = await callWith(data, true, required);
    expect(code).toBe('OUTPUT_MISMATCH');
    expect(paths).toEqual([]);
  });
});
