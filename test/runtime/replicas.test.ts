import { expect, it } from 'vitest';
import { createReplicas, type SharedState } from '../../packages/runtime/src/replicas.ts';
import { readingsOf } from '../../packages/runtime/src/server/readings.ts';

it('works alone, and says so, if the store accepts commands at the start and never answers', async () => {
  const silent = () => new Promise<never>(() => {});
  const state: SharedState = {
    append: silent,
    read: silent,
    claim: silent,
    take: silent,
    get: silent,
    set: silent,
  };
  const lines: unknown[] = [];
  const log = (event: string, facts?: object) => void lines.push({ event, ...facts });
  const { replicas, start } = createReplicas(state, 'test', log);
  await start(50);
  expect(lines).toEqual([{ event: 'state', shared: false, reason: 'no answer in 50 ms' }]);
  expect(await replicas.claim('token', 1_000)).toBe(true);
  expect(readingsOf('shared')).toEqual([{ value: 0 }]);
});
