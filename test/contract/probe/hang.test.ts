import { expect, it } from 'vitest';
import type { RuleText } from '../../../packages/contract/src/model.ts';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { examples, failuresOf } from '../../broken/check.ts';
import { serving, signer } from '../../broken/trust.ts';
import { instead, methodOf } from '../../broken/variant.ts';
import type { Answer, Request } from '../../broken/wire.ts';

const never = new Promise<Answer>(() => {});
const sessionOf = ({ headers }: Request) => headers['mcp-session-id']?.toString();
const isStream = ({ method, path }: Request) => method === 'GET' && path === '/mcp';

/** A server that never answers some requests, and the rules that fail. */
interface Hanging {
  readonly name: string;
  readonly fails: readonly string[];
  readonly hangs: (request: Request) => boolean;
}

const hangingServers: readonly Hanging[] = [
  {
    name: 'a GET without a session',
    fails: ['session.missing-get'],
    hangs: (request) => isStream(request) && sessionOf(request) === undefined,
  },
  {
    name: 'a GET with an unknown session',
    fails: ['session.unknown-get'],
    hangs: (request) => isStream(request) && sessionOf(request)?.startsWith('0000') === true,
  },
  {
    name: 'an unknown method',
    fails: ['modern.unknown-method', 'protocol.unknown-method'],
    hangs: (request) => methodOf(request) === 'tools/destroy',
  },
  {
    name: 'a body that is not JSON, or is not declared as JSON',
    fails: ['http.content-type', 'http.malformed'],
    hangs: ({ headers, body = '' }) =>
      (headers['content-type'] === 'text/plain' && !body.includes('tools/call')) ||
      /^\{"jsonrpc": "2.0", "id": 1, [^}]*$/.test(body),
  },
  {
    name: 'a notification',
    fails: ['protocol.notification'],
    hangs: (request) => methodOf(request) === 'notifications/initialized',
  },
];

const selects = ({ id }: RuleText) => /^(session|protocol|http|modern|discovery)\./.test(id);

it.concurrent.each(hangingServers)(
  'a server that leaves only $name unanswered fails the rule about it, and lists its tools',
  async ({ hangs, fails }) => {
    const { rules, summary } = await serving(
      instead((request) => (hangs(request) ? never : undefined)),
      // The answers that come have this time, and the check waits as long for those that never come.
      (url) => runContract({ url, profile: context, examples, signer, timeoutMs: 10_000 }, { selects }),
    );
    expect(failuresOf(rules)).toEqual(fails);
    expect(
      rules.filter(({ cause }) => cause === 'unanswered').map(({ id, reason }) => `${id}: ${reason}`),
    ).toEqual([]);
    const [problem] = rules.find(({ id }) => id === fails.at(-1))?.problems ?? [];
    expect(problem).toMatchObject({ expected: 'an answer', request: expect.stringContaining('curl') });
    expect(summary.unanswered).toBe(0);
  },
);

it.concurrent('a request that hung once, but is answered when it is sent alone, fails no rule', async () => {
  let count = 0;
  const { rules } = await serving(
    instead((request) => (methodOf(request) === 'tools/destroy' && ++count === 1 ? never : undefined)),
    (url) =>
      runContract(
        { url, profile: context, timeoutMs: 10_000 },
        { selects: ({ id }) => id === 'protocol.unknown-method' },
      ),
  );
  expect(rules).toMatchObject([{ status: 'pass', again: expect.stringContaining('within 10000 ms') }]);
  expect(count).toBe(2);
});

it.concurrent('a request that hangs on a server that answers no ping fails no rule', async () => {
  const { rules } = await serving(
    instead((request) => (/^(ping|tools\/destroy)$/.test(methodOf(request) ?? '') ? never : undefined)),
    (url) =>
      runContract(
        { url, profile: context, timeoutMs: 10_000 },
        { selects: ({ id }) => id === 'protocol.unknown-method' },
      ),
  );
  expect(rules).toMatchObject([{ status: 'not-run', cause: 'unanswered' }]);
});

it.concurrent('a call for which the server asks its client names that request as the cause', async () => {
  const message = { jsonrpc: '2.0', id: 's1', method: 'elicitation/create', params: {} };
  const asking: Answer = {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: `data: ${JSON.stringify(message)}\n\n`,
    stream: true,
  };
  const { rules } = await serving(
    instead((request) =>
      methodOf(request) === 'tools/call' && request.headers.authorization ? asking : undefined,
    ),
    (url) =>
      runContract(
        { url, profile: context, examples, signer, timeoutMs: 10_000 },
        { selects: ({ id }) => id === 'outcome.in-time' },
      ),
  );
  expect(rules[0]?.problems[0]).toMatchObject({
    actual: expect.stringContaining('to which it sent the request elicitation/create'),
    fix: expect.stringContaining('neither elicitation, sampling nor roots'),
  });
});

it.concurrent('a server that requires MCP-Protocol-Version gets that header as the cause', async () => {
  const { rules } = await serving(
    instead((request) => {
      const isNamed = request.headers['mcp-protocol-version'] !== undefined;
      if (isNamed || request.method !== 'POST' || methodOf(request) === 'initialize') return undefined;
      return { status: 400, body: { error: 'MCP-Protocol-Version header is required' } };
    }),
    (url) =>
      runContract({ url, profile: context, signer }, { selects: ({ id }) => id === 'discovery.tools-list' }),
  );
  expect(rules[0]?.problems[0]?.fix).toContain('the server requires this header');
});
