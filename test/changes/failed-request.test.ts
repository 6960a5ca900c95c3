import { describe, expect, it } from 'vitest';
import { startImport } from '../../src/changes/import-run.ts';
import { toolsFromRequests } from '../../src/changes/request-tools.ts';
import { requestAnswers } from '../../src/questions/tool-answers.ts';
import { startApi } from '../api-server.ts';

/** Asks twice in one run for the tools of a request to an API that fails. Returns the number of requests that arrive. */
async function requestsOfTwoAttempts(options: string): Promise<number> {
  let received = 0;
  const { origin } = await startApi(() => {
    received += 1;
    return { status: 500, body: { error: 'busy' } };
  });
  const answers = requestAnswers({ fromRequest: [`curl ${origin}/orders ${options}`], send: true });
  const run = startImport();
  for (let attempt = 0; attempt < 2; attempt += 1)
    await expect(toolsFromRequests(answers, run)).rejects.toThrow('HTTP 500');
  return received;
}

describe('a request that an API answers with an error', () => {
  it('is sent only once in a run if it may change something', async () => {
    expect(await requestsOfTwoAttempts('--json \'{"amount":1}\'')).toBe(1);
    expect(await requestsOfTwoAttempts('-X DELETE')).toBe(1);
  });

  it('is sent again in the same run if it only reads', async () => {
    expect(await requestsOfTwoAttempts('')).toBe(2);
  });
});
