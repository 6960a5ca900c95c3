import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProject } from '../runtime/built.ts';
import { argumentAttacks } from './arguments.ts';
import { attack } from './attacker.ts';
import { callHonestly, startVictim, type Victim } from './victim.ts';

/** With a heap of 512 MB. */
const maxResidentMegabytes = 350;
const attackingCalls = process.env.NIGHTLY || process.env.ATTACKS_PAGE ? 3 : 1;

let project: ReturnType<typeof buildProject>;
beforeAll(() => {
  project = buildProject(join(import.meta.dirname, 'tools.ts'));
});
afterAll(() => project.remove());

/** Sends a request and returns the result of its call. */
async function answerTo(victim: Victim, text: string) {
  const socket = await attack(victim.port);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  socket.write(text.replace('Host: localhost', 'Host: localhost\r\nConnection: close'));
  await once(socket, 'close');
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).result;
}

test.each(argumentAttacks)(
  '$name: the call is refused, and all other calls are answered',
  async (scenario) => {
    // A busy machine is no reason to refuse a call.
    const victim = await startVictim(project.directory, { MAX_LOOP_DELAY_MS: '600000' });
    try {
      const attacked = (async () => {
        for (let call = 0; call < attackingCalls; call++) {
          const { parts } = await scenario.flood(victim, 'sessions');
          const { structuredContent } = await answerTo(victim, parts[0]?.[0] ?? '');
          expect(structuredContent.error).toBe('INVALID_ARGUMENTS');
          await delay(1_000); // one a second
        }
      })();
      const honest = await callHonestly(victim, attacked);
      expect(victim.isAlive()).toBe(true);
      expect(victim.peakMegabytes()).toBeLessThanOrEqual(maxResidentMegabytes);
      expect(honest.failed).toBe(0);
      expect(honest.times.length).toBeGreaterThan(0);
    } finally {
      await victim.kill();
    }
  },
);
