import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json as bodyOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { serveHere } from '../api-server.ts';
import { forever } from '../hostile/hostile-server.ts';
import { compile, create, lendModules, market, scratch, succeeded, tree } from './support.ts';
import { openApi } from './upstreams.ts';

const root = scratch();
const key = 'sk-live-4f9a8b7c6d5e';

/** An API, and the bodies and URLs that it has received. */
async function api(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: string[] = [];
  const origin = await serveHere(
    createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
      request.resume();
      answer(request, response);
    }),
  );
  return { origin, seen };
}

const says =
  (value: unknown, status = 200, type = 'application/json') =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response
      .writeHead(status, { 'content-type': type })
      .end(typeof value === 'string' ? value : JSON.stringify(value));

let count = 0;
/** Creates a project from a request, without installation. */
async function made(line: string, ...flags: readonly string[]) {
  count += 1;
  const args = [`p${count}`, '--yes', '--no-install', '--no-git', '--from-request', line, ...flags];
  const ran = await create(args, { cwd: root });
  return { ...ran, directory: join(root, `p${count}`) };
}

const endless = (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  forever(response, `"${'x'.repeat(65_536)}",`);
};
const huge = (_: IncomingMessage, response: ServerResponse) =>
  void response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': 50_000_000 })
    .write('[');
const redirect = (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
const deep = '['.repeat(100_000) + ']'.repeat(100_000);

describe('an answer that no tool can be made from is named, and nothing is written', () => {
  it.each([
    ['an error', says({ message: `bad key ${key}` }, 401), 'was answered with HTTP 401'],
    ['nothing at the address', says({ message: 'no' }, 404), 'was answered with HTTP 404'],
    ['HTML', says(`<html><title>Hello ${key}</title>`, 200, 'text/html'), 'HTML, not JSON'],
    ['a page to log in', says('<form>Sign in</form>', 200, 'text/html'), 'a page to log in'],
    ['no content', says('', 200), 'nothing else'],
    ['a text', says(`plain ${key}`, 200, 'text/plain'), 'something else than JSON'],
    [
      'a failure with status 200',
      says({ error: { message: 'no such coin' } }),
      'contains only an error of the API',
    ],
    ['an empty object', says({}), 'is empty'],
    ['JSON of any depth', says(deep), 'answer'],
    ['an endless answer', endless, 'larger than this tool allows'],
    ['50 MB', huge, 'larger than this tool allows'],
    ['a redirect to the keys of a machine', redirect, 'redirects to another address'],
  ])('%s', async (_, answer, named) => {
    const { origin } = await api(answer);
    const ran = await made(`curl ${origin}/a?q=1 -H 'authorization: Bearer ${key}'`);
    expect(ran.stderr).toContain(named);
    expect([2, 3]).toContain(ran.status);
    expect(ran.stdout + ran.stderr).not.toContain(key);
    expect(existsSync(ran.directory)).toBe(false);
  });

  it('says in the request of the tool what its success says, which compiles', async () => {
    const { origin } = await api(says({ status: 'OK', info: { code: 0 }, results: [{ name: 'a' }] }));
    const { directory, stderr } = await made(`curl ${origin}/places?q=a`);
    expect(stderr).not.toContain('✘');
    const [file] = readdirSync(join(directory, 'src/tools')).filter((name) => name !== 'index.ts');
    const source = readFileSync(join(directory, 'src/tools', `${file}`), 'utf8');
    expect(source).toMatch(/success: \{\s*status: 'OK',\s*'info\.code': 0,?\s*\}/);
    lendModules(directory);
    expect(await compile(directory)).toMatchObject({ status: 0 });
  });

  it('GraphQL and JSON-RPC: an error in their envelopes', async () => {
    const json = "-H 'content-type: application/json'";
    const graphql = await api(says({ data: null, errors: [{ message: 'Unknown field b' }] }));
    const asked = await made(`curl ${graphql.origin} ${json} -d '{"query":"{ b }"}'`);
    expect(asked.stderr).toContain('Unknown field b');
    const rpc = await api(
      says({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no such method' } }),
    );
    const called = await made(
      `curl ${rpc.origin} ${json} -d '{"jsonrpc":"2.0","id":1,"method":"eth_getX","params":[]}'`,
    );
    expect(called.stderr).toContain('no such method');
    expect([asked, called].map(({ directory }) => existsSync(directory))).toEqual([false, false]);
  });

  it('GraphQL without data for the arguments; for further ones, it is an empty result', async () => {
    const coins = await serveHere(
      createServer(async (request, response) => {
        const { variables } = (await bodyOf(request)) as { readonly variables: { readonly id: string } };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ data: { coin: variables.id === 'eth' ? { price: 1.5 } : null } }));
      }),
    );
    const body = (id: string) =>
      `{"query":"query($id: String!){ coin(id: $id) { price } }","variables":{"id":"${id}"}}`;
    const line = (id: string) => `curl ${coins} -H 'content-type: application/json' -d '${body(id)}'`;
    const nothing = await made(line('none'));
    expect(nothing.stderr).toContain('has nothing for these arguments: {"data":{"coin":null}}');
    expect(existsSync(nothing.directory)).toBe(false);
    const { directory, stderr } = await made(line('eth'), '--example', 'id=none');
    expect(stderr).not.toContain('✘');
    const recordings = readFileSync(join(directory, 'test/recordings/post-.json'), 'utf8');
    expect(JSON.parse(recordings).map(({ body }: { body: unknown }) => body)).toEqual([
      { data: { coin: { price: 1.5 } } },
      { data: null },
    ]);
    const tools = tree(join(directory, 'src/tools'));
    const tool = [...tools].find(([name]) => name !== 'index.ts')?.[1];
    expect(tool).toContain("{ arguments: { id: 'none' }, expect: 'empty' }");
    expect(tool).not.toContain('notFound');
  });
});

it('headers that name pages become next and total, and the recording has them', async () => {
  const { origin } = await api((request, response) => {
    response.setHeader('link', `<${origin}${request.url?.replace('page=1', 'page=2')}>; rel="next"`);
    says([{ id: 'a' }])(request, response);
  });
  const { directory, stderr } = await made(`curl '${origin}/coins?page=1'`);
  expect(stderr).not.toContain('✘');
  const tool = readFileSync(join(directory, 'src/tools/get-coins.ts'), 'utf8');
  expect(tool).toMatch(/pages: \{ input, inputSchema \}/);
  expect(tool).toMatch(/next: \{\s+type: \['object', 'null'\]/);
  expect(tool).not.toContain('total');
  const recorded = JSON.parse(readFileSync(join(directory, 'test/recordings/get-coins.json'), 'utf8'));
  expect(recorded[0]).toMatchObject({ headers: { link: '<?page=2>; rel="next"' }, from: 'recorded' });
});

describe('nothing is sent', () => {
  it.each([
    ['that may change something', (o: string) => `curl ${o}/orders -d amount=1`, 'may change something'],
    ['that a shell would run', (o: string) => `curl ${o}/a; id`, 'which a shell runs'],
    ['that reads a file', (o: string) => `curl ${o}/a -d @/etc/passwd`, 'reads or writes a file'],
    ['with a header of two lines', (o: string) => `curl ${o}/a -H $'a: b\\r\\nx: ${key}'`, 'no header'],
    [
      'with an unknown option',
      (o: string) => `curl ${o}/a --heading='x-api-key: ${key}'`,
      'is not read here',
    ],
    [
      'of which the key is a placeholder',
      (o: string) => `curl ${o}/a -H 'x-api-key: $NO_SUCH_KEY'`,
      'NO_SUCH_KEY',
    ],
    ['without a value', (o: string) => `curl '${o}/a?city=YOUR_CITY_NAME'`, 'has no value for city'],
  ])('of a request %s', async (_, line, named) => {
    const { origin, seen } = await api(says({ a: 1 }));
    const ran = await made(line(origin));
    expect({ status: ran.status, seen }).toEqual({ status: 2, seen: [] });
    expect(ran.stderr).toContain(named);
    expect(ran.stderr).not.toContain(key);
    expect(existsSync(ran.directory)).toBe(false);
  });

  it('to the addresses at which clouds serve keys', async () => {
    const ran = await made('curl http://169.254.169.254/latest/meta-data');
    expect(ran.stderr).toContain('was not sent');
    expect(existsSync(ran.directory)).toBe(false);
  });

  it('with --no-send, which takes saved answers', async () => {
    const { origin, seen } = await api(says({ a: 1 }));
    writeFileSync(join(root, 'saved.json'), '{"id":"1","state":"open"}');
    const line = `curl ${origin}/orders -d amount=1`;
    expect((await made(line, '--no-send')).stderr).toContain('Add --from-sample');
    const ran = await made(line, '--no-send', '--from-sample', 'saved.json');
    expect({ status: ran.status, seen }).toEqual({ status: 0, seen: [] });
    expect(tree(ran.directory).get('src/tools/post-orders.ts')).toContain('form: { amount: input.amount }');
  });
});

describe('a request', () => {
  it('that may change something is sent once with --send', async () => {
    const { origin, seen } = await api(says({ id: 'o1' }));
    const ran = await made(`curl ${origin}/orders -d amount=1`, '--send');
    expect({ status: ran.status, seen }).toEqual({ status: 0, seen: ['POST /orders '] });
    expect(tree(ran.directory).get('src/tools/post-orders.ts')).toContain('readOnlyHint: false');
  });

  it('is sent by --dry-run as well, which writes nothing', async () => {
    const { origin, seen } = await api(says({ id: 'o1' }));
    const ran = await made(`curl ${origin}/orders -d amount=1`, '--send', '--dry-run');
    expect({ status: ran.status, seen }).toEqual({ status: 0, seen: ['POST /orders '] });
    expect(ran.stdout).toContain('src/tools/post-orders.ts');
    expect(existsSync(ran.directory)).toBe(false);
  });

  it('of an OpenAPI operation without a declared answer is sent with --send', async () => {
    const { origin, seen } = await api(says({ price: 1.5 }));
    const parameter = { name: 'symbol', in: 'query', required: true, schema: { type: 'string' } };
    const get = { parameters: [parameter], responses: { 200: { description: 'ok' } } };
    const securitySchemes = { key: { type: 'http', scheme: 'bearer' } };
    const secured = { security: [{ key: [] }], components: { securitySchemes } };
    const document = openApi(origin, 'Prices', { '/price': { get } }, secured);
    writeFileSync(join(root, 'silent.json'), JSON.stringify(document));
    const args = ['silent', '--yes', '--no-install', '--no-git', '--from-openapi', 'silent.json'];
    const run = (...more: readonly string[]) =>
      create([...args, '--operation', 'GET /price', '--env', 'PRICES_TOKEN', ...more], {
        cwd: root,
        env: { PRICES_TOKEN: key },
      });
    const unsent = await create([...args, '--operation', 'GET /price'], { cwd: root });
    expect(unsent.stderr).toContain('Add --send to send it once');
    expect((await run('--send')).stderr).toContain('has no value for symbol');
    expect(seen).toEqual([]);
    const ran = await run('--send', '--example', 'symbol=BTC');
    expect({ status: ran.status, seen }, ran.stderr).toEqual({
      status: 0,
      seen: [`GET /price?symbol=BTC Bearer ${key}`],
    });
    expect(ran.stdout + ran.stderr).not.toContain(key);
    const files = tree(join(root, 'silent'));
    expect(files.get('src/tools/get-price.ts')).toContain("price: { type: ['number', 'null']");
    const [recorded] = JSON.parse(files.get('test/recordings/get-price.json') ?? '[]');
    expect(recorded).toMatchObject({ from: 'recorded', body: { price: 1.5 } });
  });

  it('takes the value of a placeholder from the environment with --env, and the repeat line has both', async () => {
    const { origin, seen } = await api(says({ a: 1 }));
    const line = `curl ${origin}/a -H 'authorization: Bearer $MY_KEY'`;
    const args = ['env', '--yes', '--json', '--no-install', '--no-git', '--from-request', line];
    const ran = await create([...args, '--env', 'MY_KEY'], { cwd: root, env: { MY_KEY: key } });
    expect(seen).toEqual([`GET /a Bearer ${key}`]);
    expect(JSON.parse(ran.stdout).repeat).toMatch(/authorization: Bearer \$MY_KEY.* --env MY_KEY /);
    expect(ran.stdout + ran.stderr).not.toContain(key);
    expect(readFileSync(join(root, 'env/.env'), 'utf8')).toBe(`MY_KEY=${key}\n`);
  });

  it('is sent once more for each example: types are united, and 404 is the empty result', async () => {
    const { origin, seen } = await api((request, response) => {
      const symbol = new URL(request.url ?? '', 'http://x').searchParams.get('symbol');
      if (symbol === 'NONE') says({ message: 'no' }, 404)(request, response);
      else says({ symbol, price: symbol === 'ETH' ? null : 1.5 })(request, response);
    });
    const ran = await succeeded(
      made(`curl '${origin}/price?symbol=BTC'`, '--example', 'symbol=ETH', '--example', 'symbol=NONE'),
    );
    expect(seen).toHaveLength(3);
    const files = tree(ran.directory);
    const tool = files.get('src/tools/get-price.ts') ?? '';
    expect(tool).toContain("price: { type: ['number', 'null']");
    expect(tool).toContain("{ arguments: { symbol: 'NONE' }, expect: 'empty' }");
    expect(tool).toContain("notFound: 'empty'");
    const recorded = JSON.parse(files.get('test/recordings/get-price.json') ?? '[]');
    expect(recorded.map((one: { status: number; from: string }) => [one.status, one.from])).toEqual([
      [200, 'recorded'],
      [200, 'recorded'],
      [404, 'recorded'],
    ]);
  });

  it('has the empty list of an example as its empty result', async () => {
    const { origin } = await api((request, response) =>
      says(request.url?.endsWith('NONE') ? [] : [{ id: 1 }])(request, response),
    );
    const ran = await succeeded(made(`curl '${origin}/list?of=A'`, '--example', 'of=NONE'));
    const tool = tree(ran.directory).get('src/tools/get-list.ts') ?? '';
    expect(tool).toContain("{ arguments: { of: 'NONE' }, expect: 'empty' }");
    expect(tool).toContain("noData: 'empty',");
    expect(tool).toContain('if (answer === undefined) return empty(');
    const recorded = JSON.parse(tree(ran.directory).get('test/recordings/get-list.json') ?? '[]');
    expect(recorded.map((one: { body: unknown }) => one.body)).toEqual([[{ id: 1 }], []]);
  });

  it.each<[string, object, object]>([
    ['null in place of a list', { teams: [{ id: '1' }] }, { teams: null }],
    ['a count of 0', { total: 1, docs: [{ id: 'a' }], q: 'A' }, { total: 0, docs: [], q: 'NONE' }],
    [
      'a failure that says so',
      { Response: 'True', Title: 'x', Ratings: [{ Value: '7' }] },
      { Response: 'False', Error: 'Movie not found!' },
    ],
  ])('has a response without data as its empty result: %s', async (_, found, nothing) => {
    const { origin } = await api((request, response) =>
      says(request.url?.endsWith('NONE') ? nothing : found)(request, response),
    );
    const ran = await succeeded(made(`curl '${origin}/list?of=A'`, '--example', 'of=NONE'));
    const tool = tree(ran.directory).get('src/tools/get-list.ts') ?? '';
    expect(tool).toContain("{ arguments: { of: 'A' }, expect: 'found' }");
    expect(tool).toContain("{ arguments: { of: 'NONE' }, expect: 'empty' }");
    const recorded = JSON.parse(tree(ran.directory).get('test/recordings/get-list.json') ?? '[]');
    expect(recorded.map((one: { body: unknown }) => one.body)).toEqual([found, nothing]);
  });

  it('takes --input, --constant and --fields, and names what it does not know', async () => {
    const { origin } = await api(says({ price: 1, volume: 2, extra: { deep: 'x' } }));
    const line = `curl '${origin}/price?symbol=BTC&limit=5'`;
    const ran = await made(
      line,
      '--input',
      'symbol:string=ETH Trading pair',
      '--constant',
      'limit',
      '--fields',
      'price',
    );
    const tool = tree(ran.directory).get('src/tools/get-price.ts') ?? '';
    expect(tool).toContain("symbol: { type: 'string', description: 'Trading pair', default: 'ETH' }");
    expect(tool).toContain('query: { symbol: input.symbol, limit: 5 }');
    expect(tool).not.toContain('volume:');
    expect(tree(ran.directory).get('test/recordings/get-price.json')).not.toContain('volume');
    const wrong = await made(line, '--constant', 'limits', '--input', 'symbl:string=A');
    expect(wrong.stderr).toContain('Did you mean limit?');
    expect(wrong.stderr).toContain('Did you mean symbol?');
    const both = await made(line, '--constant', 'limit', '--input', 'limit:integer=5');
    expect([both.status, both.stderr]).toEqual([2, expect.stringContaining('is an --input, too')]);
  });

  it('of a HAR file is chosen by its number; larger files are refused', async () => {
    const { origin, seen } = await api(says({ a: 1 }));
    const entry = (url: string, more: object = {}) => ({
      request: {
        method: 'GET',
        url,
        headers: [
          { name: 'Sec-Fetch-Mode', value: 'cors' },
          { name: 'X-Api-Key', value: key },
        ],
        ...more,
      },
      response: { content: { mimeType: 'application/json' } },
    });
    const har = { log: { entries: [entry(`${origin}/a?api_key=${key}`), entry(`${origin}/b?x=1`)] } };
    writeFileSync(join(root, 'web.har'), JSON.stringify(har));
    const listed = await made('web.har');
    expect(listed.stdout).toContain(`2  GET ${origin}/b`);
    expect(listed.stdout).not.toContain(key);
    expect(existsSync(listed.directory)).toBe(false);
    const ran = await made('web.har', '--request', '2');
    expect({ status: ran.status, seen }).toEqual({ status: 0, seen: ['GET /b?x=1 '] });
    expect(ran.stdout).toContain('sec-fetch-mode is not sent');
    writeFileSync(join(root, 'large.har'), '');
    truncateSync(join(root, 'large.har'), 200_000_000);
    expect((await made('large.har')).stderr).toContain('more than 50,000,000 bytes');
    for (const [text, named] of [
      [JSON.stringify(har).slice(0, -30), 'is no valid JSON'],
      ['{"log":{"entries":[1,null,{}]}}', 'no request that was answered with JSON'],
      [`{"log":{"entries":[${'['.repeat(900_000)}`, 'is no valid JSON'],
      ['[]', 'neither a curl command nor a HAR file'],
    ] as const) {
      writeFileSync(join(root, 'broken.har'), text);
      const { status, stderr } = await made('broken.har');
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(named) });
      expect(stderr).not.toContain(key);
    }
  });
});

describe('.env', () => {
  const line = (origin: string) => `curl ${origin}/a -H 'x-api-key: ${key}'`;

  it('keeps a value that is there, and gets no key where git would commit it', async () => {
    const { origin } = await api(says({ a: 1 }));
    const { directory } = await made(line(origin));
    const [name] = readFileSync(join(directory, '.env'), 'utf8').split('=');
    writeFileSync(join(directory, '.env'), `${name}=mine\n`);
    const add = (...more: readonly string[]) =>
      market(['add-tool', ...more, '--yes', '--no-check', '--from-request', line(origin)], {
        cwd: directory,
      });
    expect((await add('get_other')).stdout).toContain(`.env keeps its own ${name}`);
    expect(readFileSync(join(directory, '.env'), 'utf8')).toBe(`${name}=mine\n`);
    execFileSync('git', ['init', '-q'], { cwd: directory });
    execFileSync('git', ['add', '--force', '.env'], { cwd: directory });
    expect((await add('get_third')).stdout).toContain('git tracks it');
  });

  it('is not written where nothing ignores it', async () => {
    const { origin } = await api(says({ a: 1 }));
    mkdirSync(join(root, 'open'));
    writeFileSync(join(root, 'open/.gitignore'), 'node_modules\n');
    const args = ['open', '--yes', '--force', '--no-install', '--no-git', '--from-request', line(origin)];
    const ran = await create(args, { cwd: root });
    const ignores = readFileSync(join(root, 'open/.gitignore'), 'utf8').includes('.env');
    expect(ran.status === 0 ? existsSync(join(root, 'open/.env')) : ignores).toBe(ignores);
  });
});
