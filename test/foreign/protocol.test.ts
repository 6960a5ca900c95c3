import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { RuleText } from '../../packages/contract/src/model.ts';
import { mcp } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { checkServer } from '../broken/check.ts';
import { listen } from '../listen.ts';
import { started } from './examine.ts';
import { sdkServers } from './servers.ts';

const place = () => mkdtempSync(join(tmpdir(), 'market-mcp-test-'));

// Servers on loopback must refuse pages of other origins (MCP, transports, security warning); these examples do not.
test.concurrent.each(sdkServers)('$name breaks no MUST but that of foreign origins', async (server) => {
  const { url, stop } = await started(server, place(), await server.start(place()));
  try {
    const report = await runContract({
      url,
      profile: mcp,
      timeoutMs: 60_000,
      callPolicy: { named: [], decide: async ({ withheld }) => withheld.map(({ tool }) => tool) },
    });
    const failed = report.rules.filter(({ status, level }) => status === 'fail' && level === 'must');
    expect(failed.map(({ id }) => id)).toEqual(['http.foreign-origin']);
    expect(report.summary).toMatchObject({ unanswered: 0, errors: 0 });
    const judged = report.rules.filter(({ status }) => status !== 'not-run').map(({ id }) => id);
    expect(judged).toEqual(
      expect.arrayContaining(['discovery.client', 'protocol.envelope', 'call.answered']),
    );
    expect(judged.filter((id) => /^(gate|health|submission)\./.test(id))).toEqual([]);
  } finally {
    await stop();
  }
});

test('a server that breaks the protocol fails', async () => {
  expect((await checkServer({ profile: () => mcp })).ok).toBe(true);
  const broken = await checkServer({
    profile: () => mcp,
    respond: (good) => async (message) => ({ ...(await good(message)), jsonrpc: '1.0' }),
  });
  expect(broken.rules.find(({ id }) => id === 'protocol.envelope')?.status).toBe('fail');
  expect(broken.ok).toBe(false);
});

/** A server of one tool, without sessions, which any page may call. */
async function stateless(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = (status: number, message?: object) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
      .end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
  if (request.method !== 'POST') return void answer(request.method === 'OPTIONS' ? 204 : 405);
  const { id, method, params } = (await json(request)) as {
    id?: number;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return void answer(202);
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'stateless', version: '1' },
    },
    'tools/list': { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] },
  };
  const result = results[method];
  answer(200, result ? { id, result } : { id, error: { code: -32601, message: 'Method not found' } });
}

test('a server without sessions need not show their header to pages', async () => {
  const port = await listen(createServer((request, response) => void stateless(request, response)));
  const selects = ({ id }: RuleText) => id === 'http.cors' || id === 'protocol.envelope';
  const report = await runContract({ url: `http://127.0.0.1:${port}/mcp`, profile: mcp }, { selects });
  expect(report.rules.map(({ id, status, reason }) => [id, status, reason])).toEqual([
    ['protocol.envelope', 'pass', undefined],
    ['http.cors', 'not-run', 'the server gives a page no session id'],
  ]);
});

test('the profile of the protocol asks for no other refusal of an ended session than 404', async () => {
  const asked = await checkServer({ profile: () => mcp });
  expect(asked.rules.map(({ id }) => id)).not.toContain('session.delete');
});
