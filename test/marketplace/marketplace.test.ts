import { readFileSync } from 'node:fs';
import { createLocalJWKSet, importX509, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { running } from '../../src/dev/state.ts';
import {
  type DeliberateError,
  deliberateErrors,
  type RegistrationStep,
} from '../../src/marketplace/core/marketplace-model.ts';
import { acceptance } from '../../src/marketplace/core/registration.ts';
import { type Breaks, resultOf } from '../broken/good-server.ts';
import { instead, methodOf } from '../broken/variant.ts';
import { directory, formFor, issuer, openMarketplace, startServer } from './support.ts';

/** A result as that of a failure. */
function failureOf({ structuredContent }: JsonObject, error = 'SOURCE_REFUSED'): JsonObject {
  const data = { ...(structuredContent as JsonObject), error, message: 'No.' };
  return { ...resultOf(data), isError: true };
}

/** The good server's list with get_price changed. */
const listing = (change: (tool: JsonObject) => JsonObject) => ({
  list: (good: () => readonly JsonObject[]) => () =>
    good().map((tool) => (tool.name === 'get_price' ? change(tool) : tool)),
});

test('accepts a good server, step by step, and stores it with its tools', async () => {
  const marketplace = await openMarketplace();
  const endpoint = await startServer();
  const steps: RegistrationStep[] = [];
  const submission = await marketplace.register(formFor(endpoint), (step) => steps.push(step));
  expect(submission).toMatchObject({ accepted: true });
  expect(steps.filter(({ status }) => status !== 'running')).toMatchObject([
    { label: 'The form', status: 'pass' },
    { label: 'Discovery', status: 'pass' },
    { label: 'Tool definitions', status: 'pass' },
    { label: 'Unpaid calls', status: 'pass' },
    {
      label: 'Calls',
      status: 'pass',
      details: [expect.stringContaining('for real with {"symbol":"BTC"}'), expect.anything()],
    },
    { label: 'Submission test', status: 'pass' },
  ]);
  const stored = JSON.parse(readFileSync(marketplace.store.file, 'utf8'));
  expect(stored.listings).toMatchObject([
    { endpoint, state: 'listed', tools: [{ name: 'get_price' }, { name: 'list_coins' }] },
  ]);
  const again = await marketplace.register(formFor(endpoint));
  expect(again).toMatchObject({ accepted: false, reasons: [expect.stringContaining('listed already')] });
});

test('calls no tool that may change something, even if it is open to unpaid calls, and says what the marketplace will call', async () => {
  const marketplace = await openMarketplace();
  const called: unknown[] = [];
  const names = ['cancel_price', 'price', 'get_or_create_price'];
  const endpoint = await startServer({
    authorized: () => async () => true,
    list: (good) => () => {
      const [first = {}, ...others] = good();
      const { annotations: _hints, ...bare } = first;
      return [
        ...names.map((name) => ({ ...bare, name })),
        { ...first, name: 'sell_price' },
        { ...first, name: 'write', annotations: { readOnlyHint: false } },
        { ...bare, name: 'find_price' },
        first,
        ...others,
      ];
    },
    call: (good) => async (params) => {
      called.push(params.name);
      return good({ ...params, name: params.name === 'list_coins' ? 'list_coins' : 'get_price' });
    },
  });
  const steps: RegistrationStep[] = [];
  const submission = await marketplace.register(formFor(endpoint, { price: '0' }), (step) =>
    steps.push(step),
  );
  expect(submission).toMatchObject({ accepted: true, withheld: [...names, 'sell_price', 'write'] });
  expect(submission.accepted && acceptance(submission)).toBe('Nothing failed, 3 of 8 tools called');
  expect(new Set(called)).toEqual(new Set(['find_price', 'get_price', 'list_coins']));
  const calls = steps.find(({ label }) => label === 'Calls');
  expect(calls).toMatchObject({ status: 'advice' });
  for (const name of [...names, 'sell_price', 'write'])
    expect(calls?.details).toContainEqual(
      expect.stringMatching(
        new RegExp(`^${name} is not called here: .*will really call it with \\{"symbol":"BTC"\\}`),
      ),
    );
});

test.each<[string, Breaks, string]>([
  [
    'an outputSchema without an object at the root',
    listing((tool) => ({ ...tool, outputSchema: { type: 'array', items: {} } })),
    'get_price: outputSchema.type must be "object" at the root, got "array"',
  ],
  ['unpaid calls at a price above zero', { isPaid: () => () => false }, 'without a token'],
  [
    'a tool that fails the submission test',
    {
      result: (good) => (outcome, tool) => ({
        ...good(outcome, tool),
        content: [{ type: 'text', text: 'about 64000' }],
      }),
    },
    'get_price called with {"symbol":"BTC"}',
  ],
])('rejects %s, with the reason, and stores nothing', async (_, breaks, reason) => {
  const marketplace = await openMarketplace();
  const submission = await marketplace.register(formFor(await startServer(breaks)));
  expect(submission.accepted === false && submission.reasons[0]).toContain(reason);
  expect((await marketplace.store.read()).listings).toEqual([]);
});

test('equal problems of a tool are one reason, which counts their places', async () => {
  const marketplace = await openMarketplace();
  const bare = { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } };
  const endpoint = await startServer(
    listing((tool) => ({ ...tool, inputSchema: { type: 'object', properties: bare, required: ['a'] } })),
  );
  const steps: RegistrationStep[] = [];
  await marketplace.register(formFor(endpoint), (step) => steps.push(step));
  const { details = [], findings } = steps.find(({ label }) => label === 'Tool definitions') ?? {};
  const own = details.filter((text) => text.includes('.description'));
  expect(own).toEqual([
    expect.stringMatching(
      /^get_price: inputSchema\.properties\.a\.description and 2 more: expected .*, got nothing\. /,
    ),
  ]);
  const described = findings?.filter(({ problems }) =>
    problems.some(({ path }) => path?.endsWith('.b.description')),
  );
  expect(described).toMatchObject([{ rule: 'input.description', problems: { length: 3 } }]);
});

test('rejects a tool whose API failed with the cause, the place and the fix that the server logged', async () => {
  let endpoint = '';
  const marketplace = await openMarketplace({ state: async () => running(endpoint) });
  endpoint = await startServer({
    result:
      (good) =>
      (outcome, { definition }) => {
        const answer = good(outcome, { definition } as Parameters<typeof good>[1]);
        if (definition.name !== 'get_price') return answer;
        const id = marketplace.traffic.newest(1, ({ rpc }) => rpc?.tool === 'get_price')[0]?.id;
        const event = {
          event: 'source',
          code: 'SOURCE_REFUSED',
          detail: 'no key',
          at: 'src/a.ts:7',
        };
        for (const line of [{ ...event, hint: 'Set a key.' }, { event: 'call' }]) {
          marketplace.takeLog({ stream: 'stdout', text: JSON.stringify(line) }, id);
        }
        return { ...answer, ...failureOf(answer) };
      },
  });
  const steps: RegistrationStep[] = [];
  const submission = await marketplace.register(formFor(endpoint), (step) => steps.push(step));
  expect(submission).toMatchObject({
    accepted: false,
    reasons: [expect.stringMatching(/^get_price called with {"symbol":"BTC"}: result.isError: /)],
  });
  expect(submission.accepted === false && submission.reasons[0]).toContain(
    '. no key, at src/a.ts:7. Set a key.',
  );
  expect(steps.at(-1)?.findings?.[0]?.problems).toMatchObject([
    { cause: { message: 'no key' }, at: 'src/a.ts:7', fix: 'Set a key.' },
  ]);
});

test('a failure that only its arguments explain keeps the fix of the test', async () => {
  let endpoint = '';
  const marketplace = await openMarketplace({ state: async () => running(endpoint) });
  endpoint = await startServer({
    result: (good) => (outcome, tool) => {
      const id = marketplace.traffic.newest(1, ({ rpc }) => rpc?.tool !== undefined)[0]?.id;
      marketplace.takeLog({ stream: 'stdout', text: '{"event":"call"}' }, id);
      const answer = good(outcome, tool);
      return { ...answer, ...failureOf(answer, 'INVALID_ARGUMENTS') };
    },
  });
  const submission = await marketplace.register(formFor(endpoint));
  expect(submission.accepted === false && submission.reasons[0]).toContain('Give each parameter a default');
});

test('rejects a server that does not answer, with the cause', async () => {
  const marketplace = await openMarketplace();
  const submission = await marketplace.register(formFor('http://127.0.0.1:9/mcp'));
  expect(submission).toMatchObject({ accepted: false, reasons: [expect.stringContaining('ECONNREFUSED')] });
});

test('hides a new tool from buyers until Refresh Skills, which reports the changes', async () => {
  const marketplace = await openMarketplace();
  let changed = false;
  const endpoint = await startServer({
    list: (good) => () => {
      const [first, second] = good();
      if (!changed || !first || !second) return good();
      const { price: _price, ...properties } = (first.outputSchema as JsonObject).properties as JsonObject;
      return [
        { ...first, outputSchema: { ...(first.outputSchema as JsonObject), properties } },
        second,
        { ...first, name: 'get_rate' },
      ];
    },
  });
  await marketplace.register(formFor(endpoint));
  changed = true;
  const names = async () => {
    const { tools } = await marketplace.listing(endpoint);
    return tools.map((tool) => (tool as JsonObject).name);
  };
  expect(await names()).toEqual(['get_price', 'list_coins']);
  const { listings } = await marketplace.store.read();
  const status = await marketplace.status(listings[0] as never);
  expect(status).toMatchObject({ healthy: true, guilty: 0 });
  const expected = [
    { tool: 'get_price', path: 'outputSchema.properties.price', rule: 'output.member.lost' },
    { tool: 'get_rate', what: 'the tool is new', breaks: false },
  ];
  expect(status.changes).toMatchObject(expected);
  expect((await marketplace.refresh('Coin prices')).changes).toMatchObject(expected);
  expect(await names()).toEqual(['get_price', 'list_coins', 'get_rate']);
});

test('keeps its state over a restart', async () => {
  const place = directory();
  const first = await openMarketplace({ directory: place });
  const endpoint = await startServer();
  await first.register(formFor(endpoint));
  const second = await openMarketplace({ directory: place });
  expect((await second.listing(endpoint)).name).toBe('Coin prices');
});

test('publishes a key set that verifies tokens, by key and by certificate', async () => {
  const marketplace = await openMarketplace();
  const token = await (await marketplace.caller.signer('https://tools.example/mcp')).token();
  const keys = marketplace.keySet as unknown as JSONWebKeySet;
  const expected = { issuer, audience: 'https://tools.example/mcp', algorithms: ['RS256'] };
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), expected);
  expect(Number(payload.exp) - Number(payload.iat)).toBe(120);
  expect(payload.toolId).toBe('local-test');
  const certificate = `-----BEGIN CERTIFICATE-----\n${keys.keys[0]?.x5c?.[0]}\n-----END CERTIFICATE-----`;
  await jwtVerify(token, await importX509(certificate, 'RS256'), expected);
});

test.each(Object.keys(deliberateErrors) as DeliberateError[])(
  'the good server answers the deliberate error %s as it must, which the traffic names',
  async (deliberate) => {
    const marketplace = await openMarketplace();
    const order = { tool: 'get_price', arguments: { symbol: 'BTC' }, deliberate };
    const report = await marketplace.call({ endpoint: await startServer(), ...order });
    expect(report.expected).toMatchObject({ met: true });
    const verdict = { slow: 'found', 'dropped-session': 'http-error' }[deliberate as string] ?? 'refused';
    expect(report.verdict.outcome).toBe(verdict);
    const found = { kind: 'found', code: null };
    const refused = { kind: 'refused', code: deliberate === 'dropped-session' ? 'HTTP 400' : 'HTTP 401' };
    const outcome = deliberate === 'slow' ? found : refused;
    const rpc = { method: deliberate === 'batch' ? 'batch of 1' : 'tools/call' };
    expect(marketplace.traffic.get(report.id)).toMatchObject({ rpc, outcome });
  },
);

test('reports that a server accepts a call with a deliberate error', async () => {
  const marketplace = await openMarketplace();
  const endpoint = await startServer({ authorized: () => async () => true });
  const report = await marketplace.call({
    endpoint,
    tool: 'get_price',
    arguments: { symbol: 'BTC' },
    deliberate: 'expired',
  });
  expect(report.expected).toMatchObject({ met: false, actual: expect.stringContaining('HTTP 200') });
});

test('judges a dispute by the stored schema, once per call, and delists after five guilty verdicts', async () => {
  const marketplace = await openMarketplace();
  let wrong = false;
  const endpoint = await startServer({
    result: (good) => (outcome, tool) =>
      wrong ? resultOf({ symbol: 'BTC', price: '64000' }) : good(outcome, tool),
  });
  await marketplace.register(formFor(endpoint));
  const call = async () =>
    (await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } })).id;
  expect(await marketplace.dispute(await call())).toMatchObject({ verdict: 'innocent', tool: 'get_price' });
  wrong = true;
  const id = await call();
  expect(await marketplace.dispute(id)).toMatchObject({
    verdict: 'guilty',
    problems: [{ path: 'structuredContent.price', expected: 'type number or null' }],
  });
  await expect(marketplace.dispute(id)).rejects.toMatchObject({ code: 'ALREADY_DISPUTED' });
  await expect(marketplace.dispute(99_999)).rejects.toMatchObject({ code: 'NO_SUCH_CALL' });
  for (let more = 0; more < 4; more++) await marketplace.dispute(await call());
  expect(await marketplace.listing(endpoint)).toMatchObject({ state: 'delisted' });
});

test('judges a dispute by the real answer, and stores it without its secrets', async () => {
  const marketplace = await openMarketplace();
  const pin = { type: 'integer', description: 'Number of the card' };
  const endpoint = await startServer({
    list: (good) => () =>
      good().map((tool) => {
        const schema = tool.outputSchema as { properties: JsonObject };
        return { ...tool, outputSchema: { ...schema, properties: { ...schema.properties, pin } } };
      }),
    result: (good) => (outcome, tool) =>
      tool.definition.name === 'get_price'
        ? resultOf({ symbol: 'BTC', price: 1, pin: 4711 })
        : good(outcome, tool),
  });
  await marketplace.register(formFor(endpoint));
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  expect(marketplace.traffic.get(id)?.response?.body).not.toContain('4711');
  expect(await marketplace.dispute(id)).toMatchObject({
    verdict: 'innocent',
    output: { symbol: 'BTC', price: 1, pin: '[redacted]' },
  });
});

test('passes a dispute about a tool that was not stored to a person', async () => {
  const marketplace = await openMarketplace();
  const endpoint = await startServer();
  await marketplace.register(formFor(endpoint));
  const { id } = await marketplace.call({ endpoint, tool: 'get_rate', arguments: {} });
  expect(await marketplace.dispute(id)).toMatchObject({ verdict: 'manual_review' });
  const other = await marketplace.call({ endpoint, tool: 'list_coins', arguments: {} });
  expect(await marketplace.dispute(other.id, null)).toMatchObject({ tool: 'get_price', verdict: 'guilty' });
});

test('records every request in order, without tokens, and replays one with a new token', async () => {
  const marketplace = await openMarketplace();
  const endpoint = await startServer();
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  const all = marketplace.traffic.all();
  expect(all.map(({ rpc }) => rpc?.method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
  ]);
  expect(all.every(({ response }) => response !== null)).toBe(true);
  expect(JSON.stringify(all)).not.toContain('eyJ');
  expect(all.at(-1)?.request.headers.authorization).toBe('Bearer [redacted]');
  const body = all.at(-1)?.request.body.replace('BTC', 'ETH');
  const replayed = marketplace.traffic.get(await marketplace.replay(id, body));
  expect(replayed).toMatchObject({ purpose: 'replay', response: { status: 200 } });
  expect(replayed?.response?.body).toContain('3100');
});

test('reports HTTP 500 with its body', async () => {
  const marketplace = await openMarketplace();
  const endpoint = await startServer(
    instead(async (request) =>
      methodOf(request) === 'tools/call' ? { status: 500, body: 'broken' } : undefined,
    ),
  );
  const report = await marketplace.call({ endpoint, tool: 'get_price', arguments: {} });
  expect(report).toMatchObject({ status: 500, verdict: { outcome: 'http-error' }, error: 'broken' });
});

test('tells a server the id of an exchange, and hides that header in the traffic', async () => {
  const marketplace = await openMarketplace();
  const seen: unknown[] = [];
  const endpoint = await startServer(
    instead(async (request) => {
      if (methodOf(request) === 'tools/call') seen.push(request.headers['x-market-mcp-exchange']);
      return undefined;
    }),
  );
  const { id } = await marketplace.call({ endpoint, tool: 'get_price', arguments: { symbol: 'BTC' } });
  expect(seen).toEqual([String(id)]);
  expect(JSON.stringify(marketplace.traffic.all())).not.toContain('x-market-mcp');
});
