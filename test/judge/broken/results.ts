import type { Parts } from '../reference.ts';
import type { Data } from '../tools.ts';
import { broken } from './broken-server.ts';

/** Changes the results of tools. */
const results = (edit: (result: Data, data: Data, isError: boolean) => Data) => (parts: Parts) => {
  const { result } = parts;
  parts.result = (data, isError) => edit(result(data, isError), data, isError);
};
/** Changes the data of every success before it is written, in text and structuredContent alike. */
const data = (edit: (data: Data) => Data) => (parts: Parts) => {
  const { result } = parts;
  parts.result = (given, isError) => result(isError || given.noResultsReason ? given : edit(given), isError);
};
const textOf = (text: string) => [{ type: 'text', text }];
const without = (name: string, { [name]: _, ...rest }: Data): Data => rest;
/** A result that does not fit its outputSchema fails in each place that reads it. */
const unfit = ['result.fits', 'outcome.client', 'submission.calls'];

/** What a call returns: C§2.2, C§4.1, C§7. */
export const brokenResults = [
  broken(
    'C§2.2',
    'numbers as numeric strings',
    unfit,
    data((given) => mapped(given, (value) => (typeof value === 'number' ? String(value) : value))),
  ),
  broken(
    'C§2.2',
    'null where the schema has no null',
    unfit,
    data((given) => ('tides' in given ? { ...given, tides: [{ at: null, day: 1 }] } : given)),
  ),
  broken(
    'C§2.2',
    'a field that the schema does not have',
    [...unfit, 'result.declared-fields'],
    data((given) => ({ ...given, fetchedAt: '2026-01-01' })),
  ),
  broken(
    'C§2.2',
    'no structuredContent',
    ['result.structured', 'outcome.client', 'submission.calls', 'outcome.empty'],
    results((result, _, isError) => (isError ? result : without('structuredContent', result))),
  ),
  broken(
    'C§2.2',
    'structuredContent is a list of one',
    ['result.structured', 'outcome.client', 'submission.calls', 'outcome.empty', 'result.same-data'],
    results((result, given, isError) => (isError ? result : { ...result, structuredContent: [given] })),
  ),
  broken(
    'C§2.2, facts',
    'the text is a sentence for people',
    ['result.json-text', 'submission.text'],
    results((result, given, isError) =>
      isError ? result : { ...result, content: textOf(`The answer: ${Object.values(given).join(', ')}`) },
    ),
  ),
  broken(
    'C§2.2, facts',
    'the JSON of the text is in a Markdown fence',
    ['result.json-text', 'submission.text'],
    results((result, given, isError) =>
      isError ? result : { ...result, content: textOf(`\`\`\`json\n${JSON.stringify(given)}\n\`\`\``) },
    ),
  ),
  broken(
    'C§4.1',
    'the numbers of the text are rounded, those of structuredContent are not',
    'result.same-data',
    (parts) => {
      const { result } = parts;
      parts.result = (given, isError) => ({
        ...result(given, isError),
        content: textOf(
          JSON.stringify(
            mapped(given, (value) => (typeof value === 'number' ? Math.round(value / 10) * 10 : value)),
          ),
        ),
      });
    },
  ),
  broken(
    'C§2.2',
    'no content, as structuredContent says it all',
    ['result.content', 'submission.text', 'outcome.failure-payload'],
    results((result) => ({ ...result, content: [] })),
  ),
  broken(
    'facts, submission test',
    'a picture before the text',
    ['result.content', 'submission.text', 'outcome.failure-payload'],
    results((result, given) => ({
      ...result,
      content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }, ...textOf(JSON.stringify(given))],
    })),
  ),
  broken(
    'C§2.2',
    'failures without isError',
    [
      'outcome.fail',
      'call.wrong-arguments',
      'call.missing-arguments',
      'call.no-arguments-object',
      'result.no-error',
    ],
    results((result) => without('isError', result)),
  ),
  broken(
    'C§7',
    'failures without structuredContent',
    'outcome.failure-payload',
    results((result, _, isError) => (isError ? without('structuredContent', result) : result)),
  ),
  broken(
    'C§7',
    'the code of a failure is a number',
    ['outcome.failure-payload', 'result.failure-fits', 'result.same-data', 'outcome.client'],
    results((result, given, isError) =>
      isError ? { ...result, structuredContent: { ...given, error: 404 } } : result,
    ),
  ),
  broken(
    'C§7',
    'a failure of a tool is an exception: error -32603',
    ['outcome.fail', 'call.answered'],
    (parts) => {
      const { answer } = parts;
      parts.answer = async (message, asked, headers) => {
        const reply = await answer(message, asked, headers);
        const { result } = (reply.body ?? {}) as { result?: { structuredContent?: Data } };
        if (result?.structuredContent?.error !== 'NO_PARTS') return reply;
        return {
          ...reply,
          body: { jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'Internal error' } },
        };
      };
    },
  ),
  broken(
    'C§2.2, C§7',
    'nothing is found, and nothing says so',
    ['outcome.empty', 'outcome.empty-signal'],
    (parts) => {
      const { result } = parts;
      parts.result = (given, isError) => result(without('noResultsReason', given), isError);
    },
  ),
  broken('C§7', 'nothing is found: a failure', ['outcome.empty'], (parts) => {
    const { result } = parts;
    parts.result = (given, isError) => {
      const { noResultsReason, ...rest } = given;
      return noResultsReason === undefined
        ? result(given, isError)
        : result({ ...rest, error: 'NOT_FOUND', message: 'There is no such entry.' }, true);
    };
  }),
  broken(
    'C§4.1',
    'an unknown tool is error -32602',
    ['call.unknown-tool', 'call.unknown-tool-names'],
    (parts) => {
      const { answer } = parts;
      parts.answer = async (message, asked, headers) => {
        const { name } = (message.params ?? {}) as { name?: unknown };
        const isKnown = parts.tools.some(({ definition }) => definition.name === name);
        if (message.method !== 'tools/call' || isKnown) return answer(message, asked, headers);
        return parts.write(
          { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: `Unknown tool: ${name}` } },
          headers,
          asked,
        );
      };
    },
  ),
  broken(
    'C§4.1',
    'the text about an unknown tool does not name it',
    ['call.unknown-tool', 'call.unknown-tool-names'],
    (parts) => {
      const { run } = parts;
      parts.run = async (name, args) => {
        const done = (await run(name, args)) as Data;
        return done.structuredContent ? done : { ...done, content: textOf('Unknown tool') };
      };
    },
  ),
  broken(
    'facts, Results',
    'the data differ from call to call in what is found',
    'outcome.repeatable|outcome.found',
    (parts) => {
      const { run } = parts;
      const seen = new Set<unknown>();
      parts.run = (name, args) => {
        const { lake } = (args ?? {}) as { lake?: unknown };
        const isFirst = typeof lake !== 'string' || !seen.has(lake);
        seen.add(lake);
        return run(name, isFirst ? args : { ...(args as Data), lake: 'gone' });
      };
    },
  ),
];

function mapped(value: unknown, edit: (value: unknown) => unknown): Data {
  return JSON.parse(JSON.stringify(value), (_, inner) => edit(inner));
}
