import { type Caller, expectMembers, expectStatus, unexpected } from './caller.ts';
import type { Kind } from './kind.ts';
import { requestText } from './wire.ts';

/** Requests that need no token: discovery, sessions, health. */
export const protocol: readonly Kind[] = [
  { name: 'initialize', share: 40, run: open },
  { name: 'tools/list', share: 45, run: list },
  { name: 'resources/list', share: 15, run: (caller) => holds(caller, 'resources/list', { resources: [] }) },
  { name: 'prompts/list', share: 15, run: (caller) => holds(caller, 'prompts/list', { prompts: [] }) },
  { name: 'ping', share: 20, run: (caller) => holds(caller, 'ping', {}) },
  { name: 'unknown method', share: 20, run: unknownMethod },
  { name: 'notification', share: 20, run: notify },
  { name: 'health', share: 20, run: health },
  { name: 'session ended', share: 20, run: end },
];

async function open(caller: Caller) {
  const session = await caller.open();
  const { sessions } = caller.world;
  sessions[Math.floor(caller.random() * sessions.length)] = session;
}

async function list(caller: Caller) {
  const { rpc } = await caller.ask('tools/list');
  const tools = rpc.result?.tools as readonly { name: string }[];
  expectMembers(
    { names: tools.map(({ name }) => name).sort() },
    { names: ['echo_later', 'echo_rows', 'echo_text'] },
  );
}

async function holds(caller: Caller, method: string, result: object) {
  const { rpc } = await caller.ask(method);
  expectMembers(rpc, { result });
}

async function unknownMethod(caller: Caller) {
  const { rpc } = await caller.ask(
    ['tools/cal', 'Tools/Call', '__proto__', 'toString', 'logging/setLevel'][
      Math.floor(caller.random() * 5)
    ] ?? '',
  );
  expectMembers(rpc.error, { code: -32601 });
}

async function notify(caller: Caller) {
  const answer = await caller.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, caller.headers());
  if (answer.status !== 202 || answer.body !== '') throw unexpected('202 without a body', answer);
}

async function health(caller: Caller) {
  const answer = await caller.exchange(requestText('GET', '/health', {}));
  expectStatus(answer, 200);
  expectMembers(JSON.parse(answer.body), { status: 'ok' });
}

/** Opens a session, ends it, and expects it to be unknown. */
async function end(caller: Caller) {
  const session = await caller.open();
  await caller.close(session);
  const answer = await caller.post(
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    caller.headers({ 'mcp-session-id': session }),
  );
  expectStatus(answer, 400, { error: 'Invalid session' });
}
