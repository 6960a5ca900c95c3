import { describe, expect, it } from 'vitest';
import { printLiteral, propertyText } from '../../src/render/literal.ts';
import {
  withRequestOptions as changed,
  type RequestChange,
  requestInSource,
} from '../../src/typescript/request-source.ts';

const withRequest = (text: string, change: RequestChange) =>
  changed(text, change, { value: printLiteral, member: propertyText });

const tool = (request: string, parameter = 'input') => `import { defineTool } from 'market-mcp-runtime';
import { api } from '../apis/gas.ts';
const inputSchema = { type: 'object', properties: {} } as const;
const outputSchema = { type: 'object', properties: {} } as const;
export const source = {
  read(${parameter}: Arguments, signal: AbortSignal) {
    return ${request};
  },
};
export default defineTool({ name: 'x', description: 'X.', inputSchema, outputSchema, run() {} });
`;
const get = (options: string) => `api.get('/gas', ${options})`;
const page = '{ query: { page: input.page }, schema: outputSchema, signal }';

describe('the request in the source of a tool', () => {
  it.each([
    [get(page), { method: 'get', hasPages: false, asksByQuery: true }],
    [get('{ params: { page: input.page }, schema: outputSchema }'), { asksByQuery: false }],
    [get('{ query: { page: 1 }, schema: outputSchema, pages: { input, inputSchema } }'), { hasPages: true }],
    [
      "api.call('x', { arguments: input, schema: outputSchema, wrap: 'text' })",
      { method: 'call', wrap: 'text' },
    ],
  ])('is read: %s', (request, expected) => {
    expect(requestInSource(tool(request))).toMatchObject(expected);
  });

  it.each([
    get('{ query: { page: input.page }, signal }'),
    get('{ schema: { type: "object", properties: {} } as const }'),
    get('options'),
    `Promise.all([${get(page)}, ${get(page)}])`,
  ])('is not read where it is not the one that the outputSchema describes: %s', (request) => {
    expect(requestInSource(tool(request))).toBeUndefined();
  });
});

describe('other options of a request', () => {
  it.each([
    [page, page.replace('outputSchema,', 'outputSchema, pages: { input, inputSchema },')],
    [
      "{\n      query: { 'per page': input.per_page, q: input.q }, // all\n      schema: outputSchema,\n      signal,\n    }",
      "{\n      query: { 'per page': input.per_page, q: input.q }, // all\n      schema: outputSchema,\n      pages: { input, inputSchema, names: { 'per page': 'per_page' } },\n      signal,\n    }",
    ],
    ['{ schema: outputSchema }', '{ schema: outputSchema, pages: { input: {}, inputSchema } }'],
  ])('take pages from headers: %s', (before, after) => {
    expect(withRequest(tool(get(before)), { pages: true })).toBe(tool(get(after)));
  });

  it.each([
    ['{ schema: outputSchema, signal }', "{ schema: outputSchema, success: { 'a.code': 0 }, signal }"],
    ["{ success: { ok: 'x' }, schema: outputSchema }", "{ success: { 'a.code': 0 }, schema: outputSchema }"],
  ])('name the signs of a success: %s', (before, after) => {
    expect(withRequest(tool(get(before)), { success: { 'a.code': 0 } })).toBe(tool(get(after)));
  });

  it('keep signs of a success that are no literal', () => {
    const given = tool(get('{ schema: outputSchema, success: signsOf(1) }'));
    expect(requestInSource(given)).toMatchObject({ success: null });
    expect(withRequest(given, { success: { ok: true } })).toBeUndefined();
  });

  it('use the name that the arguments have', () => {
    const given = get('{ query: { p: args.p }, schema: outputSchema }');
    expect(withRequest(tool(given, 'args'), { pages: true })).toContain(
      'pages: { input: args, inputSchema }',
    );
  });

  const call = (rest: string) =>
    tool(`api.call('x', { schema: outputSchema${rest}, isReadOnly: true, signal })`);
  it('wrap the answer otherwise', () => {
    expect(withRequest(call(", wrap: 'text'"), { wrap: 'items' })).toBe(call(", wrap: 'items'"));
    expect(withRequest(call(", wrap: 'text'"), { wrap: null })).toBe(call(''));
    expect(withRequest(call(', wrap'), { wrap: null })).toBeUndefined();
    expect(withRequest(call(", /* why */ wrap: 'text'"), { wrap: null })).toBeUndefined();
  });

  it('are refused where there is no inputSchema, or the pages are there', () => {
    const other = tool(get(page)).replaceAll('inputSchema', 'inputs');
    expect(withRequest(other, { pages: true })).toBeUndefined();
    const paged = get('{ schema: outputSchema, pages: undefined }');
    expect(withRequest(tool(paged), { pages: true })).toBeUndefined();
  });
});
