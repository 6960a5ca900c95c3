import { expect, test } from 'vitest';
import { generic } from '../../src/contract/platforms/generic.ts';
import { createSigner } from '../../src/contract/signer.ts';
import { randomFrom, seed } from '../random.ts';
import { start } from '../templates/support.ts';
import { fuzz } from './fuzz.ts';
import { tools } from './tools.ts';

test('1,500 unpaid requests run no tool and cause no server error', async () => {
  const signer = await createSigner(generic.token, 'https://tools.example/mcp');
  const env = {
    NODE_ENV: 'production',
    PLATFORM_ISSUER: signer.issuer,
    PLATFORM_PUBLIC_KEY: signer.publicKey,
    PLATFORM_AUDIENCE: signer.audience,
  };
  const { port, events } = await start({ tools, env });
  const findings = await fuzz({ port, signer }, randomFrom(seed), (sent) => sent < 1_500);
  expect(findings.failures, `TEST_SEED=${seed}`).toEqual([]);
  expect((globalThis as { runs?: object }).runs).toEqual({ paid: findings.paid });
  expect(findings.statuses.get('401')).toBeGreaterThan(100);
  expect(findings.statuses.get('200')).toBeGreaterThan(10);
  expect(events().filter(({ event }) => event === 'incident')).toEqual([]);
});
