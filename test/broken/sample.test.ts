import { expect, it } from 'vitest';
import { randomFrom, seed } from '../random.ts';
import { checkServer, failuresOf } from './check.ts';
import { brokenServers } from './servers.ts';

const size = 20;
const random = randomFrom(seed);
const sample = brokenServers
  .map((server) => ({ server, order: random() }))
  .sort((a, b) => a.order - b.order)
  .slice(0, size)
  .map(({ server }) => server);

// All of them: broken.test.ts, in `npm run test:more`.
it.concurrent.each(sample)('a server fails $rule when it breaks it', async ({ rule, fails, what }) => {
  const report = await checkServer(what, rule);
  expect(failuresOf(report.rules)).toEqual(fails);
});
