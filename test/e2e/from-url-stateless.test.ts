import { createServer } from 'node:http';
import { join } from 'node:path';
import { createMcpHandler, type Tool as SdkTool, Server } from '@modelcontextprotocol/server';
import { beforeAll, describe, expect, it } from 'vitest';
import { compile, create, evaluated, expectProven, scaffold, scratch, serveHere, tree } from './support.ts';

const root = scratch();
const input = {
  type: 'object' as const,
  properties: {
    city: { type: 'string', description: 'The city', examples: ['Oslo'], 'x-mcp-header': 'City' },
    days: { type: 'integer', description: 'Number of days', default: 1, 'x-mcp-header': 'Days' },
  },
  required: ['city'],
};
const annotations = { readOnlyHint: true };
const tools: SdkTool[] = [
  {
    name: 'get_weather',
    description: 'Returns the weather of a city. Use it when a question asks for the weather.',
    inputSchema: input,
    outputSchema: {
      type: 'object',
      properties: { celsius: { type: 'number', description: 'Temperature in degrees Celsius' } },
      required: ['celsius'],
    },
    annotations,
  },
  {
    name: 'describe_city',
    description: 'Returns what is known of a city, as text. Use it when a question is about a city.',
    inputSchema: { type: 'object', properties: { city: input.properties.city }, required: ['city'] },
    annotations,
  },
];

const structured = (content: { readonly [name: string]: unknown }) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(content) }],
  structuredContent: content,
});
const answers: { readonly [city: string]: () => object | Promise<object> } = {
  Oslo: () => structured({ celsius: -3 }),
  'Tromsø ': () => structured({ celsius: -9 }),
  Empty: () => structured({ searchExhausted: true, noResultsReason: 'No such city.' }),
  Failing: () => ({ isError: true, content: [{ type: 'text', text: 'the station\nis down' }] }),
  Wrong: () => structured({ celsius: 'cold' }),
  Huge: () => structured({ celsius: 1, more: 'x'.repeat(5_000_000) }),
};

/** A server built with version 2 of the SDK that refuses versions with sessions. */
const handler = createMcpHandler(
  () => {
    const server = new Server({ name: 'City facts', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      if (params.name === 'describe_city') return { content: [{ type: 'text', text: 'The capital.' }] };
      return (await answers[String(params.arguments?.city)]?.()) as never;
    });
    return server;
  },
  { legacy: 'reject' },
);

let token: string | undefined;
const seen: { method: string | undefined; headers: { readonly [name: string]: unknown } }[] = [];
const http = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    seen.push({ method: request.method, headers: request.headers });
    if (request.url === '/sessions-gone') return response.writeHead(404).end();
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      return response.writeHead(401).end();
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'POST',
        headers,
        ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
});

const url = await serveHere(http);
let directory: string;
beforeAll(async () => {
  ({ directory } = await scaffold(['front', '--platform', 'context', '--from-url', `${url}/mcp`], {
    cwd: root,
  }));
});

const ran = (body: string, env = {}) => evaluated(directory, body, { CITY_FACTS_URL: `${url}/mcp`, ...env });

describe('the tools of a server that speaks only MCP 2026-07-28', () => {
  it('become tools of a project that records the version', async () => {
    const files = tree(directory);
    expect(files.get('src/apis/city-facts.ts')).toContain("protocolVersion: '2026-07-28',");
    expect(files.get('src/tools/get-weather.ts')).toMatch(/api\.call\('get_weather', \{[^}]*inputSchema,/);
    const built = await compile(directory);
    expect(built.status, built.stdout).toBe(0);
  });

  it('pass tests and self-check without the server', async () => {
    const before = seen.length;
    await expectProven(directory);
    expect(seen).toHaveLength(before);
  });

  it('end as the server ends them: found, empty, failed, and every error on the way', async () => {
    seen.length = 0;
    const { value: result } = await ran(`
      const ended = {};
      for (const city of ${JSON.stringify(Object.keys(answers))})
        ended[city] = (await callTool(named('get_weather'), { city })).structuredContent;
      ended.text = (await callTool(named('describe_city'), { city: 'Oslo' })).structuredContent;
      return ended;`);
    expect(result).toMatchObject({
      Oslo: { celsius: -3 },
      'Tromsø ': { celsius: -9 },
      Empty: { searchExhausted: true },
      Failing: { error: 'SOURCE_FAILED', message: 'The source failed: the station is down' },
      Wrong: { error: 'SOURCE_MALFORMED' },
      Huge: { error: 'SOURCE_TOO_LARGE' },
      text: { result: 'The capital.' },
    });
    // No session and no handshake: one request per call, with its arguments repeated in headers.
    expect(seen).toHaveLength(Object.keys(answers).length + 1);
    expect(seen[0]?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'get_weather',
      'mcp-param-city': 'Oslo',
      'mcp-param-days': '1',
    });
    expect(seen[1]?.headers['mcp-param-city']).toBe(
      `=?base64?${Buffer.from('Tromsø ').toString('base64')}?=`,
    );
  });

  it('report a dead server like an unavailable source', async () => {
    const { value: result, printed: all } = await ran(
      "return callTool(named('get_weather'), { city: 'Oslo' })",
      { CITY_FACTS_URL: 'http://127.0.0.1:1/mcp', CITY_FACTS_TOKEN: 's3cret-of-the-server' },
    );
    expect(result).toMatchObject({ isError: true, structuredContent: { error: 'SOURCE_UNAVAILABLE' } });
    expect(all).not.toMatch(/s3cret|127\.0\.0\.1:1\/mcp/);
  });

  it('send the token of the environment, and show it nowhere', async () => {
    token = 's3cret-of-the-server';
    const call = "return callTool(named('get_weather'), { city: 'Oslo' })";
    expect((await ran(call)).value.structuredContent.error).toBe('SOURCE_REFUSED');
    const allowed = await ran(call, { CITY_FACTS_TOKEN: token });
    expect(allowed.value.structuredContent).toMatchObject({ celsius: -3 });
    expect(allowed.printed).not.toContain(token);
    const refused = await create(['none', '--yes', '--from-url', `${url}/mcp`], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('MCP_SOURCE_TOKEN');
    token = undefined;
  });

  it('report the reason if the server speaks another version than the file', async () => {
    const { value: result, printed: all } = await ran(`
      const { mcpSource } = await import('market-mcp-runtime/source');
      const withSessions = mcpSource({ baseUrl: process.env.CITY_FACTS_URL });
      const schema = { type: 'object', properties: {}, required: [] };
      const codeOf = (call) => call.then(() => 'found', ({ code }) => code);
      return [await codeOf(withSessions.call('get_weather', { schema }))];`);
    expect(result).toEqual(['SOURCE_MISCONFIGURED']);
    expect(all).toContain('protocolVersion in src/apis/');
  });
});

describe('a server without sessions that cannot be imported', () => {
  it('is refused with the reason without writing', async () => {
    const refused = await create(['refused', '--yes', '--from-url', `${url}/sessions-gone`], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('its tools cannot be listed');
    const all = tools.splice(0);
    const empty = await create(['refused', '--yes', '--from-url', `${url}/mcp`], { cwd: root });
    tools.push(...all);
    expect(empty.status).toBe(2);
    expect(empty.stderr).toContain('it lists no tools');
    expect(tree(join(root, 'refused')).size).toBe(0);
  });
});
