import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveHere } from '../api-server.ts';
import { create, evaluated, expectProven, scaffold, scratch, tree } from './support.ts';

const root = scratch();
const none = { type: 'object', properties: {}, required: [] };
const reads = { readOnlyHint: true };
const text = (name: string, description: string, annotations: object = reads) => ({
  name,
  description: `${description} Use it when a question asks for that.`,
  inputSchema: none,
  annotations,
});
const paging = {
  type: 'object',
  properties: {
    cursor: { type: ['string', 'null'], description: 'Where the page starts; null for the first' },
    filter: {
      anyOf: [{ type: 'object', properties: { kind: { type: 'string' } } }, { type: 'null' }],
      description: 'What to leave out',
    },
    limit: { type: 'integer', description: 'Items of a page', examples: [2] },
  },
  required: ['cursor', 'filter', 'limit'],
  additionalProperties: false,
};
const tools = [
  {
    name: 'get_page',
    description: 'Returns a page of items and the next cursor. Use it when a question asks for the items.',
    inputSchema: paging,
    outputSchema: {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'string' }, description: 'The items' } },
      required: ['items'],
    },
    annotations: reads,
  },
  text('get_screenshot', 'Returns a page as an image.'),
  text('get_note', 'Returns a note of the archive.'),
  text('get_link', 'Returns a place in the archive.'),
  text('get_blob', 'Returns a file of the archive.'),
  text('get_both', 'Returns a remark and a picture.'),
  text('get_nothing', 'Returns what is left in the archive.'),
  text('delete_note', 'Deletes a note of the archive.', { destructiveHint: true }),
];

const said = { type: 'text', text: 'Here it is.' };
const pixel = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const note = { uri: 'note:///1', mimeType: 'text/plain', text: 'Buy milk.' };
const contents: { readonly [tool: string]: readonly object[] } = {
  get_screenshot: [pixel],
  get_note: [said, { type: 'resource', resource: note }],
  get_link: [{ type: 'resource_link', uri: 'note:///2', name: 'the second' }],
  get_blob: [{ type: 'resource', resource: { uri: 'file:///a.zip', blob: 'UEsDBA==' } }],
  get_both: [said, pixel],
  get_nothing: [],
  delete_note: [],
};

const isPaging = new Ajv({ allowUnionTypes: true }).compile(paging);

/** A server that validates its arguments, as servers of the SDK do. */
function archive(): Server {
  const server = new Server({ name: 'Archive', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }) as never);
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }) => {
    if (name !== 'get_page') return { content: contents[name] } as never;
    if (!isPaging(args))
      return { isError: true, content: [{ type: 'text', text: JSON.stringify(isPaging.errors) }] };
    const items = args.cursor === null ? ['first', JSON.stringify(args)] : ['later', JSON.stringify(args)];
    return { structuredContent: { items }, content: [] };
  });
  return server;
}

const streams = new Map<string, SSEServerTransport>();
const http = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  if (pathname === '/mcp') {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await archive().connect(transport as never);
    return transport.handleRequest(request, response);
  }
  if (pathname === '/sse' && request.method === 'GET') {
    const transport = new SSEServerTransport('/messages', response);
    streams.set(transport.sessionId, transport);
    return archive().connect(transport);
  }
  if (pathname === '/messages')
    return streams.get(searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response);
  if (pathname === '/events' && request.method === 'GET')
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  return response.writeHead(404).end();
});
const url = await serveHere(http);

let directory: string;
let changes: readonly { readonly tool: string; readonly what: string }[];
beforeAll(async () => {
  const only = tools.map(({ name }) => name).join(',');
  const flags = ['front', '--platform', 'context', '--from-url', `${url}/mcp`, '--only', only];
  ({ directory, changes } = await scaffold(flags, { cwd: root }));
});

/** The structured content of calls, by a name. */
async function ended(calls: { readonly [name: string]: readonly [tool: string, args: object] }) {
  const body = `
    const ended = {};
    for (const [name, [tool, args]] of Object.entries(${JSON.stringify(calls)}))
      ended[name] = (await callTool(named(tool), args)).structuredContent;
    return ended;`;
  return (await evaluated(directory, body, { ARCHIVE_URL: `${url}/mcp` })).value;
}

describe('a tool that requires a parameter which may be null', () => {
  it('is forwarded with null where the caller gives none', async () => {
    const source = readFileSync(join(directory, 'src/tools/get-page.ts'), 'utf8');
    expect(source).toContain('arguments: { cursor: null, filter: null, ...input }');
    const { first, later } = await ended({
      first: ['get_page', { limit: 2 }],
      later: ['get_page', { limit: 2, cursor: 'abc', filter: { kind: 'x' } }],
    });
    expect(first.items).toEqual(['first', '{"cursor":null,"filter":null,"limit":2}']);
    expect(later.items).toEqual(['later', '{"cursor":"abc","filter":{"kind":"x"},"limit":2}']);
  });

  it('passes tests and self-check without the server', async () => {
    await expectProven(directory);
  });
});

describe('a tool that does not say what it returns', () => {
  it('answers with texts, also of resources, and never with an empty text that is paid for', async () => {
    const names = tools.slice(1).map(({ name }) => name);
    const results = await ended(Object.fromEntries(names.map((name) => [name, [name, {}]])));
    expect(results).toMatchObject({
      get_screenshot: {
        error: 'SOURCE_NOT_TEXT',
        message: 'The source answered with content that is not text (image), which this tool cannot pass on.',
      },
      get_note: { result: 'Here it is.\nBuy milk.' },
      get_link: { result: 'note:///2' },
      get_blob: { error: 'SOURCE_NOT_TEXT', message: expect.stringContaining('(a file)') },
      get_both: { error: 'SOURCE_NOT_TEXT' },
      get_nothing: { searchExhausted: true },
      delete_note: { result: '' },
    });
  });

  it('is named by the import if it speaks of images', () => {
    const noted = changes.filter(({ what }) => what === 'an answer that is not text ends in SOURCE_NOT_TEXT');
    expect(noted.map(({ tool }) => tool)).toEqual(['get_screenshot', 'get_both']);
  });
});

it.each([
  ['/sse', 'it speaks only HTTP+SSE (MCP 2024-11-05)'],
  ['/events', 'its tools cannot be listed'],
  ['/none', 'its tools cannot be listed'],
])('a server without Streamable HTTP is refused: %s', async (path, message) => {
  const refused = await create(['refused', '--yes', '--from-url', url + path], { cwd: root });
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain(message);
  expect(tree(join(root, 'refused')).size).toBe(0);
});
