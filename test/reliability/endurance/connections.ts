import { setTimeout as delay } from 'node:timers/promises';
import { pick } from '../../random.ts';
import { type Caller, expectMembers, expectStatus, responseTo, resultOf, unexpected } from './caller.ts';
import type { Kind } from './kind.ts';
import { type Answer, requestText, type Wire } from './wire.ts';

/** Connections that break off, send slowly, stay silent or do not speak HTTP. */
export const connections: readonly Kind[] = [
  { name: 'stream opened and dropped', share: 12, run: async (caller) => (await stream(caller)).destroy() },
  { name: 'dropped in the middle of a body', share: 10, run: dropBody },
  { name: 'dropped in the middle of a call', share: 12, run: dropCall },
  { name: 'dropped answer', share: 8, run: dropAnswer },
  { name: 'slow body', share: 6, run: slowBody },
  { name: 'stalled', share: 0.3, run: stalled },
  { name: 'no HTTP', share: 8, run: garbage },
  { name: 'huge header', share: 3, run: hugeHeader },
  { name: 'expect: continue', share: 3, run: expectContinue },
];

/** Opens the event stream of a session on a separate connection. */
export async function stream(caller: Caller): Promise<Wire> {
  caller.drop();
  const wire = await caller.wire();
  const answer = await caller.exchange(requestText('GET', '/mcp', { 'mcp-session-id': caller.session }));
  expectStatus(answer, 200);
  if (!/text\/event-stream/.test(answer.head)) throw unexpected('an event stream', answer);
  caller.leave();
  return wire;
}

function callText(caller: Caller, nonce: string, ms = 0): string {
  const params = { name: 'echo_later', arguments: { nonce, ms } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: nonce, method: 'tools/call', params });
  return requestText('POST', '/mcp', caller.paid(), body);
}

async function dropBody(caller: Caller) {
  const text = callText(caller, caller.nonce());
  caller.sent();
  (await caller.wire()).send(text.slice(0, -1 - Math.floor(caller.random() * 60)));
  if (caller.random() < 0.5) await delay(1);
  caller.drop();
}

async function dropCall(caller: Caller) {
  caller.sent();
  (await caller.wire()).send(callText(caller, caller.nonce(), 200));
  await delay(Math.floor(caller.random() * 10));
  caller.drop();
}

async function dropAnswer(caller: Caller) {
  caller.sent();
  (await caller.wire()).send(callText(caller, caller.nonce()));
  await new Promise(setImmediate);
  caller.drop();
}

async function slowBody(caller: Caller) {
  const nonce = caller.nonce();
  const bytes = Buffer.from(callText(caller, nonce));
  const wire = await caller.wire();
  caller.sent();
  const pieces = 4;
  for (let piece = 0; piece < pieces; piece += 1) {
    const part = (index: number) => Math.floor((bytes.length * index) / pieces);
    wire.send(bytes.subarray(part(piece), part(piece + 1)));
    await delay(5);
  }
  const answer = caller.received(await wire.answer());
  expectMembers(resultOf(responseTo(nonce, answer), answer).structuredContent, { nonce });
}

/** A request that never becomes complete: the server must end it. */
async function stalled(caller: Caller) {
  const wire = await caller.wire();
  caller.sent();
  const text = callText(caller, caller.nonce());
  wire.send(text.slice(0, pick(caller.random, [20, text.length - 1])));
  const answer = await answerOrEnd(wire);
  if (answer) expectStatus(caller.received(answer), 408);
  await wire.ended;
}

const noise = [
  '\r\n\r\n\u0000\u0001\u0002',
  'GET\r\n\r\n',
  'POST /mcp HTTP/9.9\r\n\r\n',
  '{"jsonrpc":"2.0"}\r\n\r\n',
  '\u0016\u0003\u0001',
];

async function garbage(caller: Caller) {
  const wire = await caller.wire();
  caller.sent();
  wire.send(pick(caller.random, noise));
  wire.send('\r\n\r\n');
  const answer = await answerOrEnd(wire);
  if (answer) expectStatus(caller.received(answer), 400);
  await wire.ended;
}

async function hugeHeader(caller: Caller) {
  const wire = await caller.wire();
  caller.sent();
  wire.send(requestText('GET', '/health', { 'x-huge': 'x'.repeat(20_000) }));
  const answer = await answerOrEnd(wire);
  if (answer) expectStatus(caller.received(answer), 431);
  await wire.ended;
}

async function expectContinue(caller: Caller) {
  const nonce = caller.nonce();
  const text = callText(caller, nonce).replace('\r\n', '\r\nexpect: 100-continue\r\n');
  const answer = await caller.exchange(text);
  expectMembers(resultOf(responseTo(nonce, answer), answer).structuredContent, { nonce });
}

/** The answer, or null if the server ends the connection without one. */
function answerOrEnd(wire: Wire): Promise<Answer | null> {
  return wire.answer().catch(() => null);
}
