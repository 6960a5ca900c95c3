import { isObject, present, shorten } from '../json/json.ts';
import { propertiesOf, requiredOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { Problem } from '../model.ts';
import { isDenied } from '../wire/access.ts';
import { answeredCalls, answersCalls, noAnswerTo } from '../wire/controls.ts';
import { NotRun } from '../wire/not-run.ts';
import { type CallOutcome, noSuchTool, type Probe } from '../wire/probe.ts';
import { describe, describeCall, isLimited, type RpcAnswer, resultText } from '../wire/rpc.ts';
import { allowsArguments, inputSchemaOf, invalidVariants, maxInvalidVariants } from '../wire/tool-cases.ts';
import { isClientError } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { problemOfCall } from './result.ts';
import {
  fact,
  type LiveRule,
  must,
  problemsInParallel,
  problemsOfCalls,
  problemsOfEach,
  problemUnless,
  should,
} from './rule.ts';

/** Whether calls are answered, and calls that a tool must refuse. */
export const callRules: readonly LiveRule[] = [
  {
    ...must('call.answered', 'C§4, C§4.1, C§7'),
    title: 'every call is answered by a result, or by a JSON-RPC error if its arguments are wrong',
    fix: 'Answer a call that fails with a result that has isError: true, whatever went wrong.',
    check: async (probe) => {
      const { http } = await probe.ordinaryCall();
      if (isDenied(http) && !(await probe.isUngated())) throw NotRun.preventedBy('refused');
      const outcomes = await probe.outcomes();
      const answeredOutcomes = outcomes.filter(({ rpc: { http } }) => http.status > 0 && !isLimited(http));
      return problemsOfEach(answeredOutcomes, noAnswerTo(outcomes), (outcome) => {
        const { tool, arguments: args, rpc } = outcome;
        const fits = allowsArguments(inputSchemaOf(tool), args);
        return problemUnless((fits ? rpc.result : rpc.response) !== undefined, {
          path: 'tools/call',
          expected: fits ? 'a JSON-RPC result' : 'a JSON-RPC response',
          actual: describe(rpc.http),
        }).map((problem) => problemOfCall(outcome, problem));
      });
    },
  },
  {
    ...must('call.unknown-tool', 'C§4.1, C§7'),
    title: 'a call of an unknown tool is answered by a result that names it',
    fix: 'Return isError: true and a text item "Unknown tool: <name>".',
    controls: [answersCalls],
    check: async (probe) => unknownToolProblems(probe, noSuchTool),
  },
  {
    ...must('call.unknown-tool-names', 'C§4.1, C§7'),
    title: 'a tool name such as "constructor" or "__proto__" counts as unknown',
    fix: 'Look tools up in a Map.',
    controls: [answersCalls],
    check: (probe) => {
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
      return problemsInParallel(names, (name) => unknownToolProblems(probe, name));
    },
  },
  mergeLive({ title: 'a call with an argument of the wrong type, or without a required one, fails' }, [
    {
      ...should('call.wrong-arguments', 'C§4.1, C§7'),
      title: 'a call with an argument of the wrong type fails',
      fix: 'Validate the arguments against the inputSchema before the handler runs.',
      check: (probe) =>
        failsOn(probe, 'no tool takes an argument', (schema, args) => invalidVariants(schema, args)),
    },
    {
      ...should('call.missing-arguments', 'C§4.1, C§7'),
      title: 'a call without a required argument fails',
      fix: 'Validate the arguments against the inputSchema before the handler runs.',
      check: (probe) =>
        failsOn(probe, 'no tool requires an argument that has no default', (schema, args) => {
          const withDefault = new Set(
            propertiesOf(schema)
              .filter(([, property]) => property.default !== undefined)
              .map(([name]) => name),
          );
          return requiredOf(schema)
            .filter((name) => !withDefault.has(name))
            .slice(0, maxInvalidVariants)
            .map((missing) => present<Json>({ ...args, [missing]: undefined }))
            .filter((changed) => !allowsArguments(schema, changed));
        }),
    },
  ]),
  {
    ...fact('call.no-retry-word', 'should', 'app lib/ai/skills/mcp.ts: retries by the words of a failure'),
    title: 'the refusal of a call has no word that makes the platform send it again',
    fix: 'Say what is wrong with the arguments, without words such as timeout or network, or numbers such as 429 and 500.',
    check: async (probe) => {
      const refusedCalls = (await answeredCalls(probe)).filter(
        ({ isInvalid, result }) => isInvalid && result?.isError === true,
      );
      if (refusedCalls.length === 0) throw NotRun.because('inapplicable', 'no wrong argument was refused');
      return problemsOfCalls(refusedCalls, async (outcome) => {
        const text = resultText(outcome.result?.content) ?? '';
        const word = await retryWordIn(probe, outcome);
        return problemUnless(word === undefined, {
          expected: 'a refusal that is sent once',
          actual: `${shorten(word)} in ${shorten(text)}`,
        }).map((problem) => problemOfCall(outcome, problem));
      });
    },
  },
  {
    ...should('call.no-arguments-object', 'C§4.1'),
    title: 'arguments that are not an object are refused',
    fix: 'Answer with the JSON-RPC error -32602, or with a result that has isError: true.',
    controls: [answersCalls],
    check: async (probe) => {
      const names = [...new Set((await probe.cases()).map(({ name }) => name))].slice(0, mostTools);
      const calls = names.flatMap((name) => [5, 'text', ['list']].map((args) => ({ name, args })));
      return problemsOfCalls(calls, async ({ name, args }) => {
        const answer = await probe.call(name, args);
        const isRefused = callHasFailed(answer) || isClientError(answer.http);
        const [expected, actual] = ['an error or a failure', describeCall(answer)];
        return problemUnless(isRefused, { tool: name, path: 'params.arguments', expected, actual });
      });
    },
  },
];

/** The maximum number of tools that get arguments that are no object. */
const mostTools = 100;

/** In the text of a failure, in any case, they make the platform call again, up to three times. */
export const retryWords =
  /ECONNRESET|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|socket hang up|network|timeout|rate limit|too many requests|throttl|408|429|50[0234]/i;

/** The word of a refusal that makes the platform call again. A number counts only if the refusal of a second, equal call contains it. */
async function retryWordIn(
  probe: Probe,
  { name, arguments: args, result }: CallOutcome,
): Promise<string | undefined> {
  const textOf = (refusal: JsonObject | undefined): string =>
    (resultText(refusal?.content) ?? '').replace(shorten(args, 500), '');
  const text = textOf(result);
  const word = retryWords.exec(text)?.[0];
  if (word === undefined) return undefined;
  const otherWord = retryWords.exec(text.replaceAll(/\d/g, ''))?.[0];
  if (otherWord !== undefined) return otherWord;
  const repeatedCall = await probe.call(name, args);
  return retryWords.exec(constantText(text, textOf(repeatedCall.result)))?.[0];
}

/** The common beginning and end of two texts, without the words that differ: a time or an id may have the same digits by chance. */
function constantText(first: string, second: string): string {
  const shorterLength = Math.min(first.length, second.length);
  if (first === second) return first;
  let before = 0;
  while (before < shorterLength && first[before] === second[before]) before += 1;
  let after = 0;
  while (after < shorterLength - before && first.at(-1 - after) === second.at(-1 - after)) after += 1;
  const beginning = first.slice(0, before).replace(/[^\s"']+$/, '');
  const ending = first.slice(first.length - after).replace(/^[^\s"']+/, '');
  return `${beginning} ${ending}`;
}

async function unknownToolProblems(probe: Probe, name: string): Promise<readonly Problem[]> {
  const answer = await probe.call(name, {});
  const { result } = answer;
  const text = resultText(result?.content);
  return problemUnless(result?.isError === true && text?.includes(name) === true, {
    path: `tools/call of ${shorten(name)}`,
    expected: `a result with isError: true and a text that names ${name}`,
    actual: describeCall(answer),
  });
}

/**
 * Calls every tool with invalid variants of arguments with which it succeeds; each call must fail. `otherwise` is the reason
 * when no invalid variant exists.
 */
async function failsOn(
  probe: Probe,
  otherwise: string,
  spoil: (schema: JsonObject, args: JsonObject) => readonly JsonObject[],
): Promise<readonly Problem[]> {
  const succeeded = (await answeredCalls(probe)).filter(
    ({ result, expect, isInvalid }) => result && result.isError !== true && expect !== 'fail' && !isInvalid,
  );
  if (succeeded.length === 0) throw NotRun.preventedBy('noSuccess');
  const calls = (await probe.tools()).flatMap((tool) => {
    const valid = succeeded.find((valid) => valid.tool === tool);
    const schema = tool.inputSchema;
    // If the arguments themselves do not fit, a changed copy shows nothing more.
    if (!valid || !isObject(schema) || !allowsArguments(schema, valid.arguments)) return [];
    return spoil(schema, valid.arguments).map((args) => ({ name: valid.name, arguments: args }));
  });
  if (calls.length === 0) throw NotRun.because('inapplicable', otherwise);
  return problemsOfCalls(calls, async ({ name, arguments: args }) => {
    const answer = await probe.call(name, args);
    const path = `tools/call with ${shorten(args)}`;
    const [expected, actual] = ['a failure that names the argument', describeCall(answer)];
    return problemUnless(callHasFailed(answer), { tool: name, path, expected, actual });
  });
}

function callHasFailed({ error, result }: RpcAnswer): boolean {
  return error !== undefined || result?.isError === true;
}
