import { expect, it } from 'vitest';
import { context } from '../../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../../packages/contract/src/run.ts';
import { mayCall } from '../../../packages/contract/src/wire/http.ts';
import { Probe } from '../../../packages/contract/src/wire/probe.ts';
import { retryAfterMs } from '../../../packages/contract/src/wire/rate-limit.ts';
import { examples } from '../../broken/check.ts';
import { serving, signer } from '../../broken/trust.ts';
import { instead, methodOf, type Variant } from '../../broken/variant.ts';
import type { Request } from '../../broken/wire.ts';

/** A server that refuses some requests because of its limit. */
function limiting(isLimited: (request: Request) => boolean, headers = {}): Variant {
  return instead((request) =>
    isLimited(request) ? { status: 429, headers, body: { error: 'Too many requests' } } : undefined,
  );
}

/** Lists the tools of a server, and records the waits. */
async function list(variant: Variant, deadlineMs?: number) {
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);
  return serving(variant, async (url) => {
    const deadlineAt =
      deadlineMs === undefined ? {} : { deadlineAt: Number(process.hrtime.bigint()) / 1e6 + deadlineMs };
    const probe = new Probe({ url, profile: context, signer, wait, ...deadlineAt });
    const { status } = (await probe.rpcOnce('tools/list')).http;
    await probe.close();
    return { waits, status };
  });
}

/** Whether a request is among the first ones. */
function first(count: number): () => boolean {
  let seen = 0;
  return () => {
    seen += 1;
    return seen <= count;
  };
}

const always = () => true;

it('a request waits for 1, 2 and 4 s if the server does not say how long', async () => {
  expect(await list(limiting(always))).toEqual({ waits: [1_000, 2_000, 4_000], status: 429 });
});

it('a request is sent again after the seconds of Retry-After', async () => {
  const { waits, status } = await list(limiting(first(2), { 'retry-after': '7' }));
  expect(waits).toEqual([7_000, 7_000]);
  expect(status).not.toBe(429);
});

it('one wait takes 30 s at most, and all waits 2 minutes', async () => {
  const { waits } = await list(limiting(always, { 'retry-after': '3600' }));
  expect(waits).toEqual([30_000, 30_000, 30_000, 30_000]);
});

it('a wait that would pass the deadline does not begin', async () => {
  const { waits } = await list(limiting(always, { 'retry-after': '20' }), 19_000);
  expect(waits).toEqual([]);
});

it('Retry-After is a number of seconds or a date', () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  expect(retryAfterMs('5')).toBe(5_000);
  expect(retryAfterMs(date)).toBeGreaterThan(3_000_000);
  expect(retryAfterMs('Thu, 01 Jan 1970 00:00:00 GMT')).toBe(1_000);
  expect(retryAfterMs('soon')).toBeUndefined();
});

it('requests that are refused together wait once, and each is sent again', async () => {
  const waits: number[] = [];
  let end = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    end = resolve;
  });
  let refused = 0;
  const variant = limiting(() => {
    refused += 1;
    if (refused === 5) end();
    return refused <= 5;
  });
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return isOver;
  };
  await serving(variant, async (url) => {
    const probe = new Probe({ url, profile: context, wait });
    const answers = await Promise.all(Array.from({ length: 5 }, () => probe.rpcOnce('tools/list')));
    expect(answers.map(({ http }) => http.status)).not.toContain(429);
    await probe.close();
  });
  expect(waits).toEqual([1_000]);
});

it('a token is signed again after a wait', async () => {
  const signed: string[] = [];
  const tokens: (string | undefined)[] = [];
  const isFirst = first(1);
  const variant = limiting(({ headers }) => {
    tokens.push(headers.authorization);
    return isFirst();
  });
  const counting = {
    ...signer,
    async token() {
      signed.push(`token-${signed.length}`);
      return signed.at(-1) ?? '';
    },
  };
  await serving(variant, async (url) => {
    const probe = new Probe({ url, profile: context, signer: counting, wait: async () => {} });
    const token = await probe.token({ claims: { jti: 'one' } });
    await probe.rpcOnce('tools/call', { name: 'get_price', arguments: {} }, { token });
    await probe.close();
  });
  expect(tokens).toEqual(['Bearer token-0', 'Bearer token-1']);
});

it('a server that limits only calls without a token is not judged by the rules about forged tokens', async () => {
  const variant = limiting(
    (request) => methodOf(request) === 'tools/call' && request.headers.authorization === undefined,
  );
  const report = await serving(variant, (url) =>
    runContract(
      { url, profile: context, examples, signer, wait: async () => {} },
      { selects: ({ id }) => id.startsWith('gate.') && id !== 'gate.valid-token' },
    ),
  );
  expect(report.rules.map(({ status }) => status)).toEqual(report.rules.map(() => 'not-run'));
  expect(report.summary.failed).toBe(0);
});

it('the advice to use the key of the platform is for 401 only', async () => {
  const fixOf = async (status: number) => {
    const variant = instead((request) =>
      methodOf(request) === 'tools/call' ? { status, body: { error: 'Unauthorized' } } : undefined,
    );
    const { rules } = await serving(variant, (url) =>
      runContract(
        { url, profile: context, examples, signer },
        { selects: ({ id }) => id === 'gate.valid-token' },
      ),
    );
    return rules[0]?.problems[0]?.fix;
  };
  expect(await fixOf(401)).toContain('the issuer and the key of the platform');
  expect(await fixOf(403)).toBeUndefined();
});

it.each([
  ['{"method":"tools/call"}', true],
  ['[{"method":"tools/call"}]', true],
  ['{"method":"tools\\u002fcall"}', true],
  ['{"method":"Tools/Call"}', true],
  ['{"method":"tools/list"}', false],
  [undefined, false],
])('the body %s gets the time of a call: %s', (body, isCall) => {
  expect(mayCall(body)).toBe(isCall);
});

it('every rule gives a call the time that the profile allows', async () => {
  const given: number[] = [];
  class Listening extends Probe {
    override timeoutMs(grantedMs = 0): number {
      given.push(grantedMs);
      return super.timeoutMs(grantedMs);
    }
  }
  await serving({}, async (url) => {
    const probe = new Listening({ url, profile: context, signer });
    const session = await probe.session();
    given.length = 0;
    await probe.rpcOnce('tools/call', { name: 'get_price', arguments: {} }, { session });
    await probe.close();
  });
  expect(given).toEqual([context.limits.callMs]);
});
