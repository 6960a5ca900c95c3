import { mapConcurrently } from '../concurrency.ts';
import type { Problem } from '../model.ts';
import type { CallOutcome } from '../probe/probe.ts';
import { describe } from '../probe/rpc.ts';
import { type LiveRule, NotRun, unless } from '../rule.ts';
import { isObject, shorten } from '../schema.ts';
import { isText } from './read.ts';
import { isEmpty, ofCall, textOf } from './result.ts';

/** The three outcomes of a call, as the author foretells them in a tool's examples. */
export const outcomeRules: readonly LiveRule[] = [
  foretold('found', {
    id: 'outcome.found',
    title: 'every example that expects data gets data',
    source: 'C§1.7, C§4.1',
    mend: 'Correct the handler, or the example.',
    judge: ({ result, rpc }) =>
      unless(result !== undefined && result.isError !== true && !emptyResult(result.structuredContent), {
        path: 'result',
        expected: 'data',
        actual: describe(rpc.http),
      }),
  }),
  foretold('empty', {
    id: 'outcome.empty',
    title: 'every example that expects nothing gets an explicit empty result',
    source: 'C§2.2, C§7',
    mend: 'Return searchExhausted: true or noResultsReason where nothing is found: it is no failure.',
    judge: ({ result, rpc }) =>
      unless(result !== undefined && result.isError !== true && emptyResult(result.structuredContent), {
        path: 'result.structuredContent',
        expected: 'searchExhausted: true or noResultsReason, and no error',
        actual: describe(rpc.http),
      }),
  }),
  foretold('fail', {
    id: 'outcome.fail',
    title: 'every example that expects a failure gets one',
    source: 'C§2.2, C§7',
    mend: 'Return isError: true.',
    judge: ({ result, rpc }) =>
      unless(result?.isError === true, {
        path: 'result.isError',
        expected: 'true',
        actual: describe(rpc.http),
      }),
  }),
  {
    id: 'outcome.failure-payload',
    level: 'must',
    title: 'every failure of a tool tells a code and a message',
    source: 'C§2.2, C§7',
    mend: 'Return isError: true with a text item and structuredContent {error: <code>, message: <text>}.',
    check: async (probe) => (await probe.outcomes()).flatMap(failureProblems),
  },
  {
    id: 'outcome.repeatable',
    level: 'should',
    title: 'the same call again has the same outcome',
    source: 'app lib/ai/agentic-execution.ts: a step is tried up to three times',
    fact: true,
    mend: 'Make the handler idempotent: a repeated call must not count as another one.',
    check: async (probe) => {
      const first = await probe.outcomes();
      const problems = await mapConcurrently(first, 4, async (outcome) => {
        const { http, result } = await probe.call(outcome.name, outcome.arguments);
        return unless(kindOf(result) === kindOf(outcome.result), {
          path: 'result',
          expected: kindOf(outcome.result),
          actual: describe(http),
        }).map((problem) => ofCall(outcome, problem));
      });
      return problems.flat();
    },
  },
  {
    id: 'outcome.in-time',
    level: 'must',
    title: 'every call is answered in time',
    source: 'profile limits.callMs',
    fact: true,
    mend: 'Bound the time of what the handler waits for, and fail before the platform gives up.',
    check: async (probe) => {
      const { callMs } = probe.profile.limits;
      return (await probe.outcomes()).flatMap((outcome) =>
        unless(outcome.rpc.http.ms <= callMs, {
          tool: outcome.name,
          path: `tools/call with ${shorten(outcome.arguments)}`,
          expected: `an answer within ${callMs} ms`,
          actual: Number.isFinite(outcome.rpc.http.ms)
            ? `${Math.round(outcome.rpc.http.ms)} ms`
            : describe(outcome.rpc.http),
        }),
      );
    },
  },
  {
    id: 'outcome.client',
    level: 'must',
    title: 'the client of the MCP SDK accepts the result of every call',
    source: 'C§1.2, C§2.2',
    mend: 'See the message: the client validates results against the outputSchema, formats included.',
    check: async (probe) => {
      const outcomes = await probe.outcomes();
      const session = await probe.client(() => probe.payment());
      try {
        await session.client.listTools().catch(() => {
          throw new NotRun('the client cannot list the tools (discovery.client)');
        });
        const problems: Problem[] = [];
        for (const { name, arguments: args, wrong, rpc } of outcomes) {
          if (wrong && rpc.error) continue;
          await session.client
            .callTool({ name, arguments: { ...args } }, undefined, {
              timeout: probe.patience(probe.profile.limits.callMs),
            })
            .catch((error: Error) =>
              problems.push(
                ofCall({ name, arguments: args }, { expected: 'a result', actual: error.message }),
              ),
            );
        }
        return problems;
      } finally {
        await session.close();
      }
    },
  },
];

function kindOf(result: CallOutcome['result']): string {
  if (!result) return 'no result';
  if (result.isError === true) return 'a failure';
  return emptyResult(result.structuredContent) ? 'an empty result' : 'data';
}

/** A failure as C§7 wants it; no problem where the result is none. */
export function failureProblems(outcome: CallOutcome): readonly Problem[] {
  const { result } = outcome;
  if (result?.isError !== true) return [];
  const { content, structuredContent } = result;
  const payload = isObject(structuredContent) ? structuredContent : {};
  return [
    ...unless(textOf(content) !== undefined, {
      path: 'result.content[0]',
      expected: 'a text item',
      actual: shorten(content),
    }),
    ...['error', 'message'].flatMap((field) =>
      unless(isText(payload[field]), {
        path: `result.structuredContent.${field}`,
        expected: 'a string that is not empty',
        actual: shorten(payload[field]),
      }),
    ),
  ].map((problem) => ofCall(outcome, problem));
}

interface ForetoldRule extends Omit<LiveRule, 'check' | 'level'> {
  judge(outcome: CallOutcome): readonly Problem[];
}

function foretold(expect: NonNullable<CallOutcome['expect']>, { judge, ...text }: ForetoldRule): LiveRule {
  return {
    ...text,
    level: 'must',
    check: async (probe) => {
      const concerned = (await probe.outcomes()).filter((outcome) => outcome.expect === expect);
      if (concerned.length === 0) throw new NotRun(`no tool has an example that expects "${expect}"`);
      return concerned.flatMap((outcome) => judge(outcome).map((problem) => ofCall(outcome, problem)));
    },
  };
}

function emptyResult(structuredContent: unknown): boolean {
  return isObject(structuredContent) && isEmpty(structuredContent);
}
