import { isDeepStrictEqual } from 'node:util';
import { hasEmptySignal } from '../definition/outcomes.ts';
import { isObject, parseJsonText, shorten } from '../json/json.ts';
import { propertiesOf } from '../json/keywords.ts';
import { mismatches } from '../json/schema.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { leavesIn } from '../json/walk.ts';
import type { Problem } from '../model.ts';
import { answeredCalls } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import type { CallOutcome, Probe } from '../wire/probe.ts';
import { failureMembers, incidentIn, resultText } from '../wire/rpc.ts';
import { listedOutputSchema } from '../wire/tool-cases.ts';
import { fact, type LiveRule, must, problemsOfEach, problemUnless, should, valueProblems } from './rule.ts';
import { isText } from './schema-problems.ts';

/** A rule about every result. */
export const resultRule = about(
  () => true,
  () => NotRun.preventedBy('noResult'),
);
/** A rule about results that are not a failure. */
export const ofData = about(
  ({ isError }) => isError !== true,
  () => NotRun.preventedBy('noSuccess'),
);
/** A rule about results that are a failure. */
const ofFailures = about(({ isError }) => isError === true, noFailure);

/** What a tools/call returns, checked on every example and on the arguments of the submission test. */
export const resultRules: readonly SingleResultRule[] = [
  resultRule({
    ...must('result.content', 'C§2.2'),
    title: 'every result has a text item',
    fix: 'Return content: [{type: "text", text: JSON.stringify(data)}].',
    findProblems: ({ content }) =>
      problemUnless(resultText(content) !== undefined, {
        path: 'result.content[0]',
        expected: '{"type":"text","text":"…"}',
        actual: shorten(Array.isArray(content) ? content[0] : content),
      }),
  }),
  ofData({
    ...must('result.json-text', 'C§2.2'),
    title: 'the text of every successful result is JSON',
    fix: 'Use JSON.stringify(data) as the text, with nothing before or after it.',
    findProblems: ({ content }) => {
      const text = resultText(content);
      if (text === undefined) return undefined;
      return valueProblems(parseJsonText(text).length > 0, 'result.content[0].text', 'JSON', text);
    },
  }),
  ofData({
    ...must('result.structured', 'C§2.2, C§4.1'),
    title: 'every successful result has structuredContent',
    fix: 'Return the data as structuredContent too.',
    findProblems: ({ structuredContent }) =>
      valueProblems(isObject(structuredContent), 'result.structuredContent', 'an object', structuredContent),
  }),
  ofData({
    ...must('result.fits', 'C§2.2, C§1.7'),
    title: 'structuredContent matches the outputSchema',
    fix: 'Return what the outputSchema declares, or declare what the tool returns.',
    findProblems: fitProblems,
  }),
  ofData({
    ...must('result.failure-flagged', 'C§2.2, C§7'),
    title: 'a result with the code and the message of a failure has isError: true',
    fix: 'Set isError: true: without it, the caller takes the failure for data and pays for it.',
    findProblems: ({ structuredContent }) =>
      isObject(structuredContent)
        ? valueProblems(!saysFailure(structuredContent), 'result.isError', 'true', structuredContent)
        : undefined,
  }),
  ofData({
    ...should('result.no-error', 'C§2.2, C§7'),
    title: 'a result that is not a failure carries no error',
    fix: 'Set isError: true if the call failed; otherwise leave error out, or name the field differently.',
    findProblems: ({ structuredContent }) => {
      if (!isObject(structuredContent) || saysFailure(structuredContent)) return undefined;
      const { error } = structuredContent;
      return valueProblems(
        !isText(error),
        'result.structuredContent.error',
        'no error, or isError: true',
        error,
      );
    },
  }),
  ofFailures({
    ...must('result.failure-fits', 'C§2.2; reproduced with SDK 1.32: its clients validate failures as well'),
    title: 'the structuredContent of a failure matches the outputSchema, too',
    fix: 'Fill the required fields with null or [], and declare error and message.',
    findProblems: fitProblems,
  }),
  resultRule({
    ...must('result.same-data', 'C§4.1'),
    title: 'text and structuredContent contain the same data',
    fix: 'Build the text with JSON.stringify(structuredContent).',
    findProblems: ({ content, structuredContent }, { rpc }) => {
      const text = resultText(content) ?? '';
      const [data] = parseJsonText(text);
      if (data === undefined || structuredContent === undefined) return undefined;
      if (!isDeepStrictEqual(data, structuredContent))
        return valueProblems(false, 'result.content[0].text', shorten(structuredContent), data);
      // As doubles they are the same.
      const sentDigits = longIntegers(rpc.http.body);
      const lost = longIntegers(text).find((digits) => !sentDigits.includes(digits));
      const expected = `the integers of structuredContent: ${sentDigits.slice(0, 3).join(', ') || 'none beyond 2^53'}`;
      return problemUnless(lost === undefined, {
        path: 'result.content[0].text',
        expected,
        actual: String(lost),
      });
    },
  }),
  ofData({
    ...fact('result.declared-fields', 'should', 'docs guides/build-tools.mdx'),
    title: 'every field of a result is declared in the outputSchema',
    fix: 'Declare the field in outputSchema.properties, or remove it from the result.',
    findProblems: ({ structuredContent }, { tool }) => {
      if (!isObject(structuredContent) || !isObject(tool.outputSchema)) return undefined;
      const declaredNames = new Set(propertiesOf(tool.outputSchema).map(([name]) => name));
      return Object.keys(structuredContent)
        .filter((name) => !declaredNames.has(name))
        .map((name) => ({
          path: `result.structuredContent.${name}`,
          expected: 'a declared field',
          actual: 'not in outputSchema.properties',
        }));
    },
  }),
  ofData({
    ...should('result.no-refusal', 'C§2.2, C§7'),
    title: 'an empty result is marked by a signal, not by prose',
    fix: 'Return searchExhausted: true and noResultsReason. The platform does not understand prose and asks again.',
    findProblems: ({ structuredContent }) => {
      if (structuredContent === undefined) return undefined;
      if (isObject(structuredContent) && hasEmptySignal(structuredContent)) return [];
      return traces(structuredContent, refusal, 'searchExhausted or noResultsReason');
    },
  }),
  resultRule({
    ...fact('result.size', 'should', 'profile limits.resultCharacters'),
    title: 'no result is longer than the platform reads',
    fix: 'Split the result into pages, or summarize it.',
    findProblems: ({ content }, _outcome, { limits }) =>
      problemUnless((resultText(content)?.length ?? 0) <= limits.resultCharacters, {
        path: 'result.content[0].text',
        expected: `at most ${limits.resultCharacters} characters`,
        actual: `${resultText(content)?.length} characters`,
      }),
  }),
  resultRule({
    ...must('result.schema-copy', 'C§2.2'),
    title: 'an outputSchema sent with a result is the declared one',
    fix: 'Send the schema of tools/list unchanged, or none.',
    findProblems: ({ _meta }, { tool }) => {
      const copy = isObject(_meta) ? _meta.outputSchema : undefined;
      const isCopy = copy === undefined || isDeepStrictEqual(copy, tool.outputSchema);
      return valueProblems(isCopy, 'result._meta.outputSchema', 'a copy of outputSchema', copy);
    },
  }),
];

interface ResultRule extends Omit<LiveRule, 'check'> {
  /** Problems of a result; undefined if it lacks what the rule is about. */
  findProblems(
    result: JsonObject,
    outcome: CallOutcome,
    profile: Probe['profile'],
  ): readonly Problem[] | undefined;
}

/** A rule that can check a single result. */
export interface SingleResultRule extends LiveRule {
  /** The problems of a result; none if it is not of the kind that the rule is about. */
  problemsOf(outcome: CallOutcome, profile: Probe['profile']): readonly Problem[];
}

/** Whether data is what a failure carries: a code and a message (C§2.2). */
function saysFailure({ error, message }: JsonObject): boolean {
  return isText(error) && isText(message);
}

/** A rule about one kind of results; it is not run if no call returned one, or none that can be checked. */
function about(
  concerns: (result: JsonObject) => boolean,
  otherwise: () => NotRun,
): (rule: ResultRule) => SingleResultRule {
  return ({ findProblems, ...text }) => ({
    ...text,
    problemsOf: (outcome, profile) =>
      (outcome.result && concerns(outcome.result) && findProblems(outcome.result, outcome, profile)) || [],
    check: async (probe) => {
      const outcomes = await answeredCalls(probe);
      if (!outcomes.some(({ result }) => result)) throw NotRun.preventedBy('noResult');
      const concerned = outcomes.filter(({ result }) => result && concerns(result));
      if (concerned.length === 0) throw otherwise();
      const problemLists = concerned.flatMap((outcome) => {
        const problems = findProblems(outcome.result ?? {}, outcome, probe.profile);
        if (problems) return [problems.map((problem) => problemOfCall(outcome, problem))];
        return [];
      });
      return problemsOfEach(problemLists, NotRun.preventedBy('unreadableResult'), (problems) => problems);
    },
  });
}

/** Why rules about failures are not run where no tool failed: nothing that the author gave makes one fail. */
export function noFailure(): NotRun {
  return NotRun.because('example', 'no call failed');
}

/** A problem of one call, with its tool and arguments. */
export function problemOfCall(call: Call, problem: Problem): Problem {
  const { name, arguments: args, result, content, failure } = call;
  const incident = incidentIn(result?.content ?? content);
  return {
    tool: name,
    ...problem,
    path: `${problem.path ?? 'result'} (called with ${shorten(args)})`,
    arguments: args,
    ...((result?.isError === true || failure !== undefined) && failureMembers(result?.content ?? content)),
    ...(incident !== undefined && { incident }),
  };
}

interface Call extends Pick<CallOutcome, 'name' | 'arguments'> {
  readonly result?: JsonObject | undefined;
  /** The content of the result, if only that is known. */
  readonly content?: Json;
  readonly failure?: string;
}

/** The integers of a JSON text that a double does not hold exactly, in their digits. */
export function longIntegers(json: string): readonly string[] {
  if (!/\d{16}/.test(json)) return [];
  const numbers =
    json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
  return numbers.filter((digits) => /^-?\d{16,}$/.test(digits) && !Number.isSafeInteger(Number(digits)));
}

function fitProblems(
  { structuredContent }: JsonObject,
  { tool }: CallOutcome,
): readonly Problem[] | undefined {
  const schema = listedOutputSchema(tool);
  if (!schema || !isObject(structuredContent)) return undefined;
  return mismatches(schema, structuredContent, 'result.structuredContent');
}

/** The problems of the texts inside a value that match a pattern. */
export function traces(value: Json, pattern: RegExp, expected: string): readonly Problem[] {
  return [...leavesIn(value)].flatMap(([, leaf]) =>
    valueProblems(
      typeof leaf !== 'string' || !pattern.test(leaf),
      'result.structuredContent',
      expected,
      leaf,
    ),
  );
}

const refusal =
  /\b(no (data|results?) (available|found)|not found|(I am|I'm) unable|cannot be determined)\b/i;
