import { initializesAgain, lists } from '../controls.ts';
import { NotRun } from '../not-run.ts';
import { outputSchemaOf } from '../probe/cases.ts';
import { Unanswered } from '../probe/receive.ts';
import { failureProblems, rehearse, textProblems, thrownProblems } from '../probe/rehearsal.ts';
import { judgeEach, type LiveRule, unless } from '../rule.ts';
import { ofCall } from './result.ts';

const source = 'app contribute/actions.ts';

/** The marketplace's submission test, replayed: the SDK's client, one token, every tool in order. */
export const submissionRules: readonly LiveRule[] = [
  {
    id: 'submission.calls',
    level: 'must',
    title: 'the submission test calls every tool without an exception',
    source,
    fact: true,
    fix: 'Let every tool answer its sample arguments: default, examples[0], enum[0], else "test", 1 or true.',
    controls: [initializesAgain, lists],
    silence: 'breaks',
    check: async (probe) => {
      const { steps } = await rehearse(probe);
      const problems = steps.flatMap((step) => thrownProblems(step).map((problem) => ofCall(step, problem)));
      if (steps.some(({ silent }) => silent)) throw new Unanswered(problems);
      return problems;
    },
  },
  {
    id: 'submission.succeeds',
    level: 'must',
    title: 'no call of the submission test ends in a failure',
    source,
    fact: true,
    fix: 'Give the parameters a default or examples[0] with which the tool succeeds: the test calls it with those alone.',
    controls: [initializesAgain, lists],
    check: async (probe) => {
      const { steps } = await rehearse(probe);
      const answered = steps.filter(({ thrown }) => thrown === undefined);
      return judgeEach(answered, 'no call of the test gave a result (submission.calls)', (step) =>
        failureProblems(step).map((problem) => ofCall(step, problem)),
      );
    },
  },
  {
    id: 'submission.text',
    level: 'must',
    title: 'the text of every result in the submission test is JSON that fits the outputSchema',
    source,
    fact: true,
    fix: 'Put JSON.stringify(structuredContent) into content[0].text: the test reads the text, in a failure too.',
    controls: [initializesAgain, lists],
    check: async (probe) => {
      const { steps } = await rehearse(probe);
      if (steps.some(({ tool }) => !outputSchemaOf(tool))) {
        throw new NotRun('a tool has no outputSchema that compiles (output.object-root, output.compiles)');
      }
      const answered = steps.filter(({ thrown }) => thrown === undefined);
      return judgeEach(answered, 'no call of the test gave a result (submission.calls)', (step) =>
        textProblems(step).map((problem) => ofCall(step, problem)),
      );
    },
  },
  {
    id: 'submission.in-time',
    level: 'must',
    title: 'the submission test ends before its token does',
    source,
    fact: true,
    fix: 'Make the tools faster: one token of limited life serves the whole sequence.',
    controls: [initializesAgain, lists],
    check: async (probe) => {
      const { submissionMs } = probe.profile.limits;
      if (submissionMs === null) throw new NotRun('the platform sets no limit');
      const { ms, steps } = await rehearse(probe);
      if (ms <= submissionMs && steps.some(({ silent }) => silent)) {
        throw new NotRun('a call of the test was not answered (submission.calls)', 'unanswered');
      }
      if (steps.every(({ thrown }) => thrown !== undefined)) {
        throw new NotRun('no call of the test gave a result (submission.calls)');
      }
      return unless(ms <= submissionMs, {
        expected: `at most ${submissionMs} ms for all tools`,
        actual: `${Math.round(ms)} ms`,
      });
    },
  },
];
