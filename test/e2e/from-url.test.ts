import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  compile,
  create,
  evaluated,
  expectProven,
  market,
  scaffold,
  scratch,
  serveHere,
  tree,
} from './support.ts';

const root = scratch();
const text = { type: 'string', description: 'The city' };
const input = { type: 'object', properties: { city: { ...text, examples: ['Oslo'] } }, required: ['city'] };
const tools = [
  {
    name: 'get_weather',
    description:
      'Returns the weather of a city. Use it when a question asks for the weather. */ ${process} `x`',
    inputSchema: input,
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

type Result = { readonly [name: string]: unknown };
const structured = (content: object): Result => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: content,
});

/** The server's answers, by city. */
const answers: { readonly [city: string]: (tool: string) => Result | Promise<Result> } = {
  Oslo: (tool) =>
    tool === 'get_weather'
      ? structured({ celsius: -3 })
      : { content: [{ type: 'text', text: 'The capital.' }] },
  Empty: () => structured({ searchExhausted: true, noResultsReason: 'No such city.' }),
  Failing: () => ({ isError: true, content: [{ type: 'text', text: 'the station\nis down' }] }),
  Wrong: () => structured({ celsius: 'cold' }),
  Huge: () => structured({ celsius: 1, more: 'x'.repeat(5_000_000) }),
  Silent: () => new Promise(() => {}),
};

/** A server built with the SDK, with sessions. It can drop them, and requires a token once one is set. */
const sessions = new Map<string, StreamableHTTPServerTransport>();
let token: string | undefined;
const seen: string[] = [];
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  seen.push(`${request.url} ${request.headers.authorization ?? ''}`);
  if (request.url === '/away') {
    response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end();
    return;
  }
  if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
    response.writeHead(401).end();
    return;
  }
  const id = request.headers['mcp-session-id'];
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  if (id !== undefined && !known) {
    response.writeHead(404).end();
    return;
  }
  const transport = known ?? (await open());
  await transport.handleRequest(request, response);
}

async function open(): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
  });
  const server = new Server({ name: 'City facts', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }) as never);
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const made = answers[String(params.arguments?.city)] ?? answers.Oslo;
    return made?.(params.name) as never;
  });
  await server.connect(transport as never);
  return transport;
}

const http = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(500).end());
});
const url = await serveHere(http);
let directory: string;
beforeAll(async () => {
  ({ directory } = await scaffold(['front', '--platform', 'context', '--from-url', `${url}/mcp`], {
    cwd: root,
  }));
});

describe('the tools of a running MCP server', () => {
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
    const before = seen.length;
    await expectProven(directory);
    expect(seen).toHaveLength(before);
  });

  it('end as the server ends them: found, empty, failed, or a transport error', async () => {
    const api = join(directory, 'src/apis/city-facts.ts');
    const source = readFileSync(api, 'utf8');
    expect(source).toContain('mcpSource({');
    const body = `
      const ended = {};
      for (const city of ${JSON.stringify([...Object.keys(answers).filter((city) => city !== 'Silent')])}) {
        ended[city] = (await callTool(named('get_weather'), { city })).structuredContent;
      }
      ended.text = (await callTool(named('describe_city'), { city: 'Oslo' })).structuredContent;
      const { mcpSource } = await import('market-mcp-runtime/source');
      const quick = mcpSource({ baseUrl: process.env.CITY_FACTS_URL, timeoutMs: 300 });
      const schema = { type: 'object', properties: {}, required: [] };
      const codeOf = (call) => call.then(() => 'found', ({ code }) => code);
      ended.silent = await codeOf(quick.call('get_weather', { arguments: { city: 'Silent' }, schema }));
      await fetch(process.env.CITY_FACTS_URL.replace('/mcp', '/forget'));
      ended.again = (await callTool(named('get_weather'), { city: 'Oslo' })).structuredContent;
      const away = mcpSource({ baseUrl: process.env.CITY_FACTS_URL.replace('/mcp', '/away') });
      ended.away = await codeOf(away.call('get_weather', { schema }));
      return ended;`;
    const forget = http.listeners('request')[0] as (
      request: IncomingMessage,
      response: ServerResponse,
    ) => void;
    http.removeAllListeners('request').on('request', (request, response) => {
      if (request.url !== '/forget') return forget(request, response);
      sessions.clear();
      response.end();
    });
    const { value } = await evaluated(directory, body, { CITY_FACTS_URL: `${url}/mcp` });
    expect(value).toMatchObject({
      Oslo: { celsius: -3 },
      Empty: { searchExhausted: true },
      Failing: { error: 'SOURCE_FAILED', message: 'The source failed: the station is down' },
      Wrong: { error: 'SOURCE_MALFORMED' },
      Huge: { error: 'SOURCE_TOO_LARGE' },
      text: { result: 'The capital.' },
      silent: 'SOURCE_TOO_SLOW',
      again: { celsius: -3 },
      away: 'SOURCE_MISCONFIGURED',
    });
  });

  it('send the token of the environment, and print it nowhere', async () => {
    token = 's3cret-of-the-server';
    const env = { CITY_FACTS_URL: `${url}/mcp` };
    const ask = (more = {}) =>
      evaluated(directory, "return callTool(tools[0], { city: 'Oslo' })", { ...env, ...more });
    const withoutToken = await ask();
    expect(withoutToken.printed).toContain('SOURCE_REFUSED');
    expect(withoutToken.stderr).toContain('set a valid key in CITY_FACTS_TOKEN');
    const allowed = await ask({ CITY_FACTS_TOKEN: token });
    expect(allowed.printed).not.toContain('SOURCE_REFUSED');
    expect(allowed.printed).not.toContain(token);
    const refused = await create(['none', '--yes', '--from-url', `${url}/mcp`], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('MCP_SOURCE_TOKEN');
    token = undefined;
  });

  it('include writing tools that are named, also in add-tool', async () => {
    const args = [
      'add-tool',
      '--yes',
      '--json',
      '--no-check',
      '--from-url',
      `${url}/mcp`,
      '--only',
      'delete_city',
    ];
    const added = await market(args, { cwd: directory });
    expect(added.status, added.stderr).toBe(0);
    expect((await compile(directory)).status).toBe(0);
    expect(readFileSync(join(directory, 'src/tools/delete-city.ts'), 'utf8')).toContain(
      'destructiveHint: true',
    );
    expect(readFileSync(join(directory, 'src/tools/delete-city.ts'), 'utf8')).toContain(
      '_meta: { queryEligible: false }',
    );
  });
});

describe('an MCP server that cannot be imported', () => {
  it.each([
    ['/away', 'its tools cannot be listed'],
    ['/nowhere-else', '--output'],
  ])('is refused without writing: %s', async (path, said) => {
    const args = path === '/away' ? [] : ['--output', 'x:string'];
    const refused = await create(['refused', '--yes', '--from-url', url + path, ...args], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(said);
    expect(tree(join(root, 'refused')).size).toBe(0);
  });

  it('have the descriptions of their author, also when the command is repeated', async () => {
    const [words, own] = ['Returns the story of a city. Use it for a tale.', 'describe_city: Returns'];
    const flags = ['--from-url', `${url}/mcp`, '--description', `describe_city: ${words}`];
    const made = async (name: string, args: readonly string[]) =>
      create([name, '--yes', '--json', '--no-install', '--no-git', ...args], { cwd: root });
    const first = await made('described', flags);
    expect(readFileSync(join(root, 'described/src/tools/describe-city.ts'), 'utf8')).toContain(words);
    expect(readFileSync(join(root, 'described/src/tools/get-weather.ts'), 'utf8')).toContain(
      'weather of a city',
    );
    expect(JSON.parse(first.stdout).repeat).toContain(`--description 'describe_city: ${words}'`);
    const refused = await made('undescribed', [
      ...flags,
      '--description',
      'tell_city: Returns.',
      '--description',
      own,
    ]);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('names tell_city, which is not imported');
    expect(refused.stderr).toContain('describes describe_city a second time');
  });

  it('is refused if nothing listens', async () => {
    const refused = await create(['refused', '--yes', '--from-url', 'http://127.0.0.1:1/mcp'], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('cannot be listed');
  });
});
