import { expect, it, vi } from 'vitest';
import { start, token } from '../runtime/support.ts';
import { heldTool, textTool } from '../runtime/tools.ts';

// TOKEN_ONCE: a refused call leaves its token valid, a call that runs uses it up.

const within = { timeout: 120_000, interval: 20 };
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_price', arguments: {} } };

it.each<[string, number, object, Record<string, string>]>([
  ['without a session', 400, call, { 'mcp-session-id': '' }],
  ['in an unknown session', 400, call, { 'mcp-session-id': '00000000-0000-4000-8000-000000000000' }],
  ['of an unsupported version', 400, call, { 'mcp-protocol-version': '1999-01-01' }],
  ['of the stateless revision without its members', 400, call, { 'mcp-protocol-version': '2026-07-28' }],
  ['in a batch', 400, [call], {}],
  ['with an invalid id', 400, { ...call, id: {} }, {}],
  ['without an id', 202, { ...call, id: undefined }, {}],
])('a call %s leaves its token valid for one call', async (_, status, body, headers) => {
  const { client } = await start({ env: { TOKEN_ONCE: 'on' } });
  const paid = { ...(await client.session()), authorization: `Bearer ${await token()}` };
  const answers = [
    await client.send(body, { ...paid, ...headers }),
    await client.send(call, paid),
    await client.send(call, paid),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([status, 200, 401]);
});

it('a call over MAX_CALLS leaves its token valid for the retry that Retry-After invites', async () => {
  const { tool, held } = heldTool();
  const { client } = await start({ tools: [tool], env: { TOKEN_ONCE: 'on', MAX_CALLS: '1' } });
  const session = await client.session();
  const send = (authorization: string) =>
    client.request('tools/call', { name: tool.name }, { ...session, authorization });
  const runningCall = send(`Bearer ${await token()}`);
  await vi.waitUntil(() => held.signal, within);

  const authorization = `Bearer ${await token()}`;
  const refused = await send(authorization);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  held.release();
  expect((await runningCall).status).toBe(200);

  held.signal = undefined;
  const retry = send(authorization);
  await vi.waitUntil(() => held.signal, within);
  held.release();
  expect((await retry).status).toBe(200);
  expect((await send(authorization)).status).toBe(401);
});

it('of twenty calls that have the same token at the same time, one runs', async () => {
  let runs = 0;
  const tool = textTool('count', (_, { found }) => {
    runs += 1;
    return found({ text: String(runs) });
  });
  const { client } = await start({ tools: [tool], env: { TOKEN_ONCE: 'on' } });
  const headers = { ...(await client.session()), authorization: `Bearer ${await token()}` };
  const calls = Array.from({ length: 20 }, () => client.request('tools/call', { name: 'count' }, headers));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toEqual([200]);
  expect(statuses.filter((status) => status === 401)).toHaveLength(19);
  expect(runs).toBe(1);
});
