import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import formats from 'ajv-formats/dist/formats.js';
import { expect, test } from 'vitest';
import type { ObjectSchema, Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { compileTool } from '../../packages/runtime/src/server/schema.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import fc from '../fast-check.ts';
import { start, token } from './support.ts';
import { textTool } from './tools.ts';

const names = Object.keys(formats.fullFormats);

/** A tool whose argument and answer have a format; it returns the argument `answer`. */
function formatTool(format: string): Tool {
  const value = { type: ['string', 'number', 'null'], format };
  return {
    ...textTool('dated', (input, { found }) => found({ value: (input as { answer: unknown }).answer })),
    inputSchema: { type: 'object', properties: { value, answer: {} }, required: [] },
    outputSchema: { type: 'object', properties: { value }, required: ['value'] },
  };
}

test('a value that does not match its format is logged as a mismatch and gives a failure that the SDK client accepts', async () => {
  const { url, events } = await start({ tools: [formatTool('date-time')] });
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${await token()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  // The client validates answers with the schemas that it has listed.
  await client.listTools();
  const call = (args: Record<string, unknown>) => client.callTool({ name: 'dated', arguments: args });

  const wrong = await call({ answer: '2026-01-15 12:00:00' });
  expect(wrong).toMatchObject({
    isError: true,
    structuredContent: { value: null, error: 'OUTPUT_MISMATCH' },
  });
  const [incident] = events().filter(({ event }) => event === 'incident');
  const [mismatch, ...frames] = incident.detail.split(/\n +at /);
  expect(mismatch).toBe('structuredContent.value: must match format "date-time", got "2026-01-15 12:00:00"');
  expect(frames.join()).toContain('test/runtime/formats.test.ts:');
  expect(events().at(-1)).toMatchObject({ outcome: 'OUTPUT_MISMATCH' });

  const right = await call({ answer: '2026-01-15T12:00:00Z', value: '2026-01-15T12:00:00Z' });
  expect(right.structuredContent).toEqual({ value: '2026-01-15T12:00:00Z' });
  const refused = await call({ value: 'yesterday', answer: null });
  expect(refused.structuredContent).toMatchObject({
    error: 'INVALID_ARGUMENTS',
    message: 'arguments.value: must match format "date-time", got "yesterday"',
  });
  await client.close();
});

test.each([...names, 'unknown-format'])('format %s is as strict as in the SDK client', (format) => {
  const { outputSchema } = formatTool(format);
  const theirs = new AjvJsonSchemaValidator().getValidator({ ...outputSchema });
  const { applyInputSchema, findOutputProblem } = compileTool(formatTool(format));
  const samples = [
    ...[
      '',
      'x',
      '2026-01-15',
      '2026-02-30',
      '12:00:00',
      '12:00:00Z',
      '2026-01-15T12:00:00Z',
      '2026-01-15 12:00:00',
    ],
    ...[
      'P1D',
      'a@b.example',
      'a@b',
      'tools.example',
      '10.0.0.1',
      '::1',
      'https://tools.example/x?y',
      '/x',
      '{x}',
    ],
    ...[
      '8f14e45f-ceea-467f-a8d6-1b1b1b1b1b1b',
      '/a/~0',
      '0#',
      '^a+$',
      '[',
      'aGk=',
      '\u0000',
      1,
      1.5,
      2 ** 40,
      null,
    ],
  ];
  const agree = (value: unknown) => {
    const { valid } = theirs({ value });
    for (const check of [applyInputSchema, findOutputProblem]) {
      expect(check({ value }, 'x') === null, JSON.stringify(value)).toBe(valid);
    }
  };
  samples.forEach(agree);
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }); // the numbers that JSON can represent
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.emailAddress(), number), agree), {
    numRuns: 50,
  });
});

test('supports the keywords of the format package as the SDK client does', async () => {
  const schema = {
    type: 'object',
    properties: { value: { type: 'string', format: 'date', formatMinimum: '2026-01-01' } },
    required: ['value'],
  } as const satisfies ObjectSchema;
  const tool: Tool = {
    ...textTool('bounded', (_, { found }) => found({ value: '2025-12-31' })),
    outputSchema: schema,
  };
  expect(new AjvJsonSchemaValidator().getValidator({ ...schema })({ value: '2025-12-31' }).valid).toBe(false);
  const { isError } = await callTool(tool, {}, { report: () => {} });
  expect(isError).toBe(true);
});

test('allows two tools with the same $id, as the SDK client does', async () => {
  const tools = [1, 2].map((number) => ({
    ...textTool(`same_${number}`, (_, { found }) => found({ text: 'x' })),
    outputSchema: {
      ...textTool('x', () => ({ kind: 'empty', reason: '' })).outputSchema,
      $id: 'https://tools.example/same',
    },
  }));
  for (const tool of tools) expect((await callTool(tool)).structuredContent).toEqual({ text: 'x' });
});
