import { initializesAgain, listsInClient } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import { Unanswered } from '../wire/receive.ts';
import { failedStep, fixes, rehearse, thrownProblems, unparsedText } from '../wire/rehearsal.ts';
import { listedOutputSchema } from '../wire/tool-cases.ts';
import { listProblems } from './discovery.ts';
import { problemOfCall } from './result.ts';
import { fact, type LiveRule, problemsOfEach, problemUnless } from './rule.ts';

const commonMembers = (id: string) =>
  ({
    ...fact(id, 'must', 'app contribute/actions.ts'),
    turn: 'opening',
    controls: [initializesAgain, listsInClient],
  }) as const;

/** The marketplace's submission test: the SDK's client calls every tool in order, with one token. */
export const submissionRules: readonly LiveRule[] = [
  {
    ...commonMembers('submission.calls'),
    title: 'the submission test can call every tool',
    fix: fixes.thrown,
    mustAnswer: true,
    check: async (probe) => {
      const { steps, rejected } = await rehearse(probe);
      if (rejected !== undefined) return listProblems(rejected);
      const problems = steps.flatMap((step) =>
        thrownProblems(step).map((problem) => problemOfCall(step, problem)),
      );
      if (steps.some(({ silent }) => silent)) throw new Unanswered(problems);
      return problems;
    },
  },
  {
    ...commonMembers('submission.succeeds'),
    title: 'no call of the submission test ends in a failure',
    fix: fixes.failure,
    check: async (probe) => {
      const { steps } = await rehearse(probe);
      const answered = steps.filter(({ thrown }) => thrown === undefined);
      return problemsOfEach(answered, NotRun.preventedBy('noRehearsal'), (step) =>
        failedStep(step).map((problem) => problemOfCall(step, problem)),
      );
    },
  },
  {
    ...commonMembers('submission.text'),
    title: 'the text of every result in the submission test is JSON that fits the outputSchema',
    fix: fixes.text,
    check: async (probe) => {
      const { steps } = await rehearse(probe);
      if (steps.some(({ tool }) => !listedOutputSchema(tool))) {
        throw NotRun.preventedBy('noOutputSchema');
      }
      const answered = steps.filter(({ thrown }) => thrown === undefined);
      return problemsOfEach(answered, NotRun.preventedBy('noRehearsal'), (step) =>
        unparsedText(step).map((problem) => problemOfCall(step, problem)),
      );
    },
  },
  {
    ...commonMembers('submission.in-time'),
    title: 'the submission test ends before its token expires',
    fix: 'Make the tools faster. The test calls all of them with one token that expires.',
    check: async (probe) => {
      const { submissionMs } = probe.profile.limits;
      if (submissionMs === null) throw NotRun.because('inapplicable', 'the platform profile sets no limit');
      const { ms, steps } = await rehearse(probe);
      if (ms <= submissionMs && steps.some(({ silent }) => silent)) {
        throw NotRun.because('unanswered', 'a call of the test was not answered (see submission.calls)');
      }
      if (steps.every(({ thrown }) => thrown !== undefined)) {
        throw NotRun.preventedBy('noRehearsal');
      }
      return problemUnless(ms <= submissionMs, {
        expected: `at most ${submissionMs} ms for all tools`,
        actual: `${Math.round(ms)} ms`,
      });
    },
  },
];
