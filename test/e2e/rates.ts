import type { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { startApi } from '../api-server.ts';
import { type CreateResult, failuresOf, market, scaffold } from './support.ts';
import { answering, inPath, openApi } from './upstreams.ts';

/** An OpenAPI document with one operation, which has a pattern on its argument. */
export const ratesDocument = (address: string) =>
  openApi(address, 'Rates', {
    '/rates/{code}': {
      get: {
        operationId: 'get_rate',
        summary: 'Returns the rate of a currency to the euro. Use it for prices in another currency.',
        parameters: [inPath('code', 'Code of the currency', 'USD', { pattern: '^[A-Z]{3}$' })],
        responses: answering(
          {
            type: 'object',
            required: ['rate'],
            properties: { rate: { type: 'number', description: 'Euros for one unit' } },
          },
          { rate: 0.9 },
        ),
      },
    },
  });

/** Arguments that create the project of `ratesDocument` from a file `api.json`. */
export const fromRates = ['--from-openapi', 'api.json', '--operation', 'get_rate', '--no-check'];

/**
 * Serves the API of `ratesDocument` and a key set, and scaffolds the project beside them.
 *
 * @param keys of the key set at `/jwks`
 * @param flags of its creation
 */
export async function ratesProject(
  root: string,
  keys: readonly object[] = [],
  flags: readonly string[] = [],
) {
  const counts = { asked: 0, keySets: 0 };
  const { origin: address } = await startApi(async ({ target }) => {
    const isKeySet = target === '/jwks';
    counts[isKeySet ? 'keySets' : 'asked'] += 1;
    await setTimeout(50); // later than the next request arrives
    return { body: isKeySet ? { keys } : { rate: 0.9 } };
  });
  writeFileSync(join(root, 'api.json'), JSON.stringify(ratesDocument(address)));
  const { directory }: CreateResult = await scaffold(['rates', ...fromRates, ...flags], { cwd: root });
  return { address, counts, directory };
}

/** The platform of such a project. */
export const platform = { issuer: 'https://platform.example', audience: 'https://rates.example/mcp' };

/** Expects every MUST rule that can run at a URL to pass, with calls of every tool. Returns the number of rules that passed. */
export async function expectChecked(
  origin: string,
  root: string,
  key: KeyObject,
  { issuer, audience } = platform,
): Promise<CheckReport['summary']> {
  const file = join(root, 'platform.pem');
  writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }));
  const known = ['--signing-key', file, '--issuer', issuer, '--audience', audience];
  const args = ['check', `${origin}/mcp`, ...known, '--call', '*', '--json'];
  const { status, stdout, stderr } = await market(args);
  expect(stdout, stderr).toMatch(/^\{/);
  const report: CheckReport = JSON.parse(stdout);
  const failed = failuresOf(report);
  expect([status, report.summary.failed], JSON.stringify(failed)).toEqual([0, 0]);
  expect(report.summary.passed).toBeGreaterThan(200);
  return report.summary;
}
