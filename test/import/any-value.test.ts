import { expect, it } from 'vitest';
import { textOr } from '../../packages/contract/src/json/json.ts';
import type { Json } from '../../packages/contract/src/json/value.ts';
import { reasonIn } from '../../packages/runtime/src/source/failure-reason.ts';
import { mcpFailure } from '../../packages/runtime/src/source/mcp-result.ts';
import { readOpenApi } from '../../src/import/openapi/openapi-document.ts';
import { isFailureAnswer } from '../../src/import/sample.ts';
import { base, documentOf, ok, toolOf } from './openapi.ts';

function nested(levels: number): Json {
  let value: Json = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** Values that a conversion to text throws at. */
const values: readonly (readonly [string, Json])[] = [
  ['an object with a member toString', { toString: 1 } as unknown as Json],
  ['100,000 levels', nested(100_000)],
];

it.each(values)('a value in the place of a text is no text: %s', (_, value) => {
  expect([textOr(value, 'other'), textOr(5), textOr(false), textOr(null)]).toEqual([
    'other',
    '5',
    'false',
    '',
  ]);
});

it.each(values)(
  '%s in the place of a reason, or as a step of its location, does not hide the reason',
  (_, value) => {
    const detail = value !== values[1]?.[1] ? value : nested(1_000);
    const text = JSON.stringify({ detail: [{ loc: ['body', detail, 'chain'], msg: 'is unknown' }] });
    expect(reasonIn(text)).toContain('is unknown');
  },
);

it.each(values)('a failed MCP tool with %s as its message has the reason of its content', (_, message) => {
  const content = [
    { type: message, text: 'x' },
    { type: 'text', text: 'No such city' },
  ];
  expect(mcpFailure({ structuredContent: { message }, content } as never).message).toContain('No such city');
});

it.each(values)('a response with %s in the place of its status is read', (_, value) => {
  expect(isFailureAnswer({ status: value, message: value, success: value })).toBe(false);
});

it.each([
  ['an object with a member toString', '{"toString":1}'],
  ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
])('a document with %s as its version is rejected', async (_, version) => {
  const { openapi: __, ...rest } = base;
  const result = await readOpenApi(`{"openapi":${version},${JSON.stringify(rest).slice(1)}`, 'api.json');
  expect(result.ok).toBe(false);
});

it('a document with an object in the place of texts keeps its valid operations', async () => {
  const strange = { toString: 1 };
  const server = {
    url: 'https://{host}.example:{port}',
    variables: { port: { default: 8443 }, host: { default: 'a' } },
  };
  const schema = {
    type: 'object',
    properties: { id: { type: 'integer', format: strange, example: strange } },
  };
  const document = documentOf({ responses: ok(schema) }, { servers: [server] });
  expect((await toolOf(document)).call.api.address.fallback).toBe('https://a.example:8443');
  const scheme = { type: 'http', scheme: strange };
  const secured = documentOf({ security: [] }, { components: { securitySchemes: { a: scheme } } });
  expect((await toolOf(secured)).inputs).toHaveProperty('chain');
  const named = documentOf({ parameters: [{ name: strange, in: 'query', schema: { type: 'string' } }] });
  expect((await toolOf(named)).inputs).toHaveProperty('chain');
  const listed = documentOf({ responses: ok({ type: 'object', properties: { a: { const: strange } } }) });
  expect((await toolOf(listed)).outputs).toHaveProperty('a');
});
