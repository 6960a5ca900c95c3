import { shorten } from '../json/json.ts';
import type { JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import {
  areSlower,
  type CallPair,
  callPairs,
  commonLeaves,
  leavesOf,
  type PairAnswer,
  type TimedCall,
} from '../wire/call-pairs.ts';
import { lists } from '../wire/controls.ts';
import { exploreTools, type FoundCall, foundCalls } from '../wire/explored-calls.ts';
import { furtherInventedCalls, inventedCalls } from '../wire/invented-calls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { Probe } from '../wire/probe.ts';
import { repeatLines } from '../wire/repeat.ts';
import {
  alwaysExhausted,
  beyondLimit,
  type CallFinding,
  failedEmpty,
  mislabelled,
  oneForAll,
  silentlyEmpty,
} from './call-findings.ts';
import { mergeLive } from './cases.ts';
import { otherDefault } from './defaults.ts';
import { inventedEntry, leakedTexts, listForAnyText, misreadAccents } from './invented-text-findings.ts';
import { beyondBounds, contradicting, unlikeUnits } from './numbers.ts';
import { disorderedEntries } from './order.ts';
import { type LiveRule, must, problemsInParallel, should, withSharedMembers } from './rule.ts';

/** The rule that finds a tool which mixes up its callers. */
export const ownAnswerId = 'explore.own-answer';

const keepApart =
  'Keep what belongs to a request in variables of its handler, not in a module or an object that all requests share.';

const useArguments =
  'Use every argument, and make it a part of the key of a cache. Remove a parameter that has no effect.';

/** What two answers of a tool say about each other. */
export const pairRules = withSharedMembers({ turn: 'last', controls: [lists] }, [
  mergeLive({ title: 'no caller gets the answer or the texts of another one', turn: 'last' }, [
    {
      ...must(ownAnswerId, 'C§1.2, C§3.1'),
      title: 'two callers at once never get the answers of each other',
      fix: keepApart,
      check: (probe, note) => problemsPerPair(probe, findSwappedAnswer, note),
    },
    {
      ...must('explore.own-texts', 'C§1.2, C§3.1'),
      title: 'no answer has a text that only another session has sent',
      fix: keepApart,
      check: async (probe) => {
        const furtherCalls = await furtherInventedCalls(probe);
        if (!furtherCalls.some(({ isInSecondSession }) => isInSecondSession))
          throw NotRun.because('inapplicable', 'no tool got a text of its own in another session');
        const calls = [...(await inventedCalls(probe)), ...furtherCalls];
        const { pairs } = await callPairs(probe);
        return leakedTexts(calls, pairs).flatMap((finding) => findingProblems(probe, finding));
      },
    },
  ]),
  {
    ...should('explore.same-data', 'C§3.1, C§4.1'),
    title: 'the same arguments give the same data alone, beside other calls and in another session',
    fix: 'Keep nothing of a call for the next one, except in a cache whose key contains all arguments.',
    check: (probe) =>
      problemsPerPair(probe, (pair) => (findSwappedAnswer(pair) ? undefined : findParallelDifference(pair))),
  },
  {
    ...should('explore.steady', 'profile limits.callMs'),
    title: 'calls do not become slower from one to the next',
    measures: true,
    fix: 'Look for a list that grows with each call, and that each call walks through.',
    check: (probe) => problemsPerPair(probe, findSlowdown),
  },
  mergeLive({ title: 'different arguments do not all give one answer', turn: 'last' }, [
    {
      ...should('explore.arguments-matter', 'C§2.1'),
      title: 'different arguments do not all give one answer',
      fix: useArguments,
      check: (probe) => problemsPerTool(probe, oneForAll),
    },
    {
      ...should('explore.text-matters', 'C§2.1'),
      title: 'a search does not give the same list for invented texts and for real ones',
      fix: useArguments,
      check: async (probe) => {
        const invented = [...(await inventedCalls(probe)), ...(await furtherInventedCalls(probe))];
        return problemsPerTool(probe, (calls) =>
          oneForAll(calls, probe) ? undefined : listForAnyText(calls, invented, probe),
        );
      },
    },
  ]),
  mergeLive({ title: 'an argument that an answer repeats has the value that was sent', turn: 'last' }, [
    {
      ...should('explore.echo', 'C§1.7, C§4.1'),
      title: 'an argument that an answer repeats has the value that was sent',
      fix: 'Take the value from the arguments of this call.',
      check: (probe) => problemsPerTool(probe, mislabelled),
    },
    {
      ...should('explore.echo-utf8', 'C§1.7, C§4.1; RFC 8259 §8.1'),
      title: 'an accented letter that an answer repeats is the one that was sent',
      fix: 'Decode the body of the request as UTF-8, and only once.',
      check: async (probe) =>
        misreadAccents(await furtherInventedCalls(probe)).flatMap((finding) =>
          findingProblems(probe, finding),
        ),
    },
  ]),
  {
    ...should('explore.limit', 'C§2.1'),
    title: 'no answer has more entries than its limit asks for',
    fix: 'Cut the list to the limit, or pass the limit on to the source.',
    check: (probe) => problemsPerTool(probe, beyondLimit),
  },
  mergeLive({ title: 'the entries are filtered and sorted as the call asks', turn: 'last' }, [
    {
      ...should('explore.bounds', 'C§2.1'),
      title: 'every entry is within the bounds that the call gives for one of its fields',
      fix: 'Apply the filter to each entry, or pass it on to the source.',
      check: (probe) => problemsPerTool(probe, beyondBounds),
    },
    {
      ...should('explore.order', 'C§2.1'),
      title: 'the entries are sorted by the field that the call names',
      fix: 'Sort the entries, or pass the order on to the source. Remove a parameter that has no effect.',
      check: (probe) => problemsPerTool(probe, disorderedEntries),
    },
  ]),
  {
    ...should('explore.default', 'C§2.1'),
    title: 'an argument that is left out has the default of the inputSchema',
    fix: 'Apply the default that the inputSchema declares, or declare the value that the handler uses.',
    check: (probe) => problemsPerTool(probe, otherDefault),
  },
  mergeLive({ title: 'the numbers of answers fit each other', turn: 'last' }, [
    {
      ...should('explore.numbers', 'C§1.7'),
      title: 'the numbers of an answer fit each other: a count its list, a mean its minimum and maximum',
      fix: 'Compute each number from the data that is returned.',
      check: (probe) => problemsPerTool(probe, contradicting),
    },
    {
      ...should('explore.units', 'C§1.7'),
      title: 'two tools return a field in the same unit, or their descriptions name the units',
      fix: 'Return the field in one unit, and name the unit in its description.',
      check: async (probe) => {
        const tools = (await foundCalls(probe)).filter(([{ name }]) => !probe.target.sampled?.has(name));
        return findingProblems(probe, unlikeUnits(tools));
      },
    },
  ]),
  {
    ...should('explore.exhausted', 'C§2.2, last sentence'),
    title: 'found data does not always say searchExhausted: true',
    fix: 'Set searchExhausted only where nothing was found. With it, the caller takes the answer for an empty one.',
    check: (probe) => problemsPerTool(probe, alwaysExhausted),
  },
]);

/** A case of outcome.empty-signal. */
export const generatedEmptySignal: LiveRule = {
  ...should('explore.empty-signal', 'C§2.2, C§7'),
  title: 'a generated call that finds nothing returns the signal of an empty result',
  controls: [lists],
  fix: 'Return searchExhausted: true or noResultsReason with every empty list. Otherwise the platform asks again.',
  check: async (probe) => [
    ...(await problemsPerTool(probe, silentlyEmpty)),
    ...failedEmpty((await exploreTools(probe)).calls).flatMap((finding) => findingProblems(probe, finding)),
  ],
};

/** A case of outcome.empty-signal. */
export const inventedRow: LiveRule = {
  ...should('explore.invented-row', 'C§2.2, C§7'),
  title: 'a search for an invented text returns no entry of that name',
  controls: [lists],
  fix: 'Return only what the source has. If it has nothing, return an empty list with searchExhausted: true or noResultsReason.',
  check: async (probe) =>
    inventedEntry(await inventedCalls(probe)).flatMap((finding) => findingProblems(probe, finding)),
};

async function problemsPerPair(
  probe: Probe,
  compare: (pair: CallPair) => CallFinding | undefined,
  note?: (text: string) => void,
): Promise<readonly Problem[]> {
  const pairResults = await callPairs(probe);
  for (const text of pairResults.notes) note?.(text);
  return pairResults.pairs.flatMap((pair) => findingProblems(probe, compare(pair)));
}

/** Checks the answers of each tool. */
async function problemsPerTool(
  probe: Probe,
  compare: (
    calls: readonly [FoundCall, ...FoundCall[]],
    probe: Probe,
  ) => CallFinding | undefined | Promise<CallFinding | undefined>,
): Promise<readonly Problem[]> {
  return problemsInParallel(await foundCalls(probe), async (calls) =>
    findingProblems(probe, await compare(calls, probe)),
  );
}

function findingProblems(probe: Probe, finding: CallFinding | undefined): readonly Problem[] {
  if (!finding) return [];
  const { calls, ...fault } = finding;
  const [first] = calls;
  if (!first) return [];
  const [request, ...repeat] = calls.flatMap((call) => repeatLines(probe.target, call));
  return [
    {
      tool: first.name,
      path: `tools/call with ${calls.map((call) => shorten(call.arguments)).join(' and ')}`,
      ...fault,
      arguments: first.arguments,
      ...(request !== undefined && { request }),
      repeat,
    },
  ];
}

/** The data of one call of a pair, in series or in parallel. */
function pairData(
  { answers }: CallPair,
  call: PairAnswer['call'],
  isParallel: boolean,
): readonly JsonObject[] {
  return answers
    .filter((answer) => answer.call === call && answer.isParallel === isParallel)
    .map(({ data }) => data);
}

/** A parallel answer that has the values of the other call wherever the two calls always differ. */
function findSwappedAnswer(pair: CallPair): CallFinding | undefined {
  const { first, second } = pair;
  if (!second) return undefined;
  const seriesData = { first: pairData(pair, 'first', false), second: pairData(pair, 'second', false) };
  const leaves = { first: commonLeaves(seriesData.first), second: commonLeaves(seriesData.second) };
  const differingPaths = [...leaves.first]
    .filter(([path, value]) => leaves.second.has(path) && leaves.second.get(path) !== value)
    .map(([path]) => path);
  if (differingPaths.length === 0) return undefined;
  const swapped = pair.answers.find(({ call, isParallel, data }) => {
    const answerLeaves = leavesOf(data);
    const otherLeaves = call === 'first' ? leaves.second : leaves.first;
    return isParallel && differingPaths.every((path) => answerLeaves.get(path) === otherLeaves.get(path));
  });
  if (!swapped) return undefined;
  const [ownCall, otherCall] = swapped.call === 'first' ? [first, second] : [second, first];
  return {
    expected: `${shorten(seriesData[swapped.call][0])}, as alone`,
    actual: `${shorten(swapped.data)}, the answer to ${shorten(otherCall.arguments)}, which was called at the same time`,
    calls: [ownCall, otherCall],
  };
}

/** A parallel answer without a value that all answers to the same call in series have. */
function findParallelDifference(pair: CallPair): CallFinding | undefined {
  const { first, second } = pair;
  if (!second) return parallelDifference(pair, 'first', [first, first]);
  return (
    parallelDifference(pair, 'first', [first, second]) ?? parallelDifference(pair, 'second', [second, first])
  );
}

function parallelDifference(
  pair: CallPair,
  side: PairAnswer['call'],
  calls: readonly [FoundCall, FoundCall],
): CallFinding | undefined {
  const seriesData = pairData(pair, side, false);
  if (seriesData.length < 2) return undefined;
  const seriesLeaves = [...commonLeaves(seriesData)];
  const different = pair.answers.find(({ call, isParallel, data }) => {
    const leaves = leavesOf(data);
    return call === side && isParallel && seriesLeaves.some(([path, value]) => leaves.get(path) !== value);
  });
  if (!different) return undefined;
  const session = different.isInSecondSession ? ', in another session' : '';
  return {
    expected: `${shorten(seriesData[0])}, as before and after`,
    actual: `${shorten(different.data)} beside other calls${session}`,
    calls,
  };
}

function findSlowdown({ first, earlyTimes, lateTimes, timesAfterPause }: CallPair): CallFinding | undefined {
  if (!areSlower(lateTimes, earlyTimes) || !areSlower(timesAfterPause, earlyTimes)) return undefined;
  const timesText = (calls: readonly TimedCall[]) =>
    `${calls.map(({ callMs }) => Math.round(callMs)).join(', ')} ms`;
  return {
    expected: `about ${timesText(earlyTimes)}, as before some other calls`,
    actual: `${timesText([...lateTimes, ...timesAfterPause])}; pings do not explain it`,
    calls: [first],
  };
}
