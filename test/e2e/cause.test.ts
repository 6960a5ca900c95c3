import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RegistrationStep } from '../../src/marketplace/core/marketplace-model.ts';
import { findRunningMarketplace, requestJson } from '../../src/marketplace/running-marketplace.ts';
import { type ApiRequest, type ApiResponse, startApi } from '../api-server.ts';
import { untilState } from '../dev/project.ts';
import { formFor } from '../marketplace/support.ts';
import { freePort } from '../ports.ts';
import { bins, market, run, scaffold, scratch } from './support.ts';
import { answering, inPath, openApi } from './upstreams.ts';

const key = 'k3y-of-the-author';
const toolFile = 'src/tools/get-parcel.ts';

/** How the API answers now. */
let mode = 'right';
const parcel = { id: 'P0001', weight_kg: 2.4, state: 'open' };
function respond({ headers }: ApiRequest): ApiResponse | Promise<ApiResponse> {
  if (mode === 'silent') return new Promise(() => {});
  if (mode === 'page') return { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Log in' };
  if (mode === 'locked' || headers['x-api-key'] !== key)
    return { status: 401, body: { message: 'no such key' } };
  if (mode === 'text') return { body: { ...parcel, weight_kg: 'about 2.4' } };
  return { body: mode === 'unlike' ? { ...parcel, id: 'UNLIKE' } : parcel };
}

let directory: string;
let dev: ChildProcess;
let host: string;
/** What the code and its line are in the tool. */
const lineOf = (code: string) => {
  const lines = readFileSync(join(directory, toolFile), 'utf8').split('\n');
  return `${toolFile}:${lines.findIndex((line) => line.includes(code)) + 1}`;
};
const edit = (file: string, before: string, after: string) => {
  const path = join(directory, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(before);
  writeFileSync(path, text.replace(before, after));
};
const call = (...args: string[]) => market(['call', 'getParcel', ...args], { cwd: directory });

/** What an API's OpenAPI document says: a key, and a parcel whose weight is a number or null. */
const documentOf = (url: string) => {
  const properties = {
    id: { type: 'string', description: 'Number' },
    weight_kg: { type: ['number', 'null'], description: 'Weight in kilograms' },
    state: { type: 'string', description: 'Where it is' },
  };
  const get = {
    operationId: 'getParcel',
    summary: 'Returns one parcel. Use it when a question names a parcel.',
    parameters: [inPath('id', 'Number', 'P0001')],
    responses: answering({ type: 'object', required: ['id', 'weight_kg'], properties }, parcel),
  };
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } };
  const secured = { security: [{ key: [] }], components: { securitySchemes } };
  return openApi(url, 'Parcels', { '/parcels/{id}': { get } }, secured);
};

beforeAll(async () => {
  const root = scratch();
  const { origin: url } = await startApi(respond);
  host = new URL(url).host;
  writeFileSync(join(root, 'parcels.json'), JSON.stringify(documentOf(url)));
  const flags = ['--from-openapi', 'parcels.json', '--operation', 'getParcel'];
  ({ directory } = await scaffold(['parcels', '--platform', 'context', ...flags], { cwd: root }));
  writeFileSync(join(directory, '.env'), `PARCELS_API_KEY=${key}\n`);
  // On a busy machine, the API may answer late.
  edit('src/apis/parcels.ts', 'baseUrl: env.PARCELS_URL,', 'baseUrl: env.PARCELS_URL,\n  timeoutMs: 6_000,');
  const unlike = "return found(answer.id === 'UNLIKE' ? ({ ...answer, state: 7 } as never) : answer);";
  edit(toolFile, 'return found(answer);', unlike);
  mkdirSync(join(directory, '.market-mcp'), { mode: 0o700 });
  dev = spawn(process.execPath, [bins.market, 'dev', '--page-port', '0'], {
    cwd: directory,
    env: { PATH: process.env.PATH, PORT: String(await freePort()), HOST: '127.0.0.1' },
    stdio: 'ignore',
  });
  await untilState(directory, 'running');
});
afterAll(async () => {
  const exit = once(dev, 'exit');
  dev.kill('SIGTERM');
  await exit;
});

interface Case {
  readonly mode: string;
  readonly code: string;
  readonly message: string;
  /** The request to the API, with the status of its answer. */
  readonly source: () => string | null;
  /** The code of the line to look at. */
  readonly line: string;
  readonly fix: string;
}

const asked = () => `GET /parcels/{id} of ${host}`;
const cases: { readonly [name: string]: Case } = {
  'a wrong type from the API': {
    mode: 'text',
    code: 'SOURCE_MALFORMED',
    message: 'answer.weight_kg: expected number or null, got string',
    source: () => `${asked()}: HTTP 200`,
    line: 'weight_kg:',
    fix: 'Correct the schema: it must admit what the API answers.',
  },
  'a wrong key': {
    mode: 'locked',
    code: 'SOURCE_REFUSED',
    message: 'the API answered with HTTP 401',
    source: () => `${asked()}: HTTP 401`,
    line: 'api.get(',
    fix: 'The API refused this server: set a valid key in PARCELS_API_KEY.',
  },
  'HTML instead of JSON': {
    mode: 'page',
    code: 'SOURCE_MALFORMED',
    message: 'no JSON, but 24 characters of "text/html": "<!doctype html><p>Log in"',
    source: () => `${asked()}: HTTP 200`,
    line: 'api.get(',
    fix: 'Correct the base URL in src/apis/ or the path: the API answers there with something else than JSON.',
  },
  'found with a wrong type': {
    mode: 'unlike',
    code: 'OUTPUT_MISMATCH',
    message: 'structuredContent.state: must be string, got 7',
    source: () => null,
    line: 'return found(',
    fix: 'Return what the outputSchema admits, or change the outputSchema.',
  },
  'a timeout': {
    mode: 'silent',
    code: 'SOURCE_TOO_SLOW',
    message: 'no answer within 6000 ms',
    source: asked,
    line: 'api.get(',
    fix: 'If the API needs more time, raise timeoutMs in src/apis/.',
  },
};

test.each(Object.entries(cases))(
  '%s: call, call --json, Try it, Traffic, Register and npm test name cause, place and fix',
  async (_, expected) => {
    mode = expected.mode;
    const { code, message, fix } = expected;
    const source = expected.source();
    const at = lineOf(expected.line);
    const words = [message, at, fix, ...(source === null ? [] : [source])];
    const missingIn = (text: string) => words.filter((word) => !text.includes(word));

    const rejected = await register();
    const [page, text, json, tests] = await Promise.all([
      tryIt(),
      call(),
      call('--json'),
      run('npm', ['test'], { cwd: directory, env: { SOURCES: '' } }),
    ]);
    expect({ status: text.status, missing: missingIn(text.stdout) }, text.stdout).toEqual({
      status: 1,
      missing: [],
    });

    const { cause, id: exchange } = JSON.parse(json.stdout);
    expect(missingIn(await pageOf(`/traffic/${exchange}`))).toEqual([]);
    expect({ status: json.status, cause }).toMatchObject({
      status: 1,
      cause: { code, message, source, at, fix },
    });
    // Every line of the call has its tool and the one id of its request; none has the key.
    const lines = cause.lines.map((line: string) => JSON.parse(line));
    expect(lines.map(({ event }: { event: string }) => event)).toEqual([
      source === null ? 'incident' : 'source',
      'call',
    ]);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    const [{ id, request = id }, ended] = lines;
    expect(request).toMatch(/^[a-z]{20}$/);
    expect(lines).toMatchObject([
      { time, tool: 'getParcel', code },
      { time, tool: 'getParcel', code, request },
    ]);
    expect(ended.outcome).toBe(source === null ? 'OUTPUT_MISMATCH' : 'fail');
    expect(json.stdout).not.toContain(key);

    const { steps, reasons } = rejected;
    const { findings } = steps.find(({ label }) => label === 'Submission test') ?? {};
    expect(findings?.[0]?.problems[0]).toMatchObject({ cause: { message }, at, fix });
    expect(reasons.join(' ')).toContain(message);

    expect(missingIn(page), page).toEqual([]);
    expect(page).toContain('Log of this call');

    expect(tests.status).not.toBe(0);
    const [failure = ''] =
      /getParcel \{"id":"P0001"\}: expected found, got fail\n(?: +\w+ +.*\n)+/.exec(tests.stdout) ?? [];
    expect(missingIn(failure), tests.stdout).toEqual([]);
    expect(failure).toContain(code);
    const caller: { structuredContent: { message: string } } = JSON.parse(json.stdout).result;
    const plain = (said: string) => said.replace(/incident \w+/, 'incident …');
    expect(plain(failure)).toContain(plain(caller.structuredContent.message));
    expect(tests.stdout).not.toMatch(/^ *[+-] 'f/m);
  },
);

test('a check names cause, place and fix of a failed request, in its rules and in the rehearsal', async () => {
  mode = 'text';
  const { message, line, fix } = cases['a wrong type from the API'] as Case;
  const only = ['--only', 'outcome.found,submission.succeeds'];
  const { status, stdout } = await market(['check', '--live', '--json', ...only], { cwd: directory });
  expect(status, stdout).toBe(1);
  const { rules, rehearsal } = JSON.parse(stdout);
  const at = lineOf(line);
  const problems = [{ code: 'SOURCE_MALFORMED', cause: { message, at }, at, fix }];
  expect(rules).toMatchObject([{ problems }, { problems }]);
  expect(rehearsal).toMatchObject([{ problems }]);
});

/** A submission to the marketplace, whose test calls the tool. */
async function register() {
  const access = await findRunningMarketplace(directory);
  if (!access) throw new Error('no marketplace runs');
  const { endpoint } = await requestJson<{ endpoint: string }>(access, '/index.json');
  return requestJson<{ steps: RegistrationStep[]; reasons: string[] }>(
    access,
    '/register.json',
    formFor(endpoint),
  );
}

/** The page after its form was sent. */
function tryIt(): Promise<string> {
  const body = new URLSearchParams({ tool: 'getParcel', 'arg.id': 'P0001', deliberate: '' });
  return pageOf('/try', { method: 'POST', body });
}

async function pageOf(path: string, request: RequestInit = {}): Promise<string> {
  const access = await findRunningMarketplace(directory);
  if (!access) throw new Error('no marketplace runs');
  const headers = { authorization: `Bearer ${access.secret}`, accept: 'text/html', origin: access.url };
  const response = await fetch(`${access.url}${path}`, { ...request, headers });
  const html = await response.text();
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
}

test('an error of the code is named with its line, and what the code printed; a right answer has no cause', async () => {
  mode = 'right';
  const access = await findRunningMarketplace(directory);
  if (!access) throw new Error('no marketplace runs');
  const found = await requestJson(access, '/try.json', { tool: 'getParcel', arguments: { id: 'P0001' } });
  expect(found).toMatchObject({ verdict: { outcome: 'found' }, cause: null });
  const refused = await call('{"id":7}', '--json');
  const { cause } = JSON.parse(refused.stdout);
  expect(cause).toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: 'arguments.id: must be string, got 7',
    fix: 'Send arguments that match the inputSchema.',
  });
  expect(cause).not.toHaveProperty('at');
  const before = readFileSync(join(directory, toolFile), 'utf8');
  const throwing =
    "console.log('asked for', input.id);\n    if (input.id !== '') throw new TypeError('no table');\n    const answer";
  const since = Date.now();
  edit(toolFile, 'const answer', throwing);
  await untilState(directory, 'running', since);
  const text = await call();
  const at = lineOf('throw new TypeError');
  writeFileSync(join(directory, toolFile), before);
  expect(text.stdout).toMatch(/error +TypeError: no table/);
  expect(text.stdout).toContain(`Correct ${at}.`);
  expect(text.stdout).toMatch(/log +asked for P0001/);
});
