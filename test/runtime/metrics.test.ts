import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createListener } from 'node:net';
import path from 'node:path';
import parse from 'parse-prometheus-text-format';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApi } from '../api-server.ts';
import { listen } from '../listen.ts';
import { freePort } from '../ports.ts';
import { buildProject, compile, run } from './built.ts';
import { paid } from './modern.ts';
import { serveBuilt } from './serve-built.ts';
import { json, sourceServer } from './source-server.ts';
import { live } from './support.ts';

const runtime = path.join(import.meta.dirname, '../../packages/runtime');
const within = { timeout: 120_000 };
const operations = 'mcp_server_operation_duration_seconds';
const requests = 'http_client_request_duration_seconds';

let project: ReturnType<typeof buildProject>;
beforeAll(() => {
  project = buildProject(path.join(import.meta.dirname, 'metrics-tools.ts'));
});
afterAll(() => project.remove());

function settings(env: Record<string, string>): Record<string, string> {
  return { ...live, API_URL: 'http://127.0.0.1:9/', ...env };
}

/** Starts the built server and waits until it listens. */
async function serve(env: Record<string, string> = { METRICS_PORT: '0' }) {
  const server = await serveBuilt(project.directory, settings(env));
  const { client, listening } = server;
  const { port, metrics } = listening;
  const session = await client.session();
  const headers = { ...session, ...(await paid()) };
  const call = (name: string, args: object = {}) =>
    client.request('tools/call', { name, arguments: args }, headers);
  return { ...server, port, metrics, session, call, read: () => read(metrics) };
}

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value?: string;
}

/**
 * All samples at an address, by their names, as a third-party parser reads them. It reads no labels of a histogram, so it gets no
 * types.
 */
async function read(url: string): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  const types = [...text.matchAll(/^# HELP (\S+) \S.*\n# TYPE \1 (?:counter|gauge|histogram)$/gm)];
  expect(types.length).toBe([...text.matchAll(/^#/gm)].length / 2);
  const samples = new Map<string, Sample[]>();
  for (const { name, metrics } of parse(text.replaceAll(/^#.*\n/gm, ''))) {
    samples.set(name, [...(samples.get(name) ?? []), ...metrics]);
  }
  const families = [...samples.keys()].map(familyOf);
  const silent = types.map(([, name = '']) => name).filter((name) => !families.includes(name));
  expect([...new Set(families), ...silent].toSorted()).toEqual(types.map(([, name = '']) => name).toSorted());
  return samples;
}

function familyOf(name: string): string {
  return name.replace(/_(?:bucket|count|sum)$/, '');
}

/** The values of a metric, each with the values of its labels. */
function counted(samples: readonly Sample[] = []): readonly (readonly [string, number])[] {
  return samples.map(({ labels, value }) => [Object.values(labels ?? {}).join(' '), Number(value)]);
}

/** An API whose answers have the status in the path, and that ends the connection at `/gone`. */
function api() {
  return sourceServer(({ url = '' }, response) => {
    if (url === '/v1/gone') response.destroy();
    else json(response, url === '/v1/203' ? { note: 5 } : {}, Number(url.slice(4)));
  });
}

describe('/metrics', () => {
  test('counts requests by method, tool, outcome and error, refusals, sessions and requests to APIs', async () => {
    const { url } = await api();
    const { client, session, call, read } = await serve({ METRICS_PORT: '0', API_URL: url });
    for (const code of ['', '', 'empty', 'throw', 'GONE', 'a "quoted"\\ \n code'])
      await call('end_as', { code });
    await call('end_as', { code: 5 });
    for (const at of ['/200', '/200', '/404', '/503', '/gone']) await call('get_gas', { at });
    for (const method of ['tools/list', 'ping']) await client.request(method, {}, session);
    await client.request('tools/call', { name: 'end_as' }, session);
    await client.request('tools/list');
    await client.request('tools/list', {}, { origin: 'https://elsewhere.example' });
    await client.send(undefined, session, 'DELETE');

    const metrics = await read();
    expect(counted(metrics.get(`${operations}_count`)).toSorted()).toEqual(
      [
        ['initialize  ok  ', 1],
        ['ping  ok  ', 1],
        ['tools/call end_as empty  ', 1],
        ['tools/call end_as error tool_error INTERNAL_ERROR', 1],
        ['tools/call end_as error tool_error INVALID_ARGUMENTS', 1],
        ['tools/call end_as fail tool_error GONE', 1],
        ['tools/call end_as fail tool_error a "quoted"\\ \n code', 1],
        ['tools/call end_as found  ', 2],
        ['tools/call get_gas fail tool_error SOURCE_NOT_FOUND', 1],
        ['tools/call get_gas fail tool_error SOURCE_UNAVAILABLE', 2],
        ['tools/call get_gas found  ', 2],
        ['tools/list  ok  ', 1],
      ].toSorted(),
    );
    expect(counted(metrics.get('mcp_server_refusals_total'))).toEqual([
      ['no token', 1],
      ['HTTP 400', 1],
      ['HTTP 403', 1],
    ]);
    expect(counted(metrics.get('mcp_server_sessions_total'))).toEqual([
      ['opened', 1],
      ['closed', 1],
    ]);
    const { host } = new URL(url);
    expect(counted(metrics.get(`${requests}_count`))).toEqual([
      [`${host} 2xx`, 2],
      [`${host} 4xx`, 1],
      [`${host} 5xx`, 1],
      [`${host} none`, 1],
    ]);
    expect(counted(metrics.get('target_info'))).toEqual([['built 0.0.7', 1]]);
    const [started = 0, memory = 0] = ['process_start_time_seconds', 'process_resident_memory_bytes'].map(
      (name) => Number(metrics.get(name)?.[0]?.value),
    );
    expect(Math.abs(Date.now() / 1000 - started)).toBeLessThan(600);
    expect(memory).toBeGreaterThan(10_000_000);
  });

  test('has buckets that add up', async () => {
    const { call, read } = await serve();
    for (let times = 0; times < 20; times++) await call('end_as');
    const metrics = await read();
    const found = (name: string) =>
      (metrics.get(`${operations}_${name}`) ?? []).filter(({ labels }) => labels?.outcome === 'found');
    const buckets = found('bucket').map(({ labels, value }) => [labels?.le, Number(value)] as const);
    expect(buckets.map(([bound]) => bound)).toEqual([
      ...['0.01', '0.02', '0.05', '0.1', '0.2', '0.5', '1', '2', '5', '10', '30', '60', '120', '300', '+Inf'],
    ]);
    const counts = buckets.map(([, count]) => count);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect([counts.at(-1), Number(found('count')[0]?.value)]).toEqual([20, 20]);
    expect(Number(found('sum')[0]?.value)).toBeGreaterThan(0);
  });

  test('has one label for all tools and methods that there are not, and a limited number of error codes', async () => {
    const { client, session, call, read } = await serve();
    for (let at = 0; at < 300; at++) {
      await call(`none_${at}`);
      await call('end_as', { code: `CODE_${at}` });
      await client.request(`method/${at}`, {}, session);
      await client.request(
        'tools/call',
        {},
        { ...session, authorization: `Bearer ${'x'.repeat(at + 1)}.y.z` },
      );
    }
    const metrics = await read();
    const all = counted(metrics.get(`${operations}_count`));
    expect(all).toContainEqual(['tools/call _OTHER error tool_error UNKNOWN_TOOL', 300]);
    expect(all).toContainEqual(['_OTHER  error -32601 ', 300]);
    const codes = all.filter(([labels]) => labels.startsWith('tools/call end_as fail'));
    expect(codes.length).toBeLessThanOrEqual(101);
    expect(codes.reduce((sum, [, count]) => sum + count, 0)).toBe(300);
    expect(codes.find(([labels]) => labels.endsWith('_OTHER'))?.[1]).toBeGreaterThan(190);
    expect(counted(metrics.get('mcp_server_refusals_total')).map(([reason]) => reason)).toEqual([
      'ERR_JWS_INVALID',
    ]);
  });

  test('says whether calls can be paid, what the server holds, and what an API may still be asked', async () => {
    const { client, session, call, read } = await serve();
    const held = await fetch(client.url, { headers: { ...session, accept: 'text/event-stream' } });
    onTestFinished(() => held.body?.cancel());
    await call('get_gas', { at: '/gas' }); // nothing answers there
    const metrics = await read();
    const value = (name: string) => counted(metrics.get(name));
    expect(value('mcp_server_ready')).toEqual([['', 1]]);
    expect(value('mcp_server_keys')).toEqual([['', 1]]);
    expect(value('mcp_server_state_shared')).toEqual([]);
    expect(value('mcp_server_calls_running')).toEqual([['', 0]]);
    expect(value('mcp_server_calls_limit')).toEqual([['', 1000]]);
    expect(value('mcp_server_streams')).toEqual([['', 1]]);
    expect(value('mcp_server_connections')[0]?.[1]).toBeGreaterThan(0);
    expect(value('mcp_source_budget_remaining')).toEqual([['127.0.0.1:9', 999]]);
  });

  test('names the reason while no call can be paid', async () => {
    const env = settings({ METRICS_PORT: '0', PLATFORM_AUDIENCE: 'pending' });
    const { listening } = await serveBuilt(project.directory, env);
    const metrics = await read(listening.metrics);
    expect(counted(metrics.get('mcp_server_ready'))).toEqual([['audience', 0]]);
  });

  test('gives a second reader the figures of the event loop, too', async () => {
    const { call, read } = await serve();
    for (let times = 0; times < 50; times++) await call('end_as');
    const name = 'nodejs_eventloop_delay_max_seconds';
    const [first = 0, second = 0] = [await read(), await read()].map((metrics) =>
      Number(metrics.get(name)?.[0]?.value),
    );
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThanOrEqual(first);
  });

  test('answers only reading requests at its path', async () => {
    const { metrics } = await serve();
    const status = async (url: string | URL, method = 'GET') => (await fetch(url, { method })).status;
    expect(await status(metrics, 'HEAD')).toBe(200);
    expect(await status(`${metrics}?a=b`)).toBe(200);
    expect(await status(metrics, 'POST')).toBe(405);
    for (const other of ['/', '/mcp', '/health', '/metrics/'])
      expect(await status(new URL(other, metrics))).toBe(404);
  });

  test('is never on the public port, and there is none without METRICS_PORT', async () => {
    const [on, off] = [await serve(), await serve({})];
    expect(off.metrics).toBeUndefined();
    for (const { port } of [on, off]) {
      expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(404);
    }
  });

  test('is reached on 127.0.0.1 only, unless METRICS_HOST has another address', async () => {
    const port = String(await freePort());
    const elsewhere = `http://127.0.0.2:${port}/metrics`;
    const { metrics, child, exit } = await serve({ METRICS_PORT: port });
    expect(metrics).toBe(`http://127.0.0.1:${port}/metrics`);
    await expect(fetch(elsewhere)).rejects.toThrow();
    child.kill();
    await exit;
    await serve({ METRICS_PORT: port, METRICS_HOST: '0.0.0.0' });
    expect((await fetch(elsewhere)).status).toBe(200);
  });

  test.each([
    ['a word', { METRICS_PORT: 'on' }, 'METRICS_PORT: expected a whole number from 0 to 65535, got "on".'],
    ['a port that there is not', { METRICS_PORT: '65536' }, 'METRICS_PORT: expected a whole number from 0'],
    [
      'the public port',
      { METRICS_PORT: '5999', PORT: '5999' },
      'METRICS_PORT: expected another port than PORT',
    ],
    ['no address', { METRICS_PORT: '0', METRICS_HOST: '256.0.0.1' }, 'METRICS_HOST or METRICS_PORT: '],
  ])('does not start with %s', async (_, env, reason) => {
    const { code, stdout, stderr } = await run(project.directory, 'dist/src/main.js', settings(env)).exit;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      event: 'cannot-start',
      reasons: [expect.stringContaining(reason)],
    });
  });

  test('does not start with a port in use', async () => {
    const taken = createListener();
    const port = await listen(taken);
    const env = settings({ METRICS_PORT: String(port), NODE_ENV: 'test' });
    const { code, stderr } = await run(project.directory, 'dist/src/main.js', env).exit;
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Cannot start.\n- METRICS_PORT: port ${port} is already in use. Stop the program that uses it, or set METRICS_PORT to a free port.\n`,
    );
  });
});

test('every metric of the dashboard is in /metrics after real calls, with its labels', async () => {
  const { url } = await api();
  const { call, read, client } = await serve({ METRICS_PORT: '0', API_URL: url });
  await call('get_gas', { at: '/203' });
  await call('end_as', { code: 'GONE' });
  await client.request('tools/list');
  const metrics = await read();
  const { panels } = JSON.parse(readFileSync(path.join(runtime, 'grafana.json'), 'utf8'));
  const queries: string[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );
  expect(queries.length).toBeGreaterThan(10);
  const shown = new Set<string>();
  for (const query of queries) {
    const names = [...query.matchAll(/\b[a-z]+_[a-z0-9_]+(?=\{)/g)].map(([name]) => name);
    expect(names, query).not.toEqual([]);
    for (const name of names) {
      if (name === 'mcp_server_state_shared') continue; // only with a store: replicas.test.ts
      expect([...metrics.keys()]).toContain(name);
      shown.add(familyOf(name));
    }
    const [, grouped = ''] = /\bby \(([^)]*)\)/.exec(query) ?? [];
    const known = Object.keys(metrics.get(names[0] ?? '')?.[0]?.labels ?? {});
    for (const label of grouped.split(', ').filter((label) => label !== '' && label !== 'le')) {
      expect(known, query).toContain(label);
    }
  }
  expect([...metrics.keys()].filter((name) => !shown.has(familyOf(name)))).toEqual([]);
});

/** The parts of an export (OTLP) that the test reads. */
interface Exported {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly startTimeUnixNano: string; readonly endTimeUnixNano: string }[];
    }[];
  }[];
}

test('the example of the README exports a span for each request', async () => {
  const exported: { to: string; body: Exported }[] = [];
  const { origin } = await startApi(({ method, target, body }) => {
    exported.push({ to: `${method} ${target}`, body: JSON.parse(body) as Exported });
    return { body: {} };
  });

  const readme = readFileSync(path.join(runtime, 'README.md'), 'utf8');
  const example = /```ts\n(import \{ randomBytes [\s\S]*?)```/.exec(readme)?.[1] ?? '';
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(35);
  const own = buildProject(path.join(import.meta.dirname, 'metrics-tools.ts'));
  onTestFinished(own.remove);
  const main = path.join(own.directory, 'src/main.ts');
  writeFileSync(path.join(own.directory, 'src/tracing.ts'), example);
  writeFileSync(main, `import './tracing.ts';\n${readFileSync(main, 'utf8')}`);
  compile(own.directory);

  const endpoint = `${origin}/v1/traces`;
  const env = settings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint });
  const { client } = await serveBuilt(own.directory, env);
  const headers = { ...(await client.session()), ...(await paid()) };
  const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const params = { name: 'end_as', arguments: { code: 'GONE' } };
  const answer = await client.request('tools/call', params, {
    ...headers,
    traceparent: `00-${trace}-${parent}-01`,
  });
  const spans = () =>
    exported.flatMap(({ body }) =>
      body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]?.spans ?? []),
    );
  await vi.waitUntil(() => spans().length === 2, within);
  expect(exported[0]?.to).toBe('POST /v1/traces');
  const [opened, called] = spans();
  expect(opened).toMatchObject({
    name: 'initialize',
    traceId: expect.stringMatching(/^[\da-f]{32}$/),
    spanId: expect.stringMatching(/^[\da-f]{16}$/),
    status: { code: 0 },
  });
  expect(opened).not.toHaveProperty('parentSpanId');
  expect(called).toMatchObject({
    name: 'tools/call end_as',
    traceId: trace,
    parentSpanId: parent,
    kind: 2,
    status: { code: 2 },
  });
  expect(called).toHaveProperty(
    'attributes',
    Object.entries({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'end_as',
      'gen_ai.operation.name': 'execute_tool',
      'error.type': 'tool_error',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      outcome: 'fail',
      code: 'GONE',
      request: answer.headers.get('x-request-id'),
    }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  );
  for (const { startTimeUnixNano, endTimeUnixNano } of spans()) {
    const [from, until] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
    expect(until >= from).toBe(true);
    expect(Math.abs(Number(until / 1_000_000n) - Date.now())).toBeLessThan(600_000);
  }
});
