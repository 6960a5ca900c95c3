import { isObject } from '../json.ts';
import type { Problem } from '../model.ts';
import type { Probe } from '../probe/probe.ts';
import { NotRun } from '../report/not-run.ts';
import type { Exit, Instance } from '../target.ts';
import { answerProblems } from './expect.ts';
import {
  audienceProblems,
  callOf,
  lastOutput,
  productionInstance,
  secondInstance,
  startsInstances,
  waitForExit,
} from './instance.ts';
import { type LiveRule, problemsAt, should } from './rule.ts';

/** More time than a server may take to finish its calls. */
const timeoutMs = 20_000;

/** How the server stops. */
export const stopRules: readonly LiveRule[] = [
  {
    ...should('process.terminate', 'common to all container platforms'),
    title: 'SIGTERM shuts the server down gracefully',
    turn: 'separate',
    controls: [startsInstances],
    fix: 'On SIGTERM, stop listening, finish the running calls, then exit with status 0.',
    check: async (probe) => {
      await audienceProblems(probe);
      const instance = await productionInstance(probe);
      if (!instance.healthy) throw NotRun.by('production');
      instance.signal('SIGTERM');
      return orderlyProblems(instance, await waitForExit(instance, timeoutMs));
    },
  },
  {
    ...should('process.terminate-during-call', 'common to all container platforms'),
    title: 'a call that runs when SIGTERM arrives is still answered',
    turn: 'separate',
    mustAnswer: true,
    controls: [startsInstances, answersOnInstance],
    fix: 'On SIGTERM, stop listening, finish the running calls, then exit with status 0.',
    check: interruptedCallProblems,
  },
];

/** A call that nothing interrupts is answered: one that ends the process proves nothing. */
async function answersOnInstance(probe: Probe): Promise<undefined> {
  await callOf(probe, await secondInstance(probe), await probe.token());
}

/** The call is running as soon as its headers have arrived; its body is sent after the signal. */
async function interruptedCallProblems(probe: Probe): Promise<readonly Problem[]> {
  const instance = await secondInstance(probe);
  const answer = await callOf(probe, instance, await probe.token(), {
    onHeadersRead: () => instance.signal('SIGTERM'),
  });
  const [value] = answer.values;
  const hasResult = answer.status === 200 && isObject(value) && value.result !== undefined;
  return [
    ...answerProblems(hasResult, 'tools/call', 'a result', answer),
    ...orderlyProblems(instance, await waitForExit(instance, timeoutMs)),
  ];
}

function orderlyProblems(instance: Instance, { code, signal }: Exit): readonly Problem[] {
  const actual = code === null ? `ended by ${signal}` : `exit status ${code}: ${lastOutput(instance)}`;
  return problemsAt(code === 0, 'SIGTERM', 'exit status 0', actual);
}
