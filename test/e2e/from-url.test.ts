import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, Server as ModernServer } from '@modelcontextprotocol/server';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveHere } from '../api-server.ts';
import {
  compile,
  create,
  evaluated,
  expectProven,
  market,
  scaffold,
  scratch,
  succeeded,
  tree,
} from './support.ts';

const root = scratch();
const city = { type: 'string', description: 'The city', examples: ['Oslo'], 'x-mcp-header': 'City' };
const days = { type: 'integer', description: 'Number of days', default: 1, 'x-mcp-header': 'Days' };
const input = { type: 'object', properties: { city }, required: ['city'] };
let tools = [
  {
    name: 'get_weather',
    description:
      'Returns the weather of a city. Use it when a question asks for the weather. */ ${process} `x`',
    inputSchema: { ...input, properties: { city, days } },
    outputSchema: {
      type: 'object',
      properties: { celsius: { type: 'number', description: 'Temperature in degrees Celsius' } },
      required: ['celsius'],
    },
    annotations: { readOnlyHint: true },
    _meta: { pricing: { executeUsd: '9' } },
  },
  {
    name: 'describe_city',
    description: 'Returns what is known of a city, as text. Use it when a question is about a city.',
    inputSchema: input,
    annotations: { readOnlyHint: true },
  },
  {
    name: 'delete_city',
    description: 'Deletes a city. Use it never.',
    inputSchema: input,
    annotations: { destructiveHint: true },
  },
];

const structured = (content: object) => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: content,
});
/** The answers of get_weather, by city. */
const answers: { readonly [city: string]: () => object | Promise<object> } = {
  Oslo: () => structured({ celsius: -3 }),
  'Tromsø ': () => structured({ celsius: -9 }),
  Empty: () => structured({ searchExhausted: true, noResultsReason: 'No such city.' }),
  Failing: () => ({ isError: true, content: [{ type: 'text', text: 'the station\nis down' }] }),
  Wrong: () => structured({ celsius: 'cold' }),
  Huge: () => structured({ celsius: 1, more: 'x'.repeat(5_000_000) }),
};
interface Call {
  readonly name: string;
  readonly arguments?: { readonly [name: string]: unknown } | undefined;
}
const called = ({ name, arguments: args = {} }: Call) => {
  if (name === 'describe_city') return { content: [{ type: 'text', text: 'The capital.' }] };
  return answers[String(args.city)]?.() ?? new Promise(() => {});
};
const about = [{ name: 'City facts', version: '1.0.0' }, { capabilities: { tools: {} } }] as const;

/** A server built with the SDK, with sessions, which it can forget. */
const sessions = new Map<string, StreamableHTTPServerTransport>();
async function withSessions(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  if (id !== undefined && !sessions.has(String(id))) return void response.writeHead(404).end();
  const transport: StreamableHTTPServerTransport =
    sessions.get(String(id)) ??
    new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (made) => void sessions.set(made, transport),
    });
  if (id === undefined) {
    const server = new Server(...about);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }) as never);
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => called(params) as never);
    await server.connect(transport as never);
  }
  await transport.handleRequest(request, response);
}

/** A server built with version 2 of the SDK that refuses versions with sessions. */
const handler = createMcpHandler(
  () => {
    const server = new ModernServer(...about);
    server.setRequestHandler('tools/list', () => ({ tools }) as never);
    server.setRequestHandler('tools/call', async ({ params }) => (await called(params)) as never);
    return server;
  },
  { legacy: 'reject' },
);
async function withoutSessions(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url, headers } = request;
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = method === 'POST' ? { body: new Uint8Array(await buffer(request)) } : {};
  const asked = new Request(`http://127.0.0.1${url}`, { method, headers: given, ...body });
  const answer = await handler.fetch(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}

let url: string;
let directory: string;
let token: string | undefined;
let seen: IncomingHttpHeaders[] = [];
const ran = (body: string, env = {}) => evaluated(directory, body, { CITY_FACTS_URL: `${url}/mcp`, ...env });
const codeOf = "const codeOf = (call) => call.then(() => 'found', ({ code }) => code);";

/** What both kinds of server have in common; the tests after it have the project and the server of the last kind. */
function forwards(
  name: string,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
) {
  beforeAll(async () => {
    url = await serveHere(
      createServer((request, response) => {
        seen.push(request.headers);
        if (request.url === '/away') response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end();
        else if (request.url === '/gone') response.writeHead(404).end();
        else if (request.url === '/forget') {
          sessions.clear();
          response.end();
        } else if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
          response.writeHead(401).end();
        else answer(request, response).catch(() => response.writeHead(500).end());
      }),
    );
    const flags = [name, '--platform', 'context', '--from-url', `${url}/mcp`];
    ({ directory } = await scaffold(flags, { cwd: root }));
  });

  it('become tools that forward to it, without writing tools and _meta', () => {
    const files = tree(directory);
    const made = [...files.keys()].filter((path) => path.startsWith('src/tools/'));
    expect(made).toEqual(['src/tools/describe-city.ts', 'src/tools/get-weather.ts', 'src/tools/index.ts']);
    const apis = [...files.keys()].filter((path) => path.startsWith('src/apis/'));
    expect(apis.map((path) => files.get(path))).toEqual([expect.stringContaining('mcpSource({')]);
    expect(files.get('src/tools/get-weather.ts')).not.toContain('executeUsd');
    expect(files.get('src/env.ts')).toContain(`{ default: '${url}/mcp' }`);
  });

  it('pass tests and self-check without the server', async () => {
    seen = [];
    await expectProven(directory);
    expect(seen).toEqual([]);
  });

  it('end as the server ends them: found, empty, failed, or an error on the way', async () => {
    seen = [];
    const { value } = await ran(`
      const ended = {};
      for (const city of ${JSON.stringify(Object.keys(answers))})
        ended[city] = (await callTool(named('get_weather'), { city })).structuredContent;
      ended.text = (await callTool(named('describe_city'), { city: 'Oslo' })).structuredContent;
      return ended;`);
    expect(value).toMatchObject({
      Oslo: { celsius: -3 },
      'Tromsø ': { celsius: -9 },
      Empty: { searchExhausted: true },
      Failing: { error: 'SOURCE_FAILED', message: 'The source failed: the station is down' },
      Wrong: { error: 'SOURCE_MALFORMED' },
      Huge: { error: 'SOURCE_TOO_LARGE' },
      text: { result: 'The capital.' },
    });
  });

  it('send the token of the environment, and print it nowhere', async () => {
    token = 's3cret-of-the-server';
    const call = "return callTool(named('get_weather'), { city: 'Oslo' })";
    const withoutToken = await ran(call);
    expect(withoutToken.value.structuredContent.error).toBe('SOURCE_REFUSED');
    expect(withoutToken.stderr).toContain('set a valid key in CITY_FACTS_TOKEN');
    const allowed = await ran(call, { CITY_FACTS_TOKEN: token });
    expect(allowed.value.structuredContent).toMatchObject({ celsius: -3 });
    expect(allowed.printed).not.toContain(token);
    const dead = { CITY_FACTS_URL: 'http://127.0.0.1:1/mcp', CITY_FACTS_TOKEN: token };
    const { value, printed } = await ran(call, dead);
    expect(value).toMatchObject({ isError: true, structuredContent: { error: 'SOURCE_UNAVAILABLE' } });
    expect(printed).not.toMatch(/s3cret|127\.0\.0\.1:1\/mcp/);
    const refused = await create(['none', '--yes', '--from-url', `${url}/mcp`], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('MCP_SOURCE_TOKEN');
    token = undefined;
  });
}

describe('the tools of a server that speaks only MCP 2026-07-28', () => {
  forwards('modern', withoutSessions);

  it('record the version, and ask once for each call, with its arguments repeated in headers', async () => {
    const files = tree(directory);
    expect(files.get('src/apis/city-facts.ts')).toContain("protocolVersion: '2026-07-28',");
    expect(files.get('src/tools/get-weather.ts')).toMatch(/api\.call\('get_weather', \{[^}]*inputSchema,/);
    seen = [];
    await ran(
      "for (const city of ['Oslo', 'Tromsø ']) await callTool(named('get_weather'), { city }); return null;",
    );
    expect(seen).toMatchObject([
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'get_weather',
        'mcp-param-city': 'Oslo',
        'mcp-param-days': '1',
      },
      { 'mcp-param-city': `=?base64?${Buffer.from('Tromsø ').toString('base64')}?=` },
    ]);
  });

  it('report the reason if the server speaks another version than the file', async () => {
    const { value, printed } = await ran(`
      const { mcpSource } = await import('market-mcp-runtime/source');
      const withSessions = mcpSource({ baseUrl: process.env.CITY_FACTS_URL });
      const schema = { type: 'object', properties: {}, required: [] };
      ${codeOf}
      return [await codeOf(withSessions.call('get_weather', { schema }))];`);
    expect(value).toEqual(['SOURCE_MISCONFIGURED']);
    expect(printed).toContain('protocolVersion in src/apis/');
  });

  it('are refused if there are none', async () => {
    const all = tools;
    tools = [];
    const empty = await create(['refused', '--yes', '--from-url', `${url}/mcp`], { cwd: root });
    tools = all;
    expect([empty.status, empty.stderr]).toEqual([2, expect.stringContaining('it lists no tools')]);
    expect(tree(join(root, 'refused')).size).toBe(0);
  });
});

describe('the tools of a server with sessions', () => {
  forwards('front', withSessions);

  it('end in time, continue in a new session, and follow no redirect', async () => {
    const { value } = await ran(`
      const ended = {};
      const { mcpSource } = await import('market-mcp-runtime/source');
      const schema = { type: 'object', properties: {}, required: [] };
      ${codeOf}
      const quick = mcpSource({ baseUrl: process.env.CITY_FACTS_URL, timeoutMs: 300 });
      ended.silent = await codeOf(quick.call('get_weather', { arguments: { city: 'Silent' }, schema }));
      ended.first = (await callTool(named('get_weather'), { city: 'Oslo' })).structuredContent;
      await fetch(process.env.CITY_FACTS_URL.replace('/mcp', '/forget'));
      ended.again = (await callTool(named('get_weather'), { city: 'Oslo' })).structuredContent;
      const away = mcpSource({ baseUrl: process.env.CITY_FACTS_URL.replace('/mcp', '/away') });
      ended.away = await codeOf(away.call('get_weather', { schema }));
      return ended;`);
    expect(value).toMatchObject({
      silent: 'SOURCE_TOO_SLOW',
      first: { celsius: -3 },
      again: { celsius: -3 },
      away: 'SOURCE_MISCONFIGURED',
    });
  });

  it('include writing tools that are named, also in add-tool', async () => {
    const args = ['--yes', '--json', '--no-check', '--from-url', `${url}/mcp`, '--only', 'delete_city'];
    await succeeded(market(['add-tool', ...args], { cwd: directory }));
    expect((await compile(directory)).status).toBe(0);
    const source = readFileSync(join(directory, 'src/tools/delete-city.ts'), 'utf8');
    expect(source).toContain('destructiveHint: true');
    expect(source).toContain('_meta: { queryEligible: false }');
  });

  it('have the descriptions of their author, also when the command is repeated', async () => {
    const [words, own] = ['Returns the story of a city. Use it for a tale.', 'describe_city: Returns'];
    const flags = ['--from-url', `${url}/mcp`, '--description', `describe_city: ${words}`];
    const made = async (name: string, args: readonly string[]) =>
      create([name, '--yes', '--json', '--no-install', '--no-git', ...args], { cwd: root });
    const first = await made('described', flags);
    const files = tree(join(root, 'described/src/tools'));
    expect(files.get('describe-city.ts')).toContain(words);
    expect(files.get('get-weather.ts')).toContain('weather of a city');
    expect(JSON.parse(first.stdout).repeat).toContain(`--description 'describe_city: ${words}'`);
    const more = ['--description', 'tell_city: Returns.', '--description', own];
    const refused = await made('undescribed', [...flags, ...more]);
    expect(refused).toMatchObject({ status: 2, stderr: '' });
    expect(refused.stdout).toContain('names tell_city, which is not imported');
    expect(refused.stdout).toContain('describes describe_city a second time');
  });

  it.each([
    ['/away', [], 'it redirects to http://127.0.0.1:1/mcp'],
    ['/gone', [], 'its tools cannot be listed'],
    ['/mcp', ['--output', 'x:string'], '--output'],
  ])('are refused without writing: %s %j', async (path, args, said) => {
    const refused = await create(['refused', '--yes', '--from-url', url + path, ...args], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(said);
    expect(tree(join(root, 'refused')).size).toBe(0);
  });

  it('are refused if nothing listens', async () => {
    const refused = await create(['refused', '--yes', '--from-url', 'http://127.0.0.1:1/mcp'], { cwd: root });
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('cannot be listed')]);
  });
});
