import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

// Sends unpaid requests to a generated server, for ten minutes or `--minutes N`, and writes the results
// into docs/evidence/reliability.md. TEST_SEED repeats the random choices of a run.

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 1_440)) {
  console.error(`--minutes: expected a number from above 0 to 1440, got ${JSON.stringify(values.minutes)}`);
  process.exit(2);
}
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'evidence/vitest.config.ts', '--project', 'fuzz'],
  {
    stdio: 'inherit',
    env: { ...process.env, FUZZ_MINUTES: String(minutes) },
  },
);
process.exit(status ?? 1);
