import { expect, it } from 'vitest';
import { checkServer, failuresOf } from './check.ts';
import { endsAfter, endsAfterMs } from './servers/session.ts';
import type { Variant } from './variant.ts';

/** Loses all sessions after so many requests, as a server that is restarted. */
function restartsEvery(requests: number): Variant {
  let count = 0;
  let generation = 0;
  const generations = new Map<string, number>();
  return {
    answer: (good) => (request) => {
      if (++count % requests === 0) generation += 1;
      return good(request);
    },
    open: (good) => () => {
      const id = good();
      generations.set(id, generation);
      return id;
    },
    isKnown: (good) => (id) => good(id) && generations.get(id ?? '') === generation,
  };
}

const servers: readonly (readonly [string, () => Variant])[] = [
  ['after 5 requests', () => endsAfter(5)],
  ['after 12 requests', () => endsAfter(12)],
  ['after 30 requests', () => endsAfter(30)],
  ['whenever 40 requests came', () => restartsEvery(40)],
  ['after 3 seconds, in which 30 requests come', () => endsAfterMs(3_000, 100)],
];

it.concurrent.each(servers)(
  'a server that loses a session %s fails only session.lasting',
  async (_, create) => {
    const { rules } = await checkServer(create());
    expect(failuresOf(rules)).toEqual(['session.lasting']);
  },
);

/** Loses all sessions once, before this request. */
function restartsOnce(requestNumber: number): Variant {
  let count = 0;
  const openSessions = new Set<string>();
  return {
    answer: (good) => (request) => {
      if (++count === requestNumber) openSessions.clear();
      return good(request);
    },
    open: (good) => () => {
      const id = good();
      openSessions.add(id);
      return id;
    },
    isKnown: (good) => (id) => good(id) && openSessions.has(id ?? ''),
  };
}

/** In each phase of a check, before session.lasting itself. */
const restarts = [160, 220, 300, 400];

it.concurrent.each(restarts)(
  'a server that loses its sessions once, at request %i, fails no rule',
  async (at) => {
    const { rules } = await checkServer(restartsOnce(at));
    expect(failuresOf(rules)).toEqual([]);
  },
);

it.concurrent('the loss of a session that was in use is noted with its age', async () => {
  const { rules } = await checkServer(restartsOnce(40));
  expect(failuresOf(rules)).toEqual([]);
  const { status, note } = rules.find(({ id }) => id === 'session.lasting') ?? {};
  expect([status, note]).toEqual([
    'pass',
    expect.stringMatching(/^the server lost a session after \d+\.\d s/),
  ]);
});
