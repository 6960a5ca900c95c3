import { expect, it } from 'vitest';
import type { Report, RuleResult } from '../../packages/contract/src/model.ts';
import { context, mcp } from '../../packages/contract/src/platforms/all.ts';
import type { PlatformProfile } from '../../packages/contract/src/platforms/profile.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { serving, signer } from '../broken/trust.ts';
import { instead, methodOf, responds, type Variant, where, withAnswer } from '../broken/variant.ts';
import type { Request } from '../broken/wire.ts';

/** Every server has this time to answer, also on a busy machine. */
const timeoutMs = 60_000;

function check(variant: Variant, profile: PlatformProfile, ids: readonly string[]): Promise<Report> {
  const callPolicy = { named: ['get_price', 'list_coins'], decide: async () => [] };
  return serving(variant, (url) =>
    runContract(
      { url, profile, signer, callPolicy, timeoutMs, wait: async () => {} },
      { selects: ({ id }) => ids.includes(id) },
    ),
  );
}

function ruleOf({ rules }: Report, id: string): RuleResult | undefined {
  return rules.find((rule) => rule.id === id);
}

/** The client of the SDK sends this header; the check's other requests keep their connections. */
const isOfClient = ({ headers }: Request) =>
  headers.connection === 'close' && headers.accept === 'application/json, text/event-stream';

it('names Connection: close as the cause if only the events for the SDK’s client end without a response', async () => {
  const events = { 'content-type': 'text/event-stream' };
  const endsEarly = withAnswer((answer, request) =>
    isOfClient(request) && methodOf(request) === 'initialize'
      ? { ...answer, headers: { ...answer.headers, ...events }, body: '' }
      : answer,
  );
  const report = await check(endsEarly, context, ['discovery.client', 'outcome.client']);
  expect(ruleOf(report, 'discovery.client')).toMatchObject({
    status: 'fail',
    problems: [
      {
        path: 'initialize with Connection: close',
        actual: 'a stream of events that ended before it',
        fix: expect.stringContaining('End the stream after the response'),
      },
    ],
  });
  expect(ruleOf(report, 'outcome.client')).toMatchObject({ status: 'not-run', see: ['discovery.client'] });
});

it('does not blame the tool definitions for a rate limit that the SDK’s client gets', async () => {
  const limits = where(isOfClient, { status: 429, body: { error: 'Too many requests' } });
  const report = await check(limits, context, ['discovery.client']);
  expect(ruleOf(report, 'discovery.client')).toMatchObject({
    status: 'not-run',
    reason: 'the server limits the rate of requests (HTTP 429)',
  });
});

it('reports methods that are never answered by their own rules, not by those about sessions and tokens', async () => {
  const accepts = where((request) => /^(ping|(prompts|resources).list)$/.test(methodOf(request) ?? ''), {
    status: 202,
  });
  const aboutOthers = [
    'discovery.invalid-token',
    'session.lasting',
    'session.two-at-once',
    'session.parallel',
  ];
  const report = await check(accepts, context, ['protocol.ping', 'discovery.prompts-list', ...aboutOthers]);
  const failed = report.rules.filter(({ status }) => status === 'fail').map(({ id }) => id);
  expect(failed.toSorted()).toEqual(['discovery.prompts-list', 'protocol.ping']);
});

it('gives the fix of modern.served if a server refuses the version of the stateless revision', async () => {
  const refuses = where(({ headers }) => headers['mcp-protocol-version'] === '2026-07-28', {
    status: 400,
    body: {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_000, message: 'Bad Request: Unsupported protocol version: 2026-07-28' },
    },
  });
  const served = ruleOf(await check(refuses, context, ['modern.served']), 'modern.served');
  expect(served?.status).toBe('fail');
  expect(served?.problems.map(({ fix }) => fix)).toEqual([undefined]);
});

it('under mcp, a server that opens no session and answers only initialize fails', async () => {
  const answersOnlyInitialize = withAnswer((answer, request) =>
    methodOf(request) === 'initialize' ? { ...answer, headers: {} } : { status: 500, body: '' },
  );
  const report = await check(answersOnlyInitialize, mcp, ['discovery.initialize', 'discovery.tools-list']);
  expect(ruleOf(report, 'discovery.tools-list')?.status).toBe('fail');
  expect(report.ok).toBe(false);
});

it('under mcp, a server that requires a token for every request has no verdict without one', async () => {
  const denies = instead(() => ({
    status: 401,
    body: { error: 'invalid_token' },
    headers: { 'www-authenticate': 'Bearer' },
  }));
  const report = await check(denies, mcp, ['discovery.initialize', 'discovery.tools-list']);
  expect(ruleOf(report, 'discovery.initialize')).toMatchObject({
    status: 'not-run',
    reason: 'initialize was denied; give the header that the server requires with --header',
  });
  expect(report.summary.unanswered).toBe(1);
});

it('under mcp, a failure as JSON-RPC error, also without arguments, fails no MUST', async () => {
  const errors = responds(({ method }) =>
    method === 'tools/call' ? { error: { code: -32_603, message: 'The API is down' } } : undefined,
  );
  const ids = ['call.answered', 'explore.valid', 'explore.answered'];
  const { rules } = await check(errors, mcp, ids);
  expect(rules.filter(({ status, level }) => status === 'fail' && level === 'must')).toEqual([]);
});

it('lets a tool refuse a call that has no arguments by a JSON-RPC error', async () => {
  const demandsArguments = responds(({ method, params }) =>
    method === 'tools/call' && !Object.hasOwn(Object(params), 'arguments')
      ? { error: { code: -32_603, message: 'arguments are required' } }
      : undefined,
  );
  const { rules } = await check(demandsArguments, context, ['explore.valid', 'explore.no-crash']);
  expect(rules.map(({ status }) => status)).toEqual(['pass', 'pass']);
});
