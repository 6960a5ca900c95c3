import { setTimeout } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { isObject } from '../../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { resultOf } from '../good-server.ts';
import type { Outcome } from '../good-tools.ts';
import { type BrokenServer, instead, methodOf, withAnswer } from '../variant.ts';
import type { Request } from '../wire.ts';

/** A server that changes the results of one kind of outcome of get_price. */
function results<Kind extends Outcome['kind']>(
  kind: Kind,
  change: (result: JsonObject, outcome: Extract<Outcome, { kind: Kind }>) => JsonObject,
): BrokenServer['breaks'] {
  return {
    result: (good) => (outcome, tool) => {
      const result = good(outcome, tool);
      const concerned = outcome.kind === kind && tool.definition.name === 'get_price';
      return concerned ? change(result, outcome as Extract<Outcome, { kind: Kind }>) : result;
    },
  };
}

/** A server that finds other data than the good one. */
function finds(change: (data: JsonObject) => JsonObject): BrokenServer['breaks'] {
  return results('found', (_result, { data }) => resultOf(change(data)));
}

/** A server that changes the failure of an example; failures about invalid arguments are correct. */
function failsWith(change: (result: JsonObject) => JsonObject): BrokenServer['breaks'] {
  return results('fail', (result, { error }) => (error === 'SOURCE_DOWN' ? change(result) : result));
}

/** A server that signals an empty result only for the tickers of its examples. */
function forgetsSignal(): BrokenServer['breaks'] {
  return {
    call: (good) => async (params) => {
      const { symbol } = isObject(params.arguments) ? params.arguments : {};
      const isOther = typeof symbol === 'string' && !['BTC', 'ETH', 'XYZ', 'DOWN'].includes(symbol);
      return isOther && params.name === 'get_price' ? resultOf({ symbol, price: null }) : good(params);
    },
  };
}

/** A server that treats the second of two equal calls as a mistake. */
function emptyOnce(): BrokenServer['breaks'] {
  let empties = 0;
  return results('empty', (result) => {
    empties += 1;
    const repeated = { symbol: null, price: null, error: 'REPEATED', message: 'You have asked before.' };
    return empties === 1 ? result : { ...resultOf(repeated), isError: true };
  });
}

/** A server that changes the parameters of calls. */
function calls(change: (params: JsonObject) => JsonObject): BrokenServer['breaks'] {
  return { call: (good) => async (params) => good(change(params)) };
}

export const brokenResults: readonly BrokenServer[] = [
  {
    rule: 'result.content',
    along: ['submission.text'],
    breaks: results('found', (result) => ({ ...result, content: [] })),
  },
  {
    rule: 'result.json-text',
    along: ['submission.text'],
    breaks: results('found', (result) => ({
      ...result,
      content: [{ type: 'text', text: 'The price is 64000.' }],
    })),
  },
  {
    rule: 'result.structured',
    along: ['outcome.client', 'submission.calls'],
    breaks: results('found', ({ content = [] }) => ({ content })),
  },
  {
    rule: 'result.fits',
    along: ['outcome.client', 'submission.calls'],
    breaks: finds((data) => ({ ...data, price: String(data.price) })),
  },
  {
    rule: 'result.failure-flagged',
    along: ['call.missing-arguments', 'call.no-arguments-object', 'call.wrong-arguments', 'explore.refuses'],
    breaks: {
      result: (good) => (outcome, tool) => {
        const result = good(outcome, tool);
        return JSON.stringify(result).includes('INVALID_ARGUMENTS') ? { ...result, isError: false } : result;
      },
    },
  },
  { rule: 'result.no-error', breaks: finds((data) => ({ ...data, error: 'STALE' })) },
  {
    rule: 'result.failure-fits',
    along: ['outcome.client'],
    breaks: failsWith(() => ({
      ...resultOf({ error: 'SOURCE_DOWN', message: 'No answer.' }),
      isError: true,
    })),
  },
  {
    rule: 'result.same-data',
    breaks: results('found', ({ structuredContent = {} }, { data }) => ({
      ...resultOf({ ...data, price: 1 }),
      structuredContent,
    })),
  },
  {
    rule: 'result.same-data',
    // The same double, in other digits.
    breaks: withAnswer((answer, request) => {
      if (methodOf(request) !== 'tools/call' || answer.status !== 200) return answer;
      const text = JSON.stringify(answer.body);
      const body = text.replace('\\"price\\":64000', '\\"price\\":12345678901234567891');
      return { ...answer, body: body.replace('"price":64000', '"price":12345678901234567000') };
    }),
  },
  { rule: 'result.declared-fields', breaks: finds((data) => ({ ...data, venue: 'spot' })) },
  { rule: 'result.no-lost-values', breaks: finds((data) => ({ ...data, symbol: '[object Object]' })) },
  { rule: 'result.no-refusal', breaks: finds((data) => ({ ...data, symbol: 'Symbol not found.' })) },
  {
    rule: 'result.size',
    breaks: results('found', (result, { data }) => ({
      ...result,
      content: [{ type: 'text', text: JSON.stringify(data) + ' '.repeat(500_001) }],
    })),
  },
  {
    rule: 'fit.result-tokens',
    breaks: finds((data) => ({ ...data, symbol: `${data.symbol} `.repeat(26_000) })),
  },
  {
    rule: 'result.schema-copy',
    breaks: results('found', (result) => ({ ...result, _meta: { outputSchema: { type: 'object' } } })),
  },
  {
    rule: 'outcome.found',
    breaks: results('found', () => resultOf({ symbol: null, price: null, searchExhausted: true })),
  },
  {
    rule: 'outcome.empty',
    along: ['outcome.empty-signal'],
    breaks: results('empty', () => resultOf({ symbol: null, price: null })),
  },
  { rule: 'outcome.fail', breaks: failsWith(() => resultOf({ symbol: null, price: null })) },
  {
    rule: 'outcome.failure-payload',
    breaks: failsWith(() => ({
      ...resultOf({ symbol: null, price: null, error: 'SOURCE_DOWN' }),
      isError: true,
    })),
  },
  { rule: 'outcome.empty-signal', breaks: forgetsSignal() },
  { rule: 'outcome.repeatable', breaks: emptyOnce() },
  {
    rule: 'outcome.in-time',
    profile: (profile) => ({ ...profile, limits: { ...profile.limits, callMs: 200 } }),
    breaks: slowCalls(({ body }) => body?.includes('"XYZ"') === true),
  },
  { rule: 'outcome.client', along: ['submission.calls'], breaks: misformatted() },
  {
    rule: 'call.answered',
    along: ['outcome.empty'],
    breaks: {
      respond: (good) => async (message) => {
        const { arguments: args } = isObject(message.params) ? message.params : {};
        const fails = isObject(args) && args.symbol === 'XYZ';
        return fails ? { error: { code: -32603, message: 'Internal error' } } : good(message);
      },
    },
  },
  {
    rule: 'call.unknown-tool',
    breaks: unknownTool((name) => name === 'no_such_tool'),
  },
  {
    rule: 'call.unknown-tool-names',
    breaks: unknownTool((name) => name === 'constructor'),
  },
  {
    rule: 'call.wrong-arguments',
    along: ['explore.refuses'],
    breaks: calls((params) => withArguments(params, ({ currency: _currency, ...args }) => args)),
  },
  {
    rule: 'call.missing-arguments',
    breaks: calls((params) => withArguments(params, (args) => ({ symbol: 'BTC', ...args }))),
  },
  {
    rule: 'call.no-arguments-object',
    breaks: calls((params) =>
      isObject(params.arguments) ? params : { ...params, arguments: { symbol: 'BTC' } },
    ),
  },
  {
    rule: 'call.no-retry-word',
    breaks: {
      result: (good) => (outcome, tool) =>
        good(
          outcome.kind === 'fail' ? { ...outcome, message: `${outcome.message} (network timeout)` } : outcome,
          tool,
        ),
    },
  },
  {
    rule: 'submission.calls',
    breaks: instead((request) =>
      isSubmission(request) ? { status: 500, body: { error: 'Unknown purpose' } } : undefined,
    ),
  },
  {
    rule: 'submission.succeeds',
    breaks: {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (!isSubmission(request)) return answer;
        const data = { symbol: null, price: null, coins: [], error: 'TIMEOUT', message: 'Too slow.' };
        return {
          ...answer,
          body: { ...(answer.body as object), result: { ...resultOf(data), isError: true } },
        };
      },
    },
  },
  {
    rule: 'submission.text',
    breaks: {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (!isSubmission(request)) return answer;
        return {
          ...answer,
          body: JSON.parse(JSON.stringify(answer.body), (key, value) => (key === 'text' ? 'ok' : value)),
        };
      },
    },
  },
  {
    rule: 'submission.in-time',
    profile: (profile) => ({ ...profile, limits: { ...profile.limits, submissionMs: 300 } }),
    breaks: slowCalls(isSubmission),
  },
];

/** Whether a call comes from the submission test, judged by its token. */
function isSubmission(request: Request): boolean {
  const [, token] = /^Bearer (\S+\.\S+\.\S+)$/.exec(request.headers.authorization ?? '') ?? [];
  return methodOf(request) === 'tools/call' && token !== undefined && isSmokeToken(token);
}

function isSmokeToken(token: string): boolean {
  try {
    return decodeJwt(token).purpose === 'smoke-test';
  } catch {
    return false;
  }
}

function slowCalls(isSlow: (request: Request) => boolean): BrokenServer['breaks'] {
  return instead(async (request) => {
    if (isSlow(request)) await setTimeout(310);
    return undefined;
  });
}

function unknownTool(concerned: (name: unknown) => boolean): BrokenServer['breaks'] {
  return {
    respond: (good) => async (message) => {
      const { params } = message;
      const broken = message.method === 'tools/call' && isObject(params) && concerned(params.name);
      return broken ? { error: { code: -32602, message: 'Unknown tool' } } : good(message);
    },
  };
}

/** A server that answers a wrong type with the exception that it caused. */
function withArguments(params: JsonObject, change: (args: JsonObject) => JsonObject): JsonObject {
  const args = params.arguments;
  return params.name === 'get_price' && isObject(args) ? { ...params, arguments: change(args) } : params;
}

/** Declares the format of a time but returns prose: the marketplace's validator ignores formats, the SDK's does not. */
function misformatted(): BrokenServer['breaks'] {
  const time = { type: 'string', format: 'date-time', description: 'When the price was traded.' };
  return {
    list: (good) => () =>
      good().map((tool) => {
        const schema = isObject(tool.outputSchema) ? tool.outputSchema : {};
        const properties = isObject(schema.properties) ? schema.properties : {};
        return { ...tool, outputSchema: { ...schema, properties: { ...properties, at: time } } };
      }),
    ...finds((data) => ({ ...data, at: 'yesterday' })),
  };
}
