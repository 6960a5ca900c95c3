import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { posixLine } from '../../packages/contract/src/command/shell.ts';
import { serveHere } from '../api-server.ts';
import {
  bins,
  create,
  market,
  type Ran,
  repository,
  run,
  scaffold,
  scratch,
  succeeded,
  tree,
} from './support.ts';
import { answering, inPath, openApi } from './upstreams.ts';

const contract = join(repository, 'packages/contract/bin/market-mcp-contract.js');

/** The keys of one URL, by their position. Each position alone: test/model/url-secrets.test.ts. */
const urlKeys = {
  randomSegment: 'NDI4YmQ0NzgtM2Y4Zi00YjQ3LWI5',
  uuidSegment: '3f1c8a52-7d0e-4b69-9c35-e2a7b1d4f608',
  namedMember: 'sk/live+9aF3xQ2bL7Zt=',
  jwtMember: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZS1vZi1leGFtcGxlIn0.c2lnbmF0dXJl',
} as const;
const target = `/s/${urlKeys.randomSegment}/${urlKeys.uuidSegment}/mcp?mode=fast&exaApiKey=${encodeURIComponent(urlKeys.namedMember)}&session=${urlKeys.jwtMember}`;
/** The variables that replace the keys in a printed command. */
const keyVariables = Object.fromEntries(
  Object.values(urlKeys).map((key, i) => [`URL_KEY${i === 0 ? '' : i + 1}`, encodeURIComponent(key)]),
);
const keys = [...Object.values(urlKeys), 'p4ssw0rd-of-the-user'];

/** A key as it is, in a URL, and in base64 wherever it begins in the encoded text. */
const forms = keys.flatMap((key) => [key, encodeURIComponent(key), ...base64Forms(key)]);

function base64Forms(key: string): readonly string[] {
  const encoded = [0, 1, 2].map((offset) =>
    Buffer.from(' '.repeat(offset) + key)
      .toString('base64')
      .slice(offset === 0 ? 0 : 4, -4),
  );
  return [...encoded, ...encoded.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

function keysIn(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...texts].filter(([, text]) => forms.some((form) => text.includes(form))).map(([name]) => name);
}

const input = {
  type: 'object',
  properties: { city: { type: 'string', description: 'The city', examples: ['Oslo'] } },
  required: ['city'],
};
const toolNames = ['get_weather', 'get_population'];

/** The requests that reached the server. */
let asked: string[] = [];

/** Requires the keys in the URL, and repeats the URL in all that it says. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '' } = request;
  asked.push(url);
  if (!url.startsWith(target)) return void response.writeHead(404).end(`nothing at ${url}`);
  if (url.includes('away'))
    return void response.writeHead(307, { location: `http://127.0.0.1:1${url}` }).end();
  if (url.includes('broken')) return void response.writeHead(500).end(`no answer for ${url}`);
  if (request.method === 'GET' && url.includes('openapi')) {
    const operation = {
      operationId: 'getRate',
      summary: 'Returns the rate of a currency. Use it when a question is about a currency.',
      parameters: [inPath('currency', 'The currency', 'EUR')],
      responses: answering({ type: 'object', properties: { rate: { type: 'number' } } }, { rate: 1.1 }),
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(
      JSON.stringify(openApi('./v1', 'Rates', { '/rates/{currency}': { get: operation } })),
    );
  }
  const server = new Server({ name: 'City facts', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(
    ListToolsRequestSchema,
    () =>
      ({
        tools: toolNames.map((name) => ({
          name,
          description: `Returns facts of a city. Use it when a question is about a city. You asked ${url}`,
          inputSchema: input,
          annotations: { readOnlyHint: true },
        })),
      }) as never,
  );
  server.setRequestHandler(CallToolRequestSchema, () => ({
    content: [{ type: 'text', text: `You asked ${url}, ${decodeURIComponent(url)}, ${btoa(url)}` }],
  }));
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport as never);
  await transport.handleRequest(request, response);
}

const origin = await serveHere(
  createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end());
  }),
);
const { host } = new URL(origin);

interface Place {
  /** The endpoint with the keys. */
  readonly url: string;
  /** A directory for files, with a project in `made`. */
  readonly directory: string;
}
type Command = (place: Place) => Promise<Ran>;

const noInstall = ['--yes', '--no-install', '--platform', 'context'];
const quick = ['--only', 'endpoint,gate.no-token,discovery', '--platform', 'context'];
const elsewhere = (url: string, words: string) => `${url}&${words}`;
const inProject = ({ directory }: Place) => ({ cwd: join(directory, 'made') });
const besideProject = ({ directory }: Place) => ({ cwd: directory });

/** Every command that takes a URL, or that works in a project which was made from one. */
const commands: { readonly [name: string]: Command } = {
  'create --dry-run': (at) =>
    create(['dry', ...noInstall, '--dry-run', '--from-url', at.url], besideProject(at)),
  'create --json': (at) => create(['json', ...noInstall, '--json', '--from-url', at.url], besideProject(at)),
  'create of an unreachable server': (at) =>
    create(['none', ...noInstall, '--from-url', at.url.replace(host, '127.0.0.1:1')], besideProject(at)),
  'create of a server that redirects': (at) =>
    create(['none', ...noInstall, '--from-url', elsewhere(at.url, 'away')], besideProject(at)),
  'create of a server that fails': (at) =>
    create(['none', ...noInstall, '--from-url', elsewhere(at.url, 'broken')], besideProject(at)),
  'create with an invalid URL': (at) =>
    create(['none', ...noInstall, '--from-url', at.url.replace('http', 'htp')], besideProject(at)),
  'create with an unknown flag': (at) => create(['none', `--from-ulr=${at.url}`], besideProject(at)),
  'create of a document': (at) =>
    create(
      ['api', ...noInstall, '--from-openapi', elsewhere(at.url, 'openapi'), '--operation', 'getRate'],
      besideProject(at),
    ),
  'create that lists a document': (at) =>
    create(
      ['none', '--from-openapi', elsewhere(at.url, 'openapi'), '--search', 'rate', '--json'],
      besideProject(at),
    ),
  'create of a document that is no document': (at) =>
    create(['none', '--yes', '--from-openapi', elsewhere(at.url, 'broken')], besideProject(at)),
  'add-tool --dry-run': (at) =>
    market(
      ['add-tool', '--yes', '--dry-run', '--from-url', at.url, '--only', 'get_population'],
      inProject(at),
    ),
  'add-tool': (at) =>
    market(
      ['add-tool', '--yes', '--no-check', '--from-url', at.url, '--only', 'get_population'],
      inProject(at),
    ),
  list: (at) => market(['list'], inProject(at)),
  'list --json': (at) => market(['list', '--json'], inProject(at)),
  'doctor --json': (at) => market(['doctor', '--json'], inProject(at)),
  'upgrade --dry-run': (at) => market(['upgrade', '--dry-run'], inProject(at)),
  'deploy add': (at) => market(['deploy', 'add', 'compose', 'kubernetes'], inProject(at)),
  ...Object.fromEntries(
    ['pretty', 'json', 'junit', 'sarif', 'github', 'markdown'].map((reporter): [string, Command] => [
      `check --reporter ${reporter}`,
      (at) =>
        market(
          [
            ...['check', at.url, ...quick, '--verbose', '--reporter', reporter, '--call', '*'],
            ...['--summary', `${reporter}.md`, '--save-listing', `${reporter}.json`],
            ...['--save-baseline', `${reporter}-baseline.json`],
          ],
          besideProject(at),
        ),
    ]),
  ),
  'check --against': (at) =>
    market(
      ['check', at.url, ...quick, '--against', 'json.json', '--baseline', 'json-baseline.json'],
      besideProject(at),
    ),
  'check of an unreachable server': (at) =>
    market(['check', at.url.replace(host, '127.0.0.1:1')], besideProject(at)),
  'check of a server that redirects': (at) =>
    market(['check', elsewhere(at.url, 'away'), ...quick], besideProject(at)),
  'check with an invalid URL': (at) =>
    market(['check', at.url.replace('http', 'htp'), '--json'], besideProject(at)),
  'check of a URL without its scheme': (at) =>
    market(['check', at.url.replace('http://', '')], besideProject(at)),
  'check with a further argument': (at) => market(['check', '.', at.url], besideProject(at)),
  'market-mcp-contract': (at) => run(process.execPath, [contract, at.url, ...quick], besideProject(at)),
  'market-mcp-contract --json': (at) =>
    run(process.execPath, [contract, at.url, ...quick, '--json'], besideProject(at)),
  'check --availability': (at) => market(['check', at.url, '--availability'], besideProject(at)),
  'check --availability --json --against': (at) =>
    market(['check', at.url, '--availability', '--json', '--against', 'json.json'], besideProject(at)),
  'listing --endpoint': (at) =>
    market(['listing', '--endpoint', at.url, '--registry-name', 'io.github.acme/city'], inProject(at)),
  'listing --website': (at) =>
    market(
      [
        'listing',
        '--endpoint',
        'https://tools.example.com/mcp',
        '--website',
        at.url.replace('http:', 'https:'),
      ],
      inProject(at),
    ),
  'listing --for registry --json': (at) =>
    market(['listing', '--for', 'registry', '--endpoint', at.url, '--json'], inProject(at)),
  register: (at) => market(['register', '--endpoint', at.url], besideProject(at)),
  marketplace: (at) => market(['marketplace', '--endpoint', at.url, '--exec', 'true'], besideProject(at)),
  call: (at) =>
    market(['call', 'get_weather', '{"city":"Oslo"}', '--endpoint', at.url, '--json'], besideProject(at)),
  'marketplace refresh': (at) => market(['marketplace', 'refresh', '--endpoint', at.url], besideProject(at)),
};

/** The files below a directory, except `.env`, and all that git contains. */
async function written(directory: string): Promise<ReadonlyMap<string, string>> {
  const files = [...tree(directory)].filter(([path]) => !/(^|\/)\.env$/.test(path));
  const cwd = join(directory, 'made');
  const log = await succeeded(run('git', ['log', '-p', '--all'], { cwd }));
  const objects = await succeeded(run('git', ['cat-file', '--batch-all-objects', '--batch'], { cwd }));
  return new Map([...files, ['git log', log.stdout], ['git cat-file', objects.stdout]]);
}

describe('keys in the path and in the query of a URL are secrets:', () => {
  const directory = scratch();
  const url = origin + target;
  let made: Ran;

  beforeAll(async () => {
    made = await create(['made', '--json', ...noInstall, '--only', 'get_weather', '--from-url', url], {
      cwd: directory,
    });
  });

  it('create writes them to .env and nowhere else, and its command can be repeated', async () => {
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(keysIn(new Map([['output', made.stdout], ...(await written(directory))]))).toEqual([]);
    const env = readFileSync(join(directory, 'made/.env'), 'utf8');
    expect(env).toContain(`CITY_FACTS_URL=${url}`);
    const [, repeat = ''] = /^.*?( made .*)$/.exec(JSON.parse(made.stdout).repeat) ?? [];
    for (const variable of Object.keys(keyVariables)) expect(repeat).toContain(`"$${variable}"`);
    const again = `${process.execPath} ${bins.create} ${repeat.replace(' made ', ' again ')}`;
    const repeated = await run('sh', ['-c', again], {
      cwd: directory,
      env: keyVariables,
    });
    expect(repeated.status, repeated.stderr).toBe(0);
    expect(readFileSync(join(directory, 'again/.env'), 'utf8')).toBe(env);
  });

  it.each(Object.entries(commands))('%s prints them nowhere', async (_, command) => {
    const { status, stdout, stderr } = await command({ url, directory });
    expect(status, stdout + stderr).not.toBe(70);
    expect(stdout + stderr).not.toBe('');
    const streams = new Map([
      ['stdout', stdout],
      ['stderr', stderr],
    ]);
    expect(keysIn(streams), stdout + stderr).toEqual([]);
  });

  it('no file and no object of git contains them after these commands, except .env', async () => {
    expect(keysIn(await written(directory))).toEqual([]);
  });

  it('no page of the local marketplace contains them', async () => {
    const script = `
      const [url, secret] = [process.env.MARKET_MCP_URL, new URL(process.env.MARKET_MCP_URL).searchParams.get('secret')];
      const ask = async (path, body) => {
        const headers = { authorization: 'Bearer ' + secret, 'content-type': 'application/json' };
        const answer = await fetch(new URL(path, url), { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
        console.log(path, answer.status, await answer.text());
      };
      await ask('/try.json', { tool: 'get_weather', arguments: { city: 'Oslo' } });
      for (const path of ['/', '/try', '/register', '/listings', '/traffic', '/traffic/2', '/check'])
        for (const end of ['', '.json']) await ask(path === '/' && end ? '/index.json' : path + end);
      await ask('/register.json', { name: 'City facts', description: 'x', category: 'Other', price: '0.01', endpoint: process.env.ENDPOINT });`;
    const exec = `${process.execPath} --input-type=module -e ${posixLine([script])}`;
    const env = { ENDPOINT: url };
    const { stdout, stderr } = await market(['marketplace', '--endpoint', url, '--exec', exec], {
      cwd: directory,
      env,
    });
    expect(stdout).toMatch(/You asked|200/);
    expect(
      keysIn(
        new Map([
          ['pages', stdout],
          ['stderr', stderr],
        ]),
      ),
      stdout,
    ).toEqual([]);
  });

  it('a printed curl line sends the request again', async () => {
    const flags = ['--only', 'gate.no-token', '--platform', 'context', '--json'];
    const { stdout } = await market(['check', url, ...flags], { cwd: directory });
    const [{ request }] = JSON.parse(stdout).rules[0].problems;
    asked = [];
    const sent = await succeeded(run('sh', ['-c', request], { env: keyVariables, cwd: directory }));
    expect(sent.stdout).toContain('HTTP/1.1 200');
    expect(asked).toEqual([target]);
  });

  it('market-mcp record calls the server with them, and records no answer that repeats them', async () => {
    const flags = ['recorded', '--platform', 'context', '--only', 'get_weather', '--from-url', url];
    const project = await scaffold(flags, { cwd: directory });
    asked = [];
    const ran = await succeeded(market(['record'], { cwd: project.directory }));
    expect(asked).toContain(target);
    const recordings = [...tree(join(project.directory, 'test/recordings'))];
    expect(recordings.map(([, text]) => text)).toEqual([expect.stringContaining('"from": "recorded"')]);
    const texts = new Map([['output', ran.stdout + ran.stderr], ...recordings]);
    expect(keysIn(texts)).toEqual([]);
  });
});

describe('user and password in a URL', () => {
  const directory = scratch();
  const url = `http://alice:p4ssw0rd-of-the-user@${host}/mcp`;
  const cwd = { cwd: directory };

  it.each([
    ['create', () => create(['made', ...noInstall, '--from-url', url], cwd)],
    ['create of a document', () => create(['api', '--yes', '--from-openapi', url], cwd)],
    ['check', () => market(['check', url, '--json'], cwd)],
    ['market-mcp-contract', () => run(process.execPath, [contract, url], cwd)],
    ['check --availability', () => market(['check', url, '--availability'], cwd)],
  ] as const)('are refused by %s, which sends, writes and prints nothing of them', async (_, command) => {
    asked = [];
    const { status, stdout, stderr } = await command();
    expect([status, asked]).toEqual([2, []]);
    expect(stdout + stderr).toContain('user');
    expect(stdout + stderr).not.toContain('p4ssw0rd');
    expect([...tree(directory).keys()]).toEqual([]);
  });

  it.each([
    ['register', ['register', '--endpoint', url]],
    ['call', ['call', 'get_weather', '--endpoint', url, '--json']],
    ['marketplace', ['marketplace', '--endpoint', url, '--exec', 'true']],
  ] as const)('are printed and written nowhere by %s', async (_, args) => {
    const { stdout, stderr } = await market(args, cwd);
    expect(stdout + stderr).not.toBe('');
    expect(keysIn(new Map([['output', stdout + stderr], ...tree(directory)]))).toEqual([]);
  });
});
