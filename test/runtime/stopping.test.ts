import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildProject } from './built.ts';
import { serveBuilt } from './serve-built.ts';
import { live, start, token } from './support.ts';
import { heldTool } from './tools.ts';

const within = { timeout: 120_000 };

describe('a process that gets SIGTERM', () => {
  let project: ReturnType<typeof buildProject>;
  beforeAll(() => {
    project = buildProject(path.join(import.meta.dirname, 'stopping-tools.ts'));
  });
  afterAll(() => project.remove());
  const serve = (env: Record<string, string>) => serveBuilt(project.directory, { ...live, ...env });

  test('answers calls that do not end with SERVER_STOPPING, and logs and counts them', async () => {
    const { child, exit, output, client, events } = await serve({
      SHUTDOWN_GRACE_MS: '1000',
      METRICS_PORT: '0',
    });
    const calls = ['read_forever', 'write_forever'].map((name) => client.call(name));
    await vi.waitUntil(() => /read_forever runs/.test(output.stderr), within);
    await vi.waitUntil(() => /write_forever runs/.test(output.stderr), within);
    child.kill('SIGTERM');
    const [reading, writing] = await Promise.all(calls);
    expect(reading).toMatchObject({
      isError: true,
      structuredContent: {
        text: null,
        error: 'SERVER_STOPPING',
        message: 'The server stopped before the tool answered (503). Call it again.',
      },
    });
    expect(writing).toMatchObject({
      isError: true,
      structuredContent: {
        text: null,
        error: 'SERVER_STOPPING',
        message: 'The server stopped before the tool answered. It is not known whether the call took effect.',
      },
    });
    expect(await exit).toMatchObject({ code: 0 });
    const ofCalls = events().filter(({ event }) => event === 'call');
    expect(ofCalls.map(({ tool, code }) => [tool, code]).toSorted()).toEqual([
      ['read_forever', 'SERVER_STOPPING'],
      ['write_forever', 'SERVER_STOPPING'],
    ]);
    expect(events().at(-1)).toMatchObject({ event: 'stopped', aborted: 2, cut: 0 });
    for (const tool of ['read_forever', 'write_forever']) {
      const labels = `mcp_method_name="tools/call",gen_ai_tool_name="${tool}",outcome="error",error_type="tool_error",code="SERVER_STOPPING"`;
      expect(output.stderr).toContain(`mcp_server_operation_duration_seconds_count{${labels}} 1\n`);
    }
  });

  test('answers a call that ends within the time', async () => {
    const { child, exit, output, client, events } = await serve({ SHUTDOWN_GRACE_MS: '600000' });
    const call = client.call('wait_for_signal');
    await vi.waitUntil(() => output.stderr.includes('wait_for_signal runs'), within);
    child.kill('SIGTERM');
    await vi.waitUntil(() => events().some(({ event }) => event === 'stopping'), within);
    child.kill('SIGUSR2');
    expect((await call).structuredContent).toEqual({ text: 'done' });
    expect(await exit).toMatchObject({ code: 0 });
    expect(events().at(-1)).toMatchObject({ event: 'stopped', aborted: 0, cut: 0 });
  });

  test.each([
    [
      'in production with the default',
      {},
      ['SHUTDOWN_GRACE_MS - DRAIN_MS is 8000, but CALL_TIMEOUT_MS is 58000'],
    ],
    ['with the time of a call', { SHUTDOWN_GRACE_MS: '60500', DRAIN_MS: '2500' }, []],
    [
      'with a little less',
      { SHUTDOWN_GRACE_MS: '60499', DRAIN_MS: '2500' },
      ['Set SHUTDOWN_GRACE_MS=62500,'],
    ],
    ['in development', { NODE_ENV: 'development' }, []],
    ['on Vercel, which has no such limit', { VERCEL: '1' }, []],
  ])('warns at its start if calls may outlast it: %s', async (_, env, warnings) => {
    const { events } = await serve(env);
    const texts = events().flatMap(({ text }) => (text?.includes('SHUTDOWN_GRACE_MS') ? [text] : []));
    expect(texts).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
  });
});

describe('a server that stops', () => {
  test('counts a request that is cut off, and a call whose body does not arrive', async () => {
    let hasAsked = false;
    const { port, stop, url } = await start({
      routes: {
        '/forever': () => {
          hasAsked = true;
        },
      },
      env: { SHUTDOWN_GRACE_MS: '2000' },
    });
    const cut = expect(fetch(url.replace('/mcp', '/forever'))).rejects.toThrow();
    await vi.waitUntil(() => hasAsked, within);
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${await token()}`,
      'Content-Type: application/json',
      'Content-Length: 9',
      'Expect: 100-continue',
    ];
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    expect(String(await once(socket, 'data'))).toContain(' 100 Continue');
    expect(await stop()).toEqual({ aborted: 0, cut: 2 });
    await cut;
  });

  test('runs no further call after it has aborted the others', async () => {
    const { tool, held } = heldTool();
    const { app, client, events } = await start({ tools: [tool] });
    const session = await client.session();
    app.stopCalls();
    const params = { name: 'held' };
    const paid = { ...session, authorization: `Bearer ${await token()}` };
    const refused = await client.request('tools/call', params, paid);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await client.request('tools/call', params, session)).status).toBe(401);
    expect((await client.request('tools/list', {}, session)).status).toBe(200);
    expect(held.signal).toBeUndefined();
    expect(events()).toContainEqual(
      expect.objectContaining({ event: 'limit', variable: 'SHUTDOWN_GRACE_MS', times: 1 }),
    );
  });

  test('parses no large body of a paid call after it has aborted the others', async () => {
    const { app, url } = await start();
    const headers = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' };
    const post = (bytes: number) => fetch(url, { method: 'POST', headers, body: 'x'.repeat(bytes) });
    expect((await post(70_000)).status).toBe(400);
    app.stopCalls();
    expect((await post(70_000)).status).toBe(503);
    expect((await post(60_000)).status).toBe(400);
  });
});
