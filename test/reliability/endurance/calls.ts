import { type Caller, expectMembers, responseTo, resultOf } from './caller.ts';
import type { Kind } from './kind.ts';
import { requestText } from './wire.ts';

/** Paid calls of tools: every answer must repeat the caller's nonce. */
export const calls: readonly Kind[] = [
  { name: 'call: found', share: 200, run: (caller) => echo(caller) },
  { name: 'call: a list', share: 50, run: rows },
  { name: 'call: later', share: 50, run: later },
  { name: 'call: pipelined', share: 6, run: pipelined },
  { name: 'call: empty', share: 20, run: (caller) => ends(caller, 'empty', { searchExhausted: true }) },
  {
    name: 'call: failure',
    share: 20,
    run: (caller) => ends(caller, 'fail', { error: 'SOURCE_UNAVAILABLE' }),
  },
  {
    name: 'call: wrong answer',
    share: 8,
    run: (caller) => ends(caller, 'mismatch', { error: 'OUTPUT_MISMATCH' }),
  },
  { name: 'call: wrong arguments', share: 25, run: invalidVariants },
  { name: 'call: deadline', share: 0.2, run: deadline },
  { name: 'call: unknown tool', share: 15, run: unknownTool },
];

async function echo(caller: Caller) {
  const nonce = caller.nonce();
  const { structuredContent } = await caller.call('echo_text', { nonce });
  expectMembers(structuredContent, { nonce, length: nonce.length });
}

async function rows(caller: Caller) {
  const nonce = caller.nonce();
  const count = 1 + Math.floor(caller.random() * 50);
  const { structuredContent } = await caller.call('echo_rows', { nonce, count });
  const items = Array.from({ length: count }, (_, index) => ({ nonce, index }));
  expectMembers(structuredContent, { items, count });
}

async function later(caller: Caller) {
  const nonce = caller.nonce();
  const { structuredContent } = await caller.call('echo_later', {
    nonce,
    ms: Math.floor(caller.random() * 20),
  });
  expectMembers(structuredContent, { nonce });
}

/** Several calls in one packet, answered in order, although the first takes longest. */
async function pipelined(caller: Caller) {
  const wire = await caller.wire();
  const nonces = Array.from({ length: 6 }, () => caller.nonce());
  const requests = nonces.map((nonce, index) => {
    const params = { name: 'echo_later', arguments: { nonce, ms: 6 - index } };
    return requestText(
      'POST',
      '/mcp',
      caller.paid(),
      JSON.stringify({ jsonrpc: '2.0', id: nonce, method: 'tools/call', params }),
    );
  });
  caller.sent(nonces.length);
  wire.send(requests.join(''));
  for (const nonce of nonces) {
    const answer = caller.received(await wire.answer());
    expectMembers(resultOf(responseTo(nonce, answer), answer).structuredContent, { nonce });
  }
}

async function ends(caller: Caller, ending: string, signal: object) {
  const result = await caller.call('echo_text', { nonce: caller.nonce(), ending });
  expectMembers(result.structuredContent, { nonce: null, length: null, ...signal });
  expectMembers(result, ending === 'empty' ? {} : { isError: true });
}

const wrong: readonly unknown[] = [
  {},
  { nonce: 7 },
  { nonce: null },
  { nonce: 'a', ending: 'other' },
  { nonce: ['a'] },
  JSON.parse('{"__proto__":{"nonce":"a"}}'),
  { constructor: 'a', toString: 1 },
  [],
  'nonce',
  7,
];

async function invalidVariants(caller: Caller) {
  const args = wrong[Math.floor(caller.random() * wrong.length)];
  const { answer, rpc } = await caller.ask(
    'tools/call',
    { name: 'echo_text', arguments: args },
    caller.paid(),
  );
  // A protocol violation gets an error, a schema violation a failure.
  if (rpc.error) return expectMembers(rpc.error, { code: -32602 });
  const result = resultOf(rpc, answer);
  expectMembers(result, { isError: true });
  expectMembers(result.structuredContent, { error: 'INVALID_ARGUMENTS' });
}

async function deadline(caller: Caller) {
  const result = await caller.call('echo_later', { nonce: caller.nonce(), ms: 60_000 });
  expectMembers(result.structuredContent, { nonce: null, error: 'DEADLINE_EXCEEDED' });
}

const strangers = ['no_such_tool', '__proto__', 'constructor', '', 'x'.repeat(5000), '\u202e\u0000\n'];

async function unknownTool(caller: Caller) {
  const name = strangers[Math.floor(caller.random() * strangers.length)] ?? '';
  expectMembers(await caller.call(name, {}), { isError: true });
}
