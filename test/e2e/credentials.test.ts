import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { compile, evaluated, expectProven, market, run, scaffold, scratch, succeeded } from './support.ts';

const root = scratch();
const schema = { type: 'object', properties: { said: { type: 'string', description: 'What it got' } } };
const responses = {
  200: { description: 'ok', content: { 'application/json': { schema, example: { said: 'x' } } } },
};
const apiKey = (place: string, name: string) => ({ type: 'apiKey', in: place, name });
const token = { type: 'http', scheme: 'bearer' };
const operation = (operationId: string, security?: object[], parameters: object[] = []) => ({
  get: {
    operationId,
    summary: `Get what ${operationId} has`,
    parameters,
    responses,
    ...(security && { security }),
  },
});
const paths = {
  '/default': operation('getDefault'),
  '/public': operation('getPublic', []),
  '/either': operation('getEither', [{ bearer: [] }, { basic: [] }]),
  '/both': operation('getBoth', [{ header: [], query: [] }]),
  '/cookies': operation('getCookies', [{ sid: [], csrf: [] }]),
  '/admin': operation('getAdmin', [{ admin: [] }]),
  '/maybe': operation('getMaybe', [{}, { basic: [] }]),
  '/plain': operation(
    'getPlain',
    [],
    [{ name: 'key', in: 'query', required: true, schema: { type: 'string' } }],
  ),
};
const document = {
  openapi: '3.0.3',
  info: { title: 'Doors', version: '1' },
  servers: [{ url: 'https://api.doors.example/v1' }],
  security: [{ bearer: [] }],
  components: {
    securitySchemes: {
      bearer: token,
      basic: { type: 'http', scheme: 'basic' },
      header: apiKey('header', 'X-Api-Key'),
      query: apiKey('query', 'api_key'),
      sid: apiKey('cookie', 'sid'),
      csrf: apiKey('cookie', 'csrf'),
      admin: token,
    },
  },
  paths,
};
const operations = Object.values(paths).map(({ get }) => get.operationId);
const flags = (...names: string[]) => [
  '--from-openapi',
  join(root, 'doors.json'),
  ...names.flatMap((name) => ['--operation', name]),
];

/** An API that repeats everything that it was sent. */
const { origin: url, requests } = await startApi(({ target, headers }) => ({
  body: { said: `${target} ${headers.authorization} ${headers['x-api-key']} ${headers.cookie}` },
}));

const secrets = {
  DOORS_TOKEN: 't0ken-of-users',
  DOORS_ADMIN_TOKEN: 't0ken-of-admins',
  DOORS_USER: 'somebody',
  DOORS_PASSWORD: 'pa55word-of-it',
  DOORS_API_KEY: 'k3y-in-a-header',
  DOORS_QUERY_API_KEY: 'k3y-in-a-query',
  DOORS_SID: 's3ssion-cookie',
  DOORS_CSRF: 'csrf-c00kie',
  DOORS_KEY: 'k3y-of-a-parameter',
};
const basic = `Basic ${Buffer.from('somebody:pa55word-of-it').toString('base64')}`;

/** What the API got from each tool, or the code with which the tool ended. */
async function called(directory: string, env: { readonly [name: string]: string }) {
  requests.length = 0;
  const body = `
    const ended = {};
    for (const tool of tools) ended[tool.name] = (await callTool(tool, {})).structuredContent;
    return ended;`;
  const { value, printed, stderr } = await evaluated(directory, body, { DOORS_URL: url, ...env });
  for (const secret of [...Object.values(env), basic.slice(6)]) expect(printed).not.toContain(secret);
  const sent = requests.map(({ target: path, headers: { authorization, cookie, ...others } }) => {
    const key = others['x-api-key'];
    return [
      path,
      { ...(authorization && { authorization }), ...(key && { key }), ...(cookie && { cookie }) },
    ];
  });
  const ended: { [name: string]: { error?: string } } = value;
  const failed = Object.entries(ended).flatMap(([name, { error }]) => (error ? [[name, error]] : []));
  return { sent: Object.fromEntries(sent), failed: Object.fromEntries(failed), stderr };
}

const withAll = {
  '/default': { authorization: 'Bearer t0ken-of-users' },
  '/public': {},
  '/either': { authorization: 'Bearer t0ken-of-users' },
  '/both?api_key=k3y-in-a-query': { key: 'k3y-in-a-header' },
  '/cookies': { cookie: 'sid=s3ssion-cookie; csrf=csrf-c00kie' },
  '/admin': { authorization: 'Bearer t0ken-of-admins' },
  '/maybe': { authorization: basic },
  '/plain?key=k3y-of-a-parameter': {},
};

writeFileSync(join(root, 'doors.json'), JSON.stringify(document));

describe('operations of one document with different credentials', () => {
  let directory: string;
  beforeAll(async () => {
    ({ directory } = await scaffold(['doors', ...flags(...operations)], { cwd: root }));
    await succeeded(compile(directory));
  });

  it('send only the keys that each needs, and no answer repeats one', async () => {
    expect(await called(directory, secrets)).toMatchObject({ sent: withAll, failed: {} });
  });

  it('send the first alternative whose variables are set, and fail without; the log names what is missing', async () => {
    const { DOORS_USER, DOORS_PASSWORD } = secrets;
    const { sent, failed, stderr } = await called(directory, { DOORS_USER, DOORS_PASSWORD });
    expect(sent).toEqual({
      '/public': {},
      '/either': { authorization: basic },
      '/maybe': { authorization: basic },
    });
    expect(failed).toEqual(
      Object.fromEntries(
        ['getDefault', 'getBoth', 'getCookies', 'getAdmin', 'getPlain'].map((name) => [
          name,
          'SOURCE_MISCONFIGURED',
        ]),
      ),
    );
    for (const text of [
      '/default needs DOORS_TOKEN, which must be set',
      '/both needs DOORS_API_KEY and DOORS_QUERY_API_KEY, which must be set',
      '/admin needs DOORS_ADMIN_TOKEN, which must be set',
      '/plain needs DOORS_KEY, which must be set',
    ])
      expect(stderr).toContain(text);
    const none = await called(directory, {});
    expect(none.sent).toEqual({ '/public': {}, '/maybe': {} });
    expect(none.stderr).toContain(
      '/either needs DOORS_TOKEN, or DOORS_USER and DOORS_PASSWORD, which must be set',
    );
  });

  it('pass tests and self-check without keys', async () => {
    await expectProven(directory);
  });
});

describe('an operation with other credentials that is added later', () => {
  let directory: string;
  const add = (name: string) =>
    market(['add-tool', '--yes', '--no-check', ...flags(name)], { cwd: directory });
  const api = () => join(directory, 'src/apis/doors.ts');
  beforeAll(async () => {
    ({ directory } = await scaffold(['later', ...flags('getDefault')], { cwd: root }));
  });

  it('sends its own keys; the file of the API gets those that it lacks', async () => {
    expect(readFileSync(api(), 'utf8')).toContain(
      "  headers: { authorization: env.DOORS_TOKEN.after('Bearer ') },\n});",
    );
    // The author has edited it: a limit, a comment, no comma.
    const edited = readFileSync(api(), 'utf8').replace(
      /,\n\}\);/,
      ',\n  perMinute: 60 // by contract, {really\n});',
    );
    writeFileSync(api(), edited);
    for (const name of operations) {
      await succeeded(add(name));
    }
    expect(readFileSync(api(), 'utf8')).toBe(
      `import { basic, httpSource } from 'market-mcp-runtime/source';
import { env } from '../env.ts';

/** Doors: address, keys and limits of all its requests. */
export const api = httpSource({
  baseUrl: env.DOORS_URL,
  headers: { authorization: env.DOORS_TOKEN.after('Bearer ') },
  perMinute: 60, // by contract, {really
  credentials: {
    bearer: { headers: { authorization: env.DOORS_TOKEN.after('Bearer ') } },
    basic: { headers: { authorization: basic(env.DOORS_USER, env.DOORS_PASSWORD) } },
    header: { headers: { 'X-Api-Key': env.DOORS_API_KEY } },
    query: { query: { api_key: env.DOORS_QUERY_API_KEY } },
    sid: { headers: { cookie: env.DOORS_SID.after('sid=') } },
    csrf: { headers: { cookie: env.DOORS_CSRF.after('csrf=') } },
    admin: { headers: { authorization: env.DOORS_ADMIN_TOKEN.after('Bearer ') } },
    key: { query: { key: env.DOORS_KEY } },
  },
});
`,
    );
    await succeeded(compile(directory));
    expect(await called(directory, secrets)).toMatchObject({ sent: withAll, failed: {} });
    expect((await add('getEither')).stdout).toContain('nothing to do for getEither');
  });

  it('is reported if the document has another address', async () => {
    const place = join(root, 'moved.json');
    const moved = { ...document, servers: [{ url: 'https://upload.doors.example/v2' }] };
    writeFileSync(place, JSON.stringify(moved));
    const options = ['get_moved', '--from-openapi', place, '--operation', 'getDefault'];
    const { status, stdout } = await market(['add-tool', '--yes', '--no-check', ...options], {
      cwd: directory,
    });
    expect(status).toBe(0);
    expect(stdout).toContain(
      'DOORS_URL is https://api.doors.example/v1 in this project, but the document says https://upload.doors.example/v2',
    );
    const readme = readFileSync(join(directory, 'DEPLOY.md'), 'utf8');
    expect(readme).toContain('Default: `https://api.doors.example/v1`');
  });

  it('is refused if the file sends another key under the same name', async () => {
    const query = apiKey('query', 'X-Api-Key');
    const securitySchemes = { ...document.components.securitySchemes, header: query };
    const place = join(root, 'other.json');
    writeFileSync(place, JSON.stringify({ ...document, components: { securitySchemes } }));
    const before = readFileSync(api(), 'utf8');
    const options = ['get_other', '--from-openapi', place, '--operation', 'getBoth'];
    const refused = await market(['add-tool', '--yes', '--no-check', ...options], { cwd: directory });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(
      "src/apis/doors.ts sends other keys as credentials.header than the new tools need: header: { query: { 'X-Api-Key': env.DOORS_API_KEY } }",
    );
    expect(readFileSync(api(), 'utf8')).toBe(before);
  });

  it('is refused by name if the file cannot be extended', async () => {
    const text = readFileSync(api(), 'utf8');
    const own = `const options = { baseUrl: env.DOORS_URL };\nexport const api = httpSource(options);\n`;
    writeFileSync(api(), text.slice(0, text.indexOf('/**')) + own);
    await market(['remove-tool', 'getBoth', '--yes', '--no-check'], { cwd: directory });
    const refused = await add('getBoth');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(
      'src/apis/doors.ts does not use env.DOORS_API_KEY, env.DOORS_QUERY_API_KEY',
    );
  });
});

it('alternatives that all operations share stand once in the file of the API, and the server does not start without any of them', async () => {
  const made = await scaffold(['shared', ...flags('getEither')], { cwd: root });
  const text = readFileSync(join(made.directory, 'src/apis/doors.ts'), 'utf8');
  expect(text).toContain("  auth: [['bearer'], ['basic']],\n");
  expect(readFileSync(join(made.directory, 'src/tools/get-either.ts'), 'utf8')).not.toContain('auth');
  await succeeded(compile(made.directory));
  const started = await run(process.execPath, ['dist/src/main.js'], {
    cwd: made.directory,
    env: { NODE_ENV: 'test', PORT: '0', DOORS_USER: 'somebody' },
  });
  expect(started.status).toBe(1);
  expect(started.stderr).toContain('- DOORS_TOKEN, or DOORS_PASSWORD: must be set.');
  const { DOORS_USER, DOORS_PASSWORD } = secrets;
  expect(await called(made.directory, { DOORS_USER, DOORS_PASSWORD })).toMatchObject({
    sent: { '/either': { authorization: basic } },
  });
});
