import { createPublicKey } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { createReplicas } from '../../packages/runtime/src/replicas.ts';
import { createAuthenticator } from '../../packages/runtime/src/server/auth.ts';
import { readGauge, refusals } from '../../packages/runtime/src/server/log.ts';
import type { KeyUse } from '../../packages/runtime/src/server/used-tokens.ts';
import type { SharedState } from '../../packages/runtime/src/store.ts';
import { admissionOf, audience, issuer, platformKey, start, token } from './support.ts';

/** Claims of a store that does not compare its runs. */
const first: KeyUse = { isFirst: true, lostBeforeSeconds: null };
const used: KeyUse = { isFirst: false, lostBeforeSeconds: null };

const silent = () => new Promise<never>(() => {});
const silentState: SharedState = {
  append: silent,
  read: silent,
  claim: silent,
  take: silent,
  get: silent,
  set: silent,
};

it.each([
  ['of this version', { keep: silent, info: silent }, []],
  ['of 0.3.0', {}, [{ event: 'warning', text: expect.stringContaining('market-mcp upgrade') }]],
])(
  'works alone, and says so, if a store %s accepts commands at the start and never answers',
  async (_, further, warnings) => {
    const lines: unknown[] = [];
    const log = (event: string, facts?: object) => void lines.push({ event, ...facts });
    const options = { namespace: 'test', cacheBytes: 1_000, once: 'on' as const, tokens: null, log };
    const { replicas, start } = createReplicas({ ...silentState, ...further }, options);
    await start(50);
    expect(lines).toEqual([...warnings, { event: 'state', shared: false, reason: 'no answer in 50 ms' }]);
    expect(await replicas.markUsed('token', 1_000)).toBeNull();
    expect(readGauge('shared')).toEqual([{ value: 0 }]);
  },
);

/** A store in memory, as SharedState describes it, with its own clock. A reader waits until an entry is appended. */
function memoryState() {
  const held = new Map<string, { text: string; until: number }>();
  const lists = new Map<string, string[]>();
  const appended = new EventEmitter();
  let now = 0;
  const textOf = (key: string) => (now < (held.get(key)?.until ?? 0) ? (held.get(key)?.text ?? null) : null);
  const set = async (key: string, text: string, ms: number) => void held.set(key, { text, until: now + ms });
  const state: Required<Omit<SharedState, 'claimSince'>> = {
    async append(list, entries) {
      lists.set(list, [...(lists.get(list) ?? []), ...entries]);
      appended.emit(list);
    },
    async read(list, after, waitMs) {
      for (;;) {
        const entries = (lists.get(list) ?? []).map((text, index) => ({ position: String(index), text }));
        const later = entries.slice(after === null ? 0 : Number(after) + 1);
        if (later.length > 0 || waitMs === 0) return later;
        await once(appended, list);
      }
    },
    async claim(key, ms, owner) {
      const isFree = [null, owner].includes(textOf(key));
      if (isFree) await set(key, owner, ms);
      return isFree;
    },
    take: async () => 0,
    get: async (key) => textOf(key),
    set,
    keep: (_, key, text, ms) => set(key, text, ms),
    info: async () => 'maxmemory_policy:noeviction',
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { state, pass };
}

/** A replica, when it has read the store. */
async function replicaOf(state: SharedState, namespace: string) {
  const options = { namespace, cacheBytes: 1_000, once: 'on' as const, tokens: null, log: () => {} };
  const { replicas, start } = createReplicas(state, options);
  await start(60_000);
  return replicas;
}

it('replicas of one name share claims for their time, texts and ended sessions; servers of another name do not', async () => {
  const { state, pass } = memoryState();
  const [a, b] = [await replicaOf(state, 'one'), await replicaOf(state, 'one')];
  const other = await replicaOf(state, 'two');
  expect([await a.markUsed('t', 60_000), await b.markUsed('t', 60_000)]).toEqual([first, used]);
  expect(await other.markUsed('t', 60_000)).toEqual(first);
  await a.set('answer', 'text', 60_000);
  expect([await b.get('answer'), await other.get('answer')]).toEqual(['text', null]);
  pass(59_999);
  expect([await b.markUsed('t', 60_000), await b.get('answer')]).toEqual([used, 'text']);
  pass(1);
  expect([await b.markUsed('t', 60_000), await b.get('answer')]).toEqual([first, null]);

  const ended: string[] = [];
  const endedElsewhere: string[] = [];
  b.follow((id) => ended.push(id));
  other.follow((id) => endedElsewhere.push(id));
  await state.append('market-mcp:one:ended-sessions', ['x'.repeat(101)], 10);
  await a.endSession('first');
  await other.endSession('of the other');
  await expect.poll(() => ended).toEqual(['first']);
  await expect.poll(() => endedElsewhere).toEqual(['of the other']);
});

it('a session that ends while the store does not answer ends in the other replicas when it does', async () => {
  const { state } = memoryState();
  let isLost = true;
  const append: SharedState['append'] = async (...args) => {
    if (!isLost) return state.append(...args);
    isLost = false;
    throw new Error('connection lost');
  };
  const [a, b] = [await replicaOf({ ...state, append }, 'one'), await replicaOf(state, 'one')];
  const ended: string[] = [];
  b.follow((id) => ended.push(id));
  await a.endSession('first');
  await a.endSession('second');
  await expect.poll(() => ended).toEqual(['first', 'second']);
});

/** The authentication of a replica whose store answers each claim so. */
function authentication(
  once: 'on' | 'strict',
  claims: (KeyUse | null)[],
  onRefusal: (line: object) => void = () => {},
) {
  const rules = {
    ...{
      ...generic.token,
      once,
      issuer,
      audience,
      audienceFrom: 'PLATFORM_AUDIENCE',
      maxLifetimeSeconds: 1_200,
    },
    keys: {
      initial: { key: createPublicKey(platformKey).export({ format: 'jwk' }), name: 'the test' },
      jwksUrl: null,
    },
  };
  const markUsed = async () => claims.shift() as KeyUse | null;
  return createAuthenticator(rules, (_, line = {}) => onRefusal(line), false, { markUsed });
}

it('while the store does not answer, "on" accepts a token once, "strict" later, once the store has answered', async () => {
  const authorization = `Bearer ${await token()}`;
  const admitted = ({ identify }: ReturnType<typeof authentication>) =>
    admissionOf(identify({ authorization }));
  const on = authentication('on', [null]);
  expect([await admitted(on), await admitted(on)]).toEqual(['admitted', 'denied']);
  const strict = authentication('strict', [null, null, first]);
  const all = [
    await admitted(strict),
    await admitted(strict),
    await admitted(strict),
    await admitted(strict),
  ];
  expect(all).toEqual(['unknown', 'unknown', 'admitted', 'denied']);
  const elsewhere = authentication('strict', [null, used]);
  expect([await admitted(elsewhere), await admitted(elsewhere)]).toEqual(['unknown', 'denied']);
});

const since = Math.floor(Date.now() / 1000);
const tolerance = generic.token.clockToleranceSeconds;

it.each([
  ['that was issued at the end of the tolerance', since + tolerance, `iat ${since + tolerance}`],
  ['that was issued before', since - 60, `iat ${since - 60}`],
  ['without iat', undefined, 'no iat'],
])('after the store may have lost tokens, "strict" denies each time a token %s', async (_, iat, got) => {
  const lines: object[] = [];
  const reasons: unknown[] = [];
  const onRefused = (message: unknown) => void reasons.push(message);
  refusals.subscribe(onRefused);
  onTestFinished(() => void refusals.unsubscribe(onRefused));
  const claims = [true, true, false].map((isFirst) => ({ isFirst, lostBeforeSeconds: since }));
  const { identify } = authentication('strict', claims, (line) => void lines.push(line));
  const authorization = `Bearer ${await token({ iat, exp: since + 120 })}`;
  for (let time = 0; time < 3; time++) {
    expect(await admissionOf(identify({ authorization }))).toBe('denied');
  }
  const line = {
    reason: 'may have run before: the store of used tokens may have lost it (TOKEN_ONCE=strict)',
    expected: `iat after ${since + tolerance}`,
    got,
    request: 'id',
  };
  expect(lines).toEqual([line, line, line]);
  expect(reasons).toEqual(Array.from({ length: 3 }, () => ({ reason: 'may have run before' })));
});

it('after the store may have lost tokens, "strict" accepts a token of the next second once', async () => {
  const claims = [{ isFirst: true, lostBeforeSeconds: since }];
  const { identify } = authentication('strict', claims);
  const authorization = `Bearer ${await token({ iat: since + tolerance + 1, exp: since + 120 })}`;
  const admit = () => admissionOf(identify({ authorization }));
  expect([await admit(), await admit()]).toEqual(['admitted', 'denied']);
});

it('a server with "strict" refuses to start without a store', async () => {
  await expect(start({ env: { TOKEN_ONCE: 'strict', STATE_URL: 'redis://localhost' } })).rejects.toThrow(
    /^TOKEN_ONCE: "strict" needs a store/,
  );
});
