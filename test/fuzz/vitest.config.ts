import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { ownSource } from '../own-source.ts';

if (!process.env.TEST_SEED) process.env.TEST_SEED = String(randomInt(2 ** 31));
console.log(`TEST_SEED=${process.env.TEST_SEED}`);

/** A separate command, because it takes ten minutes and writes into docs/evidence/reliability.md. */
export default defineConfig({
  ...ownSource,
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/fuzz/long.test.ts'],
    testTimeout: 0,
    hookTimeout: 300_000,
    env: { npm_command: '' },
  },
});
