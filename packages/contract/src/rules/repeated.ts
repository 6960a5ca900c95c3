import { resultOutcome } from '../definition/outcomes.ts';
import type { Problem } from '../model.ts';
import { callsAtOnce, mapConcurrently } from '../wire/concurrency.ts';
import { answeredCalls } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { CallOutcome, Probe } from '../wire/probe.ts';
import { describeCall, type RpcAnswer, saysLimited, silentAnswerOrThrow } from '../wire/rpc.ts';
import { isUnrecorded } from '../wire/unrecorded.ts';
import { mergeLive } from './cases.ts';
import { problemOfCall } from './result.ts';
import { fact, type LiveRule, must } from './rule.ts';

/** How often a call is sent whose outcome varies, and how often its outcome changes if that is no accident of its source. */
const repeats = { calls: 12, changes: 3 } as const;

const idempotent = 'Make the handler idempotent: a repeated call must return the same outcome.';

/** A failure that comes now and then is proven to be a fault of the tool, or only advice. It is looked for in all calls of the run, and repeated. */
export const repeatableRule: LiveRule = mergeLive(
  { title: 'a repeated call has the same outcome', turn: 'last' },
  [
    {
      ...fact(
        'outcome.repeatable',
        'should',
        'app lib/ai/agentic-execution.ts: a step is tried up to three times',
      ),
      title: 'a repeated call has the same outcome',
      fix: idempotent,
      check: (probe) => problemsOf(probe, false),
    },
    {
      ...must('outcome.alternates', 'C§4.1, C§7'),
      title: 'a call does not fail now and then',
      fix: 'Look into the log of the server for the calls that failed: their arguments do not differ.',
      check: (probe) => problemsOf(probe, true),
    },
  ],
);

/** A call with the answers to it, in the order of the calls. */
interface RepeatedOutcome {
  readonly outcome: CallOutcome;
  readonly answers: readonly [RpcAnswer, RpcAnswer, ...RpcAnswer[]];
}

async function problemsOf(probe: Probe, areProven: boolean): Promise<readonly Problem[]> {
  const repeated = await repeatedCalls(probe);
  return repeated
    .filter((call) => isProven(call, probe) === areProven)
    .flatMap((call) => variationProblems(call, probe));
}

/** Each answered call once more, and again and again if it failed now and then. Made once for a probe. @throws NotRun */
function repeatedCalls(probe: Probe): Promise<readonly RepeatedOutcome[]> {
  return probe.once('repeated calls', async () => {
    const first = (await answeredCalls(probe)).filter(({ rpc }) => rpc.response !== undefined);
    if (first.length === 0) throw NotRun.preventedBy('noResponse');
    return mapConcurrently(first, callsAtOnce, async (outcome) => {
      const { name, arguments: args } = outcome;
      const answers: [RpcAnswer, RpcAnswer, ...RpcAnswer[]] = [outcome.rpc, await probe.call(name, args)];
      const { failed, succeeded } = probe.ledger.outcomesOf(name, args);
      const varies = (failed > 0 && succeeded > 0) || changesIn(answers) > 0;
      const mayRepeat = varies && !probe.target.writing?.has(name) && probe.target.mayCallLiveApis !== true;
      while (mayRepeat && answers.length < repeats.calls && changesIn(answers) < repeats.changes)
        answers.push(await probe.call(name, args).catch(silentAnswerOrThrow));
      return { outcome, answers };
    });
  });
}

function variationProblems({ outcome, answers }: RepeatedOutcome, probe: Probe): readonly Problem[] {
  const [first] = answers;
  const { failed, succeeded } = probe.ledger.outcomesOf(outcome.name, outcome.arguments);
  const otherAnswer = answers.find(
    ({ result }) => endingOf(result) !== endingOf(first.result) && !(result && saysLimited(result)),
  );
  // What varied only beside other calls is the fault of the calls that ran together, or of a limit.
  if (!otherAnswer) return [];
  const problem = problemOfCall(outcome, {
    expected: `each time as the first time: ${describeCall(first)}`,
    actual: describeCall(otherAnswer),
  });
  if (failed === 0 || succeeded === 0) return [problem];
  return [{ ...problem, times: { failed, of: failed + succeeded } }];
}

/** Whether the source is not the cause: its responses are recorded, or failures and successes take turns. */
function isProven({ outcome, answers }: RepeatedOutcome, { target, ledger }: Probe): boolean {
  const failures = answers.filter(({ result }) => result?.isError === true);
  if (failures.some(({ http, result }) => http.headers['retry-after'] !== undefined || isUnrecorded(result)))
    return false;
  const { failed, succeeded } = ledger.outcomesOf(outcome.name, outcome.arguments);
  const isRecorded = target.owned !== undefined && target.mayCallLiveApis !== true;
  return changesIn(answers) >= repeats.changes || (isRecorded && failed > 0 && succeeded > 0);
}

/** How often a failure follows a success, or a success a failure. */
function changesIn(answers: readonly RpcAnswer[]): number {
  const results = answers.flatMap(({ result }) => (result && !saysLimited(result) ? [result] : []));
  const failures = results.map(({ isError }) => isError === true);
  return failures.slice(1).filter((isFailure, at) => isFailure !== failures[at]).length;
}

/** How a call ended; undefined if it has no result. */
export function endingOf(result: CallOutcome['result']): ReturnType<typeof resultOutcome> | undefined {
  return result && resultOutcome(result);
}
