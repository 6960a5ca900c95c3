import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { createSteps, serve } from '../broken/good-server.ts';
import { keys } from '../keys.ts';
import { freePort } from '../ports.ts';
import { bins, compile, proveTools, run, scaffold, scratch, succeeded, tree } from './support.ts';
import { Terminal } from './terminal.ts';
import { answering, inPath, openApi } from './upstreams.ts';

const root = scratch();
const publicKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString();

/** An API of parcels that counts its requests. */
let isDown = false;
const { origin: url, requests } = await startApi(({ method, target }) => {
  const [, id] = /^\/parcels\/([^/]+)(\/cancel)?$/.exec(target) ?? [];
  if (id !== 'P0004' && id !== 'P0007') return { status: isDown ? 503 : 404, body: {} };
  return { status: isDown ? 503 : 200, body: { id, state: method === 'GET' ? 'sent' : 'cancelled' } };
});
const writes = () =>
  requests.filter(({ method }) => method !== 'GET').map(({ method, target }) => `${method} ${target}`);

const parcel = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Number of the parcel' },
    state: { type: 'string', description: 'State of the parcel' },
  },
  required: ['id', 'state'],
};
const operation = (operationId: string, summary: string, state: string) => ({
  operationId,
  summary,
  description: `${summary}. Use it when a question asks for the state of a parcel, or to cancel it.`,
  parameters: [inPath('id', 'Number of the parcel', 'P0004')],
  responses: { ...answering(parcel, { id: 'P0004', state }), 404: { description: 'No such parcel' } },
});
const document = openApi(url, 'Parcels', {
  '/parcels/{id}': { get: operation('getParcel', 'Returns the state of a parcel', 'sent') },
  '/parcels/{id}/cancel': { post: operation('cancelParcel', 'Cancels a parcel', 'cancelled') },
});

let directory: string;
const recordings = () => tree(join(directory, 'test/recordings'));
const inProject = async (...[command, ...args]: [string, ...string[]]) => {
  const env = { PARCELS_URL: url, PORT: String(await freePort()) };
  return run(command, args, { cwd: directory, env });
};
const market = (...args: string[]) => inProject(process.execPath, bins.market, ...args);

/** Registers at the running marketplace, as its page does. */
const registration = `
const { origin, searchParams } = new URL(process.env.MARKET_MCP_URL);
const headers = { authorization: \`Bearer \${searchParams.get('secret')}\`, 'content-type': 'application/json' };
const post = (path, body) => fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
const { form } = await (await fetch(origin + '/register.json', { headers })).json();
const { accepted } = await (await post('/register.json', { ...form, category: 'Other' })).json();
console.log(JSON.stringify({ accepted }));
`;

beforeAll(async () => {
  writeFileSync(join(root, 'parcels.json'), JSON.stringify(document));
  writeFileSync(join(root, 'register.mjs'), registration);
  const flags = ['--from-openapi', join(root, 'parcels.json')];
  const operations = ['--operation', 'getParcel', '--operation', 'cancelParcel'];
  ({ directory } = await scaffold(['parcels', '--platform', 'context', ...flags, ...operations], {
    cwd: root,
  }));
  const file = join(directory, 'src/tools/cancel-parcel.ts');
  const [one, two] = ['P0004', 'P0007'].map((id) => `{ arguments: { id: '${id}' }, expect: 'found' }`);
  const source = readFileSync(file, 'utf8');
  expect(source).toContain(`[${one}]`);
  // A key that each request carries anew must not make a request new.
  writeFileSync(
    file,
    source
      .replace(`[${one}]`, `[${one}, ${two}]`)
      .replace('params: ', "headers: { 'idempotency-key': crypto.randomUUID() }, params: "),
  );
  await succeeded(compile(directory));
});
beforeEach(() => {
  requests.length = 0;
});

/** What an author is told, and what not. */
const register = {
  told: [
    '    cancelParcel: not called',
    'nothing failed, 1 of 2 tools called',
    'getParcel is called for real with {"id":"P0004"}',
    /cancelParcel is not called here: .*will really call it with \{"id":"P0004"\}/,
  ],
};
const record = { told: ['record --call cancelParcel', 'By hand, a recording is'] };

it.each<[string, readonly string[], boolean, { told: readonly (string | RegExp)[] }?]>([
  ['check', ['check', '--no-build'], false],
  ['check --live', ['check', '--no-build', '--live'], true],
  ['record', ['record'], true, record],
  ['register', ['register'], true, register],
  [
    'a registration on the page',
    ['marketplace', '--reset', '--page-port', '0', '--exec', `node ${join(root, 'register.mjs')}`],
    true,
  ],
])('the operation that writes is not requested by %s', async (name, args, asks, { told } = { told: [] }) => {
  const ran = await market(...args);
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, expect.anything(), expect.anything()]);
  expect(writes()).toEqual([]);
  expect(requests.length > 0, name).toBe(asks);
  for (const words of told) expect(ran.stdout + ran.stderr).toMatch(words);
  if (name === 'register') expect(ran.stdout).not.toContain('accepted');
  if (name === 'a registration on the page')
    expect(JSON.parse(ran.stdout.split('\n').at(-1) ?? '')).toEqual({ accepted: true });
});

const eachExample = ['POST /parcels/P0004/cancel', 'POST /parcels/P0007/cancel'];

describe('with --call, each example is requested once by', () => {
  it('check --live', async () => {
    const before = recordings();
    const ran = await succeeded(market('check', '--no-build', '--live', '--call', 'cancelParcel'));
    expect(writes()).toEqual(eachExample);
    expect(ran.stderr).toContain('Called for real, once: ✔ cancelParcel {"id":"P0007"}: found');
    expect(recordings()).toEqual(before);
  });

  it('record', async () => {
    const ran = await market('record', '--json', '--call', 'cancelParcel');
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, withheld: [] });
    expect(writes()).toEqual(eachExample);
    expect(recordings().get('post-parcels-id-cancel.json')).toContain('"from": "recorded"');
  });

  it('either, if the API fails', async () => {
    isDown = true;
    const checked = await market('check', '--no-build', '--live', '--call', 'cancelParcel');
    expect([checked.status, checked.stderr]).toEqual([
      1,
      expect.stringContaining('expected found, got fail'),
    ]);
    expect(writes()).toEqual(eachExample);
    requests.length = 0;
    const recorded = await market('record', '--call', 'cancelParcel');
    expect([recorded.status, recorded.stdout]).toEqual([
      1,
      expect.stringContaining('expected found, got fail'),
    ]);
    for (const said of [checked.stderr, recorded.stdout])
      expect(said).toMatch(/ fix +The API itself failed: call again later\./);
    expect(writes()).toEqual(eachExample);
    isDown = false;
  });
});

it('at a terminal, record asks, and calls what the person selects', async () => {
  const terminal = new Terminal(process.execPath, [bins.market, 'record'], {
    cwd: directory,
    env: { PARCELS_URL: url },
  });
  await terminal.asked('Call any of these tools, too?');
  expect(terminal.text).toContain('once with {"id":"P0004"}, {"id":"P0007"}');
  expect(requests).toEqual([]);
  terminal.press(' ', keys.enter);
  expect(await terminal.ended).toBe(0);
  expect(writes()).toEqual(eachExample);
});

it('the page Check calls no tool of a server of somebody else that may change something', async () => {
  const called = new Set<unknown>();
  const server = await serve(
    createSteps(
      { publicKey, issuer: '', audience: '' },
      {
        authorized: () => async () => true,
        list: (good) => () => good().map(({ annotations: _, ...unmarked }) => unmarked),
        call: (good) => (params) => {
          called.add(params.name);
          return good(params);
        },
      },
    ),
  );
  try {
    const script = `const { origin, searchParams } = new URL(process.env.MARKET_MCP_URL);
      const authorization = 'Bearer ' + searchParams.get('secret');
      fetch(origin + '/check.json', { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' })
      .then((answer) => answer.json()).then(({ rules }) => console.log(rules.length));`;
    writeFileSync(join(root, 'check.mjs'), script);
    const args = [
      'marketplace',
      '--endpoint',
      server.url,
      '--page-port',
      '0',
      '--exec',
      `node ${join(root, 'check.mjs')}`,
    ];
    const ran = await run(process.execPath, [bins.market, ...args], { cwd: root });
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/^\d{3}$/m)]);
    expect([...called].filter((name) => name === 'get_price' || name === 'list_coins')).toEqual([]);
  } finally {
    await server.stop();
  }
});

describe('what an author is told', () => {
  it('a call without a recording is named, and fails neither the check nor the unit tests', async () => {
    const file = join(directory, 'test/recordings/post-parcels-id-cancel.json');
    const kept = readFileSync(file, 'utf8');
    writeFileSync(file, '[]');
    try {
      const { report, unitTests } = await proveTools(directory);
      expect(report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id)).toEqual([
        'fit.repetition',
      ]);
      expect(unitTests.status, unitTests.stdout).toBe(0);
      expect(unitTests.stdout).toContain('By hand');
      const checked = await market('check', '--no-build', '--only', 'outcome,submission,call');
      expect(checked.stderr).toContain('  cancelParcel {"id":"P0007"}');
      expect(checked.stderr).toContain('will really call it with {"id":"P0004"}');
    } finally {
      writeFileSync(file, kept);
    }
  });

  it.each([
    [['check', '--call', 'cancelParcel'], '--live'],
    [['check', '--live', '--watch', '--call', 'cancelParcel'], '--watch'],
    [['check', '--no-build', '--live', '--call', 'cancelParcl'], 'cancelParcel?'],
    [['record', '--call', '*'], 'getParcel, cancelParcel'],
  ])('%j is refused', async (args, hint) => {
    const ran = await market(...args);
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining(hint)]);
    expect(requests).toEqual([]);
  });
});
