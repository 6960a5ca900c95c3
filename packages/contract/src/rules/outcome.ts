import { lacksData, saysNothingFound } from '../definition/no-data.ts';
import { blankResult, fixedValue, hasEmptySignal } from '../definition/outcomes.ts';
import { isBlank } from '../json/blank.ts';
import { groupBy, isObject, objectOr, shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { missingAnswerOf } from '../wire/client.ts';
import {
  answeredCalls,
  answeredOf,
  initializesAgain,
  ListRejected,
  listingClient,
  lists,
  listsInClient,
  orRejection,
} from '../wire/controls.ts';
import { withoutSignals } from '../wire/explored-calls.ts';
import { type InventedCall, inventedCalls } from '../wire/invented-calls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { CallOutcome } from '../wire/probe.ts';
import { NotSent, Unanswered } from '../wire/receive.ts';
import { describe, describeCall, isUnsent, resultText } from '../wire/rpc.ts';
import { isUnrecorded, unrecordedFix } from '../wire/unrecorded.ts';
import { mergeLive } from './cases.ts';
import { listProblems } from './discovery.ts';
import { searchesList } from './invented-text-findings.ts';
import { generatedEmptySignal, inventedRow } from './pairs.ts';
import { endingOf } from './repeated.ts';
import { noFailure, problemOfCall } from './result.ts';
import { fact, type LiveRule, must, problemsOfEach, problemUnless, should, valueProblems } from './rule.ts';
import { textProblems } from './schema-problems.ts';

/** A person waits so long for an answer that is called instant. */
const instantMs = 5_000;
/** A server whose ping takes longer is slow, or far away. */
const pingMs = 1_000;

/** The three outcomes of a call, as the author expects them in a tool's examples; last, an empty result that is tried. */
export const outcomeRules: readonly LiveRule[] = [
  expects('found', {
    id: 'outcome.found',
    title: 'every example that expects data gets data',
    source: 'C§1.7, C§4.1',
    fix: 'Change the handler so that it returns data for these arguments, or change what the example expects.',
    fixes: { empty: 'Give the example arguments for which data exists, or set its expect to "empty".' },
  }),
  expects('empty', {
    id: 'outcome.empty',
    title: 'every example that expects an empty result gets one, with its signal',
    source: 'C§2.2, C§7',
    fix: 'Return searchExhausted: true or noResultsReason when nothing is found. An empty result is not a failure.',
    fixes: {
      found:
        'If data exists for these arguments, set expect to "found" or use other arguments. If not, return searchExhausted: true or noResultsReason.',
    },
  }),
  expects('fail', {
    id: 'outcome.fail',
    title: 'every example that expects a failure gets one',
    source: 'C§2.2, C§7',
    fix: 'Return a result with isError: true for these arguments, or change what the example expects.',
    fixes: {},
  }),
  {
    ...must('outcome.failure-payload', 'C§2.2, C§7'),
    title: 'every failure of a tool has a code and a message',
    fix: 'Return isError: true with a text item and structuredContent {error: <code>, message: <text>}.',
    check: async (probe) => {
      const failures = (await answeredCalls(probe)).filter(({ result }) => result?.isError === true);
      return problemsOfEach(failures, noFailure(), failureProblems);
    },
  },
  {
    ...fact('outcome.in-time', 'must', 'profile limits.callMs'),
    title: 'every call is answered in time',
    measures: true,
    fix: 'Give every wait in the handler a timeout that is shorter than the limit of the platform.',
    mustAnswer: true,
    controls: [lists],
    check: async (probe) => {
      const { callMs } = probe.profile.limits;
      const outcomes = await probe.outcomes();
      const lateOutcomes = outcomes.filter(({ rpc: { http } }) => http.ms > callMs && !isUnsent(http));
      const problems = lateOutcomes.map(({ name, arguments: args, rpc: { http } }) => ({
        tool: name,
        path: `tools/call with ${shorten(args)}`,
        expected: `an answer within ${callMs} ms`,
        actual: Number.isFinite(http.ms) ? `${Math.round(http.ms)} ms` : describe(http),
      }));
      if (lateOutcomes.some(({ rpc }) => !Number.isFinite(rpc.http.ms))) throw new Unanswered(problems);
      const unsent = outcomes.find(({ rpc }) => isUnsent(rpc.http));
      if (unsent && problems.length === 0) throw new NotSent(unsent.rpc.http.body);
      if (problems.length > 0 || outcomes.some(({ rpc }) => rpc.response)) return problems;
      throw NotRun.preventedBy('noResponse');
    },
  },
  {
    ...fact('outcome.instant', 'should', 'profile toolMeta; docs guides/tool-metadata.mdx'),
    title: `a tool with the latencyClass instant answers within ${instantMs / 1_000} seconds`,
    turn: 'last',
    measures: true,
    fix: 'Declare the latencyClass slow, or answer from data that the server already has.',
    check: async (probe) => {
      const { toolMeta } = probe.profile;
      if (objectOr(toolMeta?.properties).latencyClass === undefined) return [];
      const isSlow = ({ tool, name, result, rpc }: CallOutcome): boolean =>
        objectOr(tool._meta).latencyClass === 'instant' &&
        !probe.target.writing?.has(name) &&
        result !== undefined &&
        rpc.http.ms > instantMs;
      const outcomes = await probe.outcomes();
      if (!outcomes.some(({ rpc }) => rpc.response)) throw NotRun.preventedBy('noResponse');
      const slowCalls = groupBy(outcomes.filter(isSlow), ({ name }) => name);
      const problems: Problem[] = [];
      for (const [call] of slowCalls.values()) {
        const times = [call.rpc.http.ms];
        while (times.length < 3) times.push((await probe.call(call.name, call.arguments)).http.ms);
        const [, median = 0] = times.toSorted((left, right) => left - right);
        if (median <= instantMs || (await probe.rpc('ping')).http.ms >= pingMs) continue;
        const expected = `an answer within ${instantMs} ms, as latencyClass says`;
        problems.push(
          problemOfCall(call, { expected, actual: `${Math.round(median)} ms, the median of 3 calls` }),
        );
      }
      return problems;
    },
  },
  {
    ...must('outcome.client', 'C§1.2, C§2.2'),
    title: 'the client of the MCP SDK accepts the result of every call',
    fix: 'Change the result or the outputSchema as the message says. The client validates results, formats included.',
    turn: 'opening',
    controls: [initializesAgain, listsInClient],
    check: async (probe) => {
      const results = (await answeredCalls(probe)).filter(({ result }) => result !== undefined);
      if (results.length === 0) throw NotRun.preventedBy('noResult');
      const session = await orRejection(listingClient(probe, () => probe.payment()));
      if (session instanceof ListRejected) return listProblems(session.message);
      try {
        const problems: Problem[] = [];
        for (const { name, arguments: args } of results) {
          await session.client.callTool({ name, arguments: { ...args } }).catch((error: Error) => {
            const silence = missingAnswerOf(error);
            if (silence) throw silence;
            const problem = { expected: 'a result', actual: error.message };
            problems.push(problemOfCall({ name, arguments: args }, problem));
          });
        }
        return problems;
      } finally {
        await session.close();
      }
    },
  },
  // The generated calls are made last.
  mergeLive({ title: 'a call that finds nothing returns the signal of an empty result', turn: 'last' }, [
    {
      ...should('outcome.empty-signal', 'C§2.2, C§7'),
      title: 'a call that finds nothing returns the signal of an empty result',
      fix: 'Return searchExhausted: true or noResultsReason when nothing is found. Otherwise the platform asks again.',
      check: async (probe) => {
        const calls = await inventedCalls(probe);
        const silentCall = calls.find(({ rpc }) => rpc.http.status === 0);
        if (silentCall)
          throw NotRun.because('unanswered', `a call with invented texts: ${silentCall.rpc.http.body}`);
        return problemsOfEach(
          calls.map(emptyProblems).filter((problems) => problems !== undefined),
          NotRun.because('inapplicable', 'every call with invented texts found something'),
          (problems) => problems,
        );
      },
    },
    generatedEmptySignal,
    inventedRow,
  ]),
];

type Ending = NonNullable<CallOutcome['expect']>;

const endings: { readonly [ending in Ending]: string } = {
  found: 'data',
  empty: 'an empty result: searchExhausted: true or noResultsReason, and no error',
  fail: 'a failure: isError: true',
};

/** The problems of a failure (C§7); none if the result is not a failure. */
export function failureProblems(outcome: CallOutcome): readonly Problem[] {
  const { result } = outcome;
  if (result?.isError !== true) return [];
  const { content, structuredContent } = result;
  const payload = objectOr(structuredContent);
  const cause = fixFirst(outcome.tool, 'output.holds-empty');
  return [
    ...valueProblems(resultText(content) !== undefined, 'result.content[0]', 'a text item', content),
    ...['error', 'message'].flatMap((field) =>
      textProblems(payload, field, `result.structuredContent.${field}`),
    ),
  ].map((problem) => problemOfCall(outcome, { ...problem, ...cause }));
}

/** Points from the failed call to its cause: a schema that does not allow a result without data. */
function fixFirst({ outputSchema }: JsonObject, rule: string): Pick<Problem, 'fix'> {
  if (!isObject(outputSchema) || blankResult(outputSchema, undefined, fixedValue).ok) return {};
  return { fix: `Fix ${rule} first: the outputSchema does not allow this result.` };
}

interface ExpectedRule extends Omit<LiveRule, 'check' | 'level'> {
  /** A more specific fix for a call that ended in another way. */
  readonly fixes: { readonly [ending in Ending]?: string };
}

function expects(expect: Ending, { fixes, ...text }: ExpectedRule): LiveRule {
  return {
    ...text,
    level: 'must',
    check: async (probe) => {
      const concerned = (await probe.outcomes()).filter((outcome) => outcome.expect === expect);
      if (concerned.length === 0)
        throw NotRun.because('example', `no tool has an example that expects "${expect}"`);
      const answered = answeredOf(concerned);
      const problems = answered.flatMap((outcome) => {
        const ending = endingOf(outcome.result);
        const fix = isUnrecorded(outcome.result) ? unrecordedFix : ending && fixes[ending];
        return problemUnless(ending === expect, {
          expected: endings[expect],
          actual: describeCall(outcome.rpc),
          ...(fix !== undefined && { fix }),
          ...(expect === 'empty' && ending === 'fail' && fixFirst(outcome.tool, 'output.holds-empty')),
        }).map((problem) => problemOfCall(outcome, problem));
      });
      if (problems.length > 0 || answered.length === concerned.length) return problems;
      throw NotRun.because('unanswered', `a call that expects "${expect}" was not answered`);
    },
  };
}

/** The problems of a call that has found nothing; undefined if it has found something, or has failed for another reason. */
function emptyProblems(call: InventedCall): readonly Problem[] | undefined {
  const { tool, arguments: args, rpc, result, text } = call;
  const problem = problemOfCall(call, {
    expected: 'an empty result with searchExhausted: true or noResultsReason',
    actual: describeCall(rpc),
  });
  if (result?.isError === true) {
    const isEmptyList = searchesList(call) && saysNothingFound(resultText(result.content) ?? '');
    if (isEmptyList) return [problem];
    return undefined;
  }
  const data = result?.structuredContent;
  if (!isObject(data)) return undefined;
  if (hasEmptySignal(data)) return [];
  const isEmpty =
    lacksData(objectOr(tool.outputSchema), data, args) || isBlank(withoutSignals(data), [null, '', 0, text]);
  if (isEmpty) return [problem];
  return undefined;
}
