import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveHere, startApi } from '../api-server.ts';
import { apiDocuments } from '../import/api-documents.ts';
import {
  compile,
  create,
  evaluated,
  expectProven,
  market,
  run,
  scaffold,
  scratch,
  succeeded,
  tree,
} from './support.ts';

const root = scratch();
for (const one of apiDocuments) writeFileSync(join(root, one.file), one.text);
const [first, ...others] = apiDocuments;
const chosen = (file: string, operation: string) => [
  '--from-openapi',
  join(root, file),
  '--operation',
  operation,
];

/** A project with a tool of each document: the first from create, the others from add-tool. */
let directory: string;
beforeAll(async () => {
  if (!first) throw new Error('no documents');
  ({ directory } = await scaffold(['apis', ...chosen(first.file, first.operation)], { cwd: root }));
  for (const { file, operation } of others) {
    const args = ['add-tool', '--yes', '--json', '--no-check', ...chosen(file, operation)];
    const added = await market(args, { cwd: directory });
    if (added.status !== 0) throw new Error(added.stderr);
  }
});

describe('tools of five APIs in one project', () => {
  it('compile, and pass tests and self-check without a network and without secrets', async () => {
    await succeeded(compile(directory));
    await expectProven(directory);
  });

  it('share the source kit, one environment and their dependencies', () => {
    const files = tree(directory);
    const { dependencies, scripts } = JSON.parse(files.get('package.json') ?? '');
    expect(Object.keys(dependencies)).toEqual(['ky', 'lru-cache', 'market-mcp-runtime', 'p-queue']);
    expect(scripts.record).toBe('market-mcp record');
    const [env = '', example = ''] = [files.get('src/env.ts'), files.get('.env.example')];
    const readme = files.get('DEPLOY.md') ?? '';
    expect(readme).toContain('  -e GAS_TOKEN="$GAS_TOKEN" \\\n');
    for (const { address, secrets } of apiDocuments) {
      for (const name of [address, ...Object.keys(secrets)]) {
        expect(env.match(new RegExp(`^  ${name}: `, 'gm')), name).toHaveLength(1);
        expect(example.match(new RegExp(`^${name}=`, 'gm')), name).toHaveLength(1);
        expect(readme.match(new RegExp(`^- \`${name}\`: `, 'gm')), name).toHaveLength(1);
      }
    }
    expect([...files.keys()].filter((path) => path.startsWith('src/apis/'))).toHaveLength(5);
  });

  it('do not start without their secrets: report every error at once, without values', async () => {
    const started = await run(process.execPath, ['dist/src/main.js'], {
      cwd: directory,
      env: { PORT: 'x', GAS_URL: 'ftp://me:pa55@gas.example', NODE_ENV: 'test' },
    });
    expect(started.status).toBe(1);
    for (const name of [
      'PORT',
      'GAS_URL',
      'GAS_TOKEN',
      'WEATHER_APPID',
      'PAY_USER',
      'PAY_PASSWORD',
      'PETS_PET_KEY',
    ]) {
      expect(started.stderr).toContain(`- ${name}: `);
    }
    expect(started.stderr).not.toContain('pa55');
  });
});

/**
 * Handlers of the loopback API, by name: what follows from the document, and one failure of each kind. What other answers end in is that of
 * the runtime: test/runtime/source.test.ts.
 */
const behaviours: {
  readonly [name: string]: (response: ServerResponse, answer: unknown, count: number) => void;
} = {
  found: (response, answer) => send(response, 200, answer),
  missing: (response) => send(response, 404, {}),
  empty: (response) => response.writeHead(204).end(),
  refused: (response) => send(response, 401, { message: 'no such key' }),
  recovering: (response, answer, count) => send(response, count === 1 ? 500 : 200, answer),
  wrong: (response) => send(response, 200, { gwei: 'much', items: 5, hits: {}, id: [] }),
};

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

describe.each(apiDocuments)(
  '$tool, against its API',
  ({ tool, arguments: args, answer, secrets, address, file }) => {
    const received: { readonly url: string; readonly headers: object; readonly body: string }[] = [];
    let behaviour = 'found';
    let count = 0;
    const server = createServer(async (request, response) => {
      const { url = '', headers } = request;
      if (url.startsWith('/behave/')) {
        behaviour = url.slice('/behave/'.length);
        count = 0;
        response.end();
        return;
      }
      count += 1;
      received.push({ url, headers, body: await text(request) });
      behaviours[behaviour]?.(response, answer, count);
    });
    let results: {
      readonly [name: string]: {
        readonly isError?: true;
        readonly structuredContent: { readonly [name: string]: unknown };
      };
    };
    let printed = '';

    beforeAll(async () => {
      const url = await serveHere(server);
      const body = `
        const results = {};
        for (const name of ${JSON.stringify(Object.keys(behaviours))}) {
          await fetch('${url}/behave/' + name);
          results[name] = await callTool(named('${tool}'), ${JSON.stringify(args)});
        }
        return results;`;
      const ended = await evaluated(directory, body, { [address]: url, ...secrets });
      results = ended.value;
      printed = ended.printed;
    });

    const ending = (name: string) => results[name]?.structuredContent ?? {};

    it('return the answer of the API', () => {
      const { items, result, ...plain } = ending('found');
      expect(items ?? result ?? plain).toEqual(answer);
      expect(results.found?.isError).toBeUndefined();
      expect(ending('recovering')).toEqual(
        file === 'payments.json' || file === 'search.json'
          ? expect.objectContaining({ error: 'SOURCE_UNAVAILABLE' })
          : ending('found'),
      );
    });

    it('return an empty result on 404 only if the document says so', () => {
      const documented = ['gas.yaml', 'pets.json'].includes(file);
      if (documented) expect(ending('missing')).toMatchObject({ searchExhausted: true });
      else expect(ending('missing')).toMatchObject({ error: 'SOURCE_NOT_FOUND' });
    });

    it('return done after a write without content, and an empty result after a read', () => {
      const isWrite = ['payments.json', 'search.json'].includes(file);
      expect(ending('empty')).toMatchObject(isWrite ? { done: true } : { searchExhausted: true });
      expect(results.empty?.isError).toBeUndefined();
    });

    it.each([
      ['refused', 'SOURCE_REFUSED'],
      ['wrong', 'SOURCE_MALFORMED'],
    ])('answer %s with %s', (name, code) => {
      expect(ending(name)).toMatchObject({ error: code });
      expect(results[name]?.isError).toBe(true);
    });

    it('send secrets to the API, and print them nowhere else', () => {
      const sent = JSON.stringify(received[0]);
      for (const secret of Object.values(secrets).filter((value) => value.startsWith('s3cret'))) {
        const basic = Buffer.from(`me:${secret}`).toString('base64');
        expect(sent.includes(secret) || sent.includes(basic)).toBe(true);
        expect(printed).not.toContain(secret);
        expect(printed).not.toContain(basic);
      }
    });
  },
);

it('an example whose list has objects with different members compiles', async () => {
  const lines = { type: 'array', items: { type: 'object', properties: { name: {}, uid: {} } } };
  const schema = {
    type: 'object',
    required: ['order'],
    properties: { order: { type: 'object', properties: { lines } } },
  };
  const example = { order: { lines: [{ name: 'a' }, { uid: 'b' }] } };
  const order = { ...schema.properties.order, example: example.order };
  const content = { 'application/json': { schema: { ...schema, properties: { order } } } };
  const answer = { type: 'object', properties: { id: { type: 'string' } } };
  const responses = { 200: { content: { 'application/json': { schema: answer } } } };
  const paths = {
    '/orders': {
      post: { operationId: 'createOrder', requestBody: { required: true, content }, responses },
    },
  };
  writeFileSync(
    join(root, 'orders.json'),
    JSON.stringify({ openapi: '3.0.0', info: { title: 'Orders' }, paths }),
  );
  const made = await scaffold(['orders', ...chosen('orders.json', 'createOrder')], { cwd: root });
  expect(readFileSync(join(made.directory, 'test/tools/create-order.test.ts'), 'utf8')).toContain("uid: 'b'");
});

describe('--from-openapi', () => {
  it.each([
    [['--operation', 'findPat'], 'Did you mean findPet?'],
    [['--operation', 'findPet', '--output', 'x:string'], '--from-openapi'],
    [['--operation', 'findPet', '--search', 'pet'], '--search "pet" cannot be combined with --operation'],
    [['--search', ' '], '--search'],
  ])('refuses %j with exit code 2 and writes nothing', async (args, message) => {
    const refused = await create(['refused', '--yes', '--from-openapi', join(root, 'pets.json'), ...args], {
      cwd: root,
    });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(tree(join(root, 'refused')).size).toBe(0);
  });

  it('is refused with --yes if none is chosen', async () => {
    const refused = await create(['--from-openapi', join(root, 'gas.yaml'), '--yes', '--json'], {
      cwd: root,
    });
    expect([refused.status, refused.stderr]).toEqual([2, '']);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      ok: false,
      error: { code: 'MISSING_ANSWERS', hint: expect.stringContaining('Add --operation <name>') },
    });
  });

  it('lists all operations if none is chosen', async () => {
    const listed = await create(['--from-openapi', join(root, 'gas.yaml'), '--json'], { cwd: root });
    expect(JSON.parse(listed.stdout)).toEqual({
      ok: true,
      operations: [
        { id: 'getGas', method: 'get', path: '/gas/{chain}', summary: 'Get the gas price of a chain.' },
      ],
    });
  });
});

describe('--search', () => {
  const search = (text: string) => ['--from-openapi', join(root, 'pets.json'), '--search', text];

  it.each([
    ['create-market-mcp', (args: string[]) => create(args, { cwd: root })],
    ['add-tool', (args: string[]) => market(['add-tool', ...args], { cwd: root })],
  ])('of %s lists the operations that contain all words', async (_, listing) => {
    const found = await succeeded(listing([...search('PET get'), '--json']));
    expect(JSON.parse(found.stdout).operations).toMatchObject([{ id: 'findPet' }]);
    const shown = await listing(search('pet get'));
    expect(shown.stdout).toMatch(/^findPet +GET .*\n\n1 of \d+ operations contain "pet get"\. Choose with/m);
    const none = await succeeded(listing(search('pet get nothing')));
    expect(none.stdout).toMatch(/^0 of \d+ operations contain "pet get nothing"\. Search with/);
  });

  it('requires a document', async () => {
    const refused = await create(['refused', '--yes', '--search', 'pet'], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('--search "pet" searches a document, but none is given');
  });
});

describe('a document from the network', () => {
  it('is requested once, and not from another host', async () => {
    const { origin: url, requests } = await startApi(({ target }) =>
      target.startsWith('/away')
        ? { status: 302, headers: { location: 'http://localhost:1/x' } }
        : { body: first?.text },
    );
    const listed = await create(['--from-openapi', `${url}/gas.yaml`, '--json'], { cwd: root });
    expect(listed.status).toBe(0);
    expect(requests.map(({ target }) => target)).toEqual(['/gas.yaml']);
    const away = await create(['--from-openapi', `${url}/away?key=s3cret`], { cwd: root });
    expect(away.status).toBe(2);
    expect(away.stderr).toContain('it redirects to another host');
    expect(away.stderr).not.toContain('s3cret');
  });

  it('behind a key is fetched with --header, which is stored and printed nowhere', async () => {
    const { origin } = await startApi(({ headers }) =>
      headers.authorization === 'Bearer s3cret-of-the-document'
        ? { body: first?.text }
        : { status: 401, body: 'no' },
    );
    const document = `${origin}/gas.yaml`;
    const flags = ['keyed', '--yes', '--no-install', '--no-git', '--from-openapi', document];
    const key = ['--header', 'Authorization: Bearer s3cret-of-the-document'];
    const without = await create([...flags, '--operation', 'getGas'], { cwd: root });
    expect(without.status).toBe(2);
    expect(without.stderr).toContain("--header 'authorization: Bearer …'");
    expect(tree(join(root, 'keyed')).size).toBe(0);
    const made = await succeeded(
      create([...flags, ...key, '--operation', 'getGas', '--json'], { cwd: root }),
    );
    expect(JSON.parse(made.stdout).repeat).toContain(`--from-openapi ${document} --operation getGas`);
    const written = [...tree(join(root, 'keyed')).values()].join('\n');
    expect(`${made.stdout}${made.stderr}${written}`).not.toContain('s3cret-of-the-document');
    const added = await succeeded(
      market(
        [
          'add-tool',
          'x',
          '--yes',
          '--json',
          '--no-check',
          ...flags.slice(4),
          ...key,
          '--operation',
          'getGas',
        ],
        { cwd: join(root, 'keyed') },
      ),
    );
    expect(added.stdout + added.stderr).not.toContain('s3cret-of-the-document');
  });

  it.each([
    [
      ['--header', 's3cret', '--from-openapi', 'http://127.0.0.1:1/x'],
      '--header expects a name, a colon and a value',
    ],
    [
      ['--header', 'na me: s3cret', '--from-openapi', 'http://127.0.0.1:1/x'],
      '--header expects a name, a colon and a value',
    ],
    [['--header', 'x: s3cret\nevil: 1'], '--header expects a name, a colon and a value'],
    [
      ['--header', 'x: s3cret', '--from-openapi', join(root, 'gas.yaml')],
      '--header is for a document at a URL',
    ],
    [
      ['--header', 'x: s3cret', '--tool', 'a'],
      '--header is for the download of a document, but none is given',
    ],
  ])('refuses %j without repeating it', async (args, message) => {
    const refused = await create(['refused', '--yes', ...args], { cwd: root });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(refused.stdout + refused.stderr).not.toContain('s3cret');
  });
});
