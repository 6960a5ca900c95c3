import { expect, test } from 'vitest';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { randomFrom, seed } from '../random.ts';
import { start } from '../runtime/support.ts';
import { fuzz, fuzzPaid } from './fuzz.ts';
import { tools } from './tools.ts';

interface Global {
  readonly runs: { readonly [note: string]: number };
}

async function startFuzzed() {
  const signer = await createSigner(generic.token, 'https://tools.example/mcp');
  const env = {
    NODE_ENV: 'production',
    PLATFORM_ISSUER: signer.issuer,
    PLATFORM_PUBLIC_KEY: signer.publicKey,
    PLATFORM_AUDIENCE: signer.audience,
  };
  const { port, events } = await start({ tools, env });
  return { port, signer, incidents: () => events().filter(({ event }) => event === 'incident') };
}

test('1,500 unpaid requests run no tool and cause no server error', async () => {
  const { port, signer, incidents } = await startFuzzed();
  const findings = await fuzz({ port, signer }, randomFrom(seed), (sent) => sent < 1_500);
  expect(findings.failures, `TEST_SEED=${seed}`).toEqual([]);
  expect((globalThis as unknown as Global).runs).toEqual({ paid: findings.paid });
  expect(findings.statuses.get('401')).toBeGreaterThan(100);
  expect(findings.statuses.get('200')).toBeGreaterThan(10);
  expect(incidents()).toEqual([]);
});

test('1,500 changed paid calls run the tool at most once each and cause no server error', async () => {
  const { port, signer, incidents } = await startFuzzed();
  const { paid = 0 } = (globalThis as unknown as Global).runs;
  const findings = await fuzzPaid({ port, signer }, randomFrom(seed), (sent) => sent < 1_500);
  expect(findings.failures, `TEST_SEED=${seed}`).toEqual([]);
  const runs = Object.values((globalThis as unknown as Global).runs).reduce((sum, one) => sum + one) - paid;
  expect(findings.answered).toBeGreaterThan(10);
  expect(runs).toBeGreaterThanOrEqual(findings.answered);
  expect(runs).toBeLessThanOrEqual(findings.sent);
  expect(incidents()).toEqual([]);
});
