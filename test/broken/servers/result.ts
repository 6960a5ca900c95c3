import { decodeJwt } from 'jose';
import { isObject, objectOr } from '../../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { resultOf } from '../good-server.ts';
import type { Outcome } from '../good-tools.ts';
import {
  type Broken,
  defines,
  failureSays,
  late,
  limited,
  methodOf,
  responds,
  type Variant,
  where,
  withAnswer,
} from '../variant.ts';
import type { Request } from '../wire.ts';
import { failsWithoutMatch } from './searches.ts';

/** A server that changes the results of one kind of outcome of get_price. */
function results<Kind extends Outcome['kind']>(
  kind: Kind,
  change: (result: JsonObject, outcome: Extract<Outcome, { kind: Kind }>) => JsonObject,
): Variant {
  return {
    result: (good) => (outcome, tool) => {
      const result = good(outcome, tool);
      const concerned = outcome.kind === kind && tool.definition.name === 'get_price';
      return concerned ? change(result, outcome as Extract<Outcome, { kind: Kind }>) : result;
    },
  };
}

/** A server that finds other data than the good one. */
function finds(change: (data: JsonObject) => JsonObject): Variant {
  return results('found', (_result, { data }) => resultOf(change(data)));
}

/** A server that changes the failure of an example; failures about invalid arguments are correct. */
function failsWith(change: (result: JsonObject) => JsonObject): Variant {
  return results('fail', (result, { error }) => (error === 'SOURCE_DOWN' ? change(result) : result));
}

/** A server that signals an empty result only for the tickers of its examples. */
function forgetsSignal(): Variant {
  return {
    call: (good) => async (params) => {
      const { symbol } = isObject(params.arguments) ? params.arguments : {};
      const isOther = typeof symbol === 'string' && !['BTC', 'ETH', 'XYZ', 'DOWN'].includes(symbol);
      return isOther && params.name === 'get_price' ? resultOf({ symbol, price: null }) : good(params);
    },
  };
}

/** A server that lists nothing, without a signal, but with its time. */
function forgetsSignalBesideTime(): Variant {
  const fetchedAt = { type: 'string', format: 'date-time', description: 'When the coins were read.' };
  return {
    list: (good) => () =>
      good().map((tool) => {
        const { properties, ...schema } = objectOr(tool.outputSchema);
        const all = { ...objectOr(properties), fetchedAt };
        return tool.name === 'list_coins' ? { ...tool, outputSchema: { ...schema, properties: all } } : tool;
      }),
    call: (good) => async (params) => {
      const { after } = isObject(params.arguments) ? params.arguments : {};
      return params.name === 'list_coins' && String(after).startsWith('zq7')
        ? resultOf({ coins: [], fetchedAt: '2026-05-01T12:00:00Z' })
        : good(params);
    },
  };
}

/** A server that treats the second of two equal calls as a mistake. */
function emptyOnce(): Variant {
  let empties = 0;
  return results('empty', (result) => {
    empties += 1;
    return empties === 1 ? result : failure({ error: 'REPEATED', message: 'You have asked before.' });
  });
}

/** A server that, after some calls, lists the coins only every second time. */
export function alternating(failureData: JsonObject): Variant {
  let count = 0;
  return {
    call: (good) => async (params) => {
      const isWhole = params.name === 'list_coins' && JSON.stringify(params.arguments) === '{}';
      if (isWhole) count += 1;
      const fails = isWhole && count > 4 && count % 2 === 0;
      return fails ? { ...resultOf({ coins: [], ...failureData }), isError: true } : good(params);
    },
  };
}

/** A failure of get_price. */
function failure(data: JsonObject): JsonObject {
  return { ...resultOf({ symbol: null, price: null, ...data }), isError: true };
}

/** A server that changes the parameters of calls. */
function calls(change: (params: JsonObject) => JsonObject): Variant {
  return { call: (good) => async (params) => good(change(params)) };
}

export const brokenResults: Broken<Variant> = {
  'result.content submission.text': results('found', (result) => ({ ...result, content: [] })),
  'result.json-text submission.text': results('found', (result) => ({
    ...result,
    content: [{ type: 'text', text: 'The price is 64000.' }],
  })),
  'result.structured outcome.client submission.calls': results('found', ({ content = [] }) => ({ content })),
  'result.fits outcome.client submission.calls': finds((data) => ({ ...data, price: String(data.price) })),
  'result.failure-flagged call.missing-arguments call.no-arguments-object call.wrong-arguments explore.refuses':
    {
      result: (good) => (outcome, tool) => {
        const result = good(outcome, tool);
        return JSON.stringify(result).includes('INVALID_ARGUMENTS') ? { ...result, isError: false } : result;
      },
    },
  'result.no-error': finds((data) => ({ ...data, error: 'STALE' })),
  'result.failure-fits outcome.client': failsWith(() => ({
    ...resultOf({ error: 'SOURCE_DOWN', message: 'No answer.' }),
    isError: true,
  })),
  'result.same-data': results('found', ({ structuredContent = {} }, { data }) => ({
    ...resultOf({ ...data, price: 1 }),
    structuredContent,
  })),
  // The same double, in other digits.
  'result.same-data result.no-long-integer': withAnswer((answer, request) => {
    if (methodOf(request) !== 'tools/call' || answer.status !== 200) return answer;
    const text = JSON.stringify(answer.body);
    const body = text.replace('\\"price\\":64000', '\\"price\\":12345678901234567891');
    return { ...answer, body: body.replace('"price":64000', '"price":12345678901234567000') };
  }),
  'result.declared-fields': finds((data) => ({ ...data, venue: 'spot' })),
  'result.no-lost-values': finds((data) => ({ ...data, symbol: '[object Object]' })),
  'result.no-refusal': finds((data) => ({ ...data, symbol: 'Symbol not found.' })),
  'result.size': results('found', (result, { data }) => ({
    ...result,
    content: [{ type: 'text', text: JSON.stringify(data) + ' '.repeat(500_001) }],
  })),
  'fit.result-tokens': finds((data) => ({ ...data, symbol: `${data.symbol} `.repeat(26_000) })),
  'result.schema-copy': results('found', (result) => ({
    ...result,
    _meta: { outputSchema: { type: 'object' } },
  })),
  'outcome.found': results('found', () => resultOf({ symbol: null, price: null, searchExhausted: true })),
  'outcome.empty outcome.empty-signal': results('empty', () => resultOf({ symbol: null, price: null })),
  'outcome.fail': failsWith(() => resultOf({ symbol: null, price: null })),
  'outcome.failure-payload': failsWith(() => failure({ error: 'SOURCE_DOWN' })),
  'outcome.empty-signal': [forgetsSignal(), forgetsSignalBesideTime(), failsWithoutMatch()],
  'outcome.repeatable': emptyOnce(),
  'outcome.instant': {
    ...limited({ callMs: 600_000, submissionMs: 600_000 }),
    ...late(6_000, ({ body }) => body?.includes('"get_price"')),
  },
  'outcome.alternates': alternating({ error: 'SOURCE_DOWN', message: 'The exchange is closed.' }),
  'outcome.in-time': {
    ...limited({ callMs: 200 }),
    ...late(210, ({ body }) => body?.includes('"XYZ"')),
  },
  'outcome.client submission.calls': misformatted(),
  'call.answered outcome.empty': responds(({ params }) => {
    const { arguments: args } = isObject(params) ? params : {};
    const fails = isObject(args) && args.symbol === 'XYZ';
    return fails ? { error: { code: -32603, message: 'Internal error' } } : undefined;
  }),
  'call.unknown-tool': unknownTool((name) => name === 'no_such_tool'),
  'call.unknown-tool-names': unknownTool((name) => name === 'constructor'),
  'call.wrong-arguments explore.refuses': calls((params) =>
    withArguments(params, ({ currency: _currency, ...args }) => args),
  ),
  'call.missing-arguments': calls((params) => withArguments(params, (args) => ({ symbol: 'BTC', ...args }))),
  'call.no-arguments-object': calls((params) =>
    isObject(params.arguments) ? params : { ...params, arguments: { symbol: 'BTC' } },
  ),
  'call.no-retry-word': [failureSays('(network timeout)'), failureSays('(status 429)')],
  'submission.calls': where((request) => isSubmission(request), {
    status: 500,
    body: { error: 'Unknown purpose' },
  }),
  'submission.succeeds': toSubmission((body) => ({
    ...body,
    result: failure({ coins: [], error: 'TIMEOUT', message: 'Too slow.' }),
  })),
  'submission.text': toSubmission((body) =>
    JSON.parse(JSON.stringify(body), (key, value) => (key === 'text' ? 'ok' : value)),
  ),
  'submission.in-time': {
    ...limited({ submissionMs: 300 }),
    ...late(310, isSubmission),
  },
};

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

/** Changes the response to a call of the submission test. */
function toSubmission(change: (body: object) => object): Variant {
  return withAnswer((answer, request) =>
    isSubmission(request) ? { ...answer, body: change(answer.body as object) } : answer,
  );
}

function unknownTool(concerned: (name: unknown) => boolean): Variant {
  return responds(({ method, params }) => {
    const broken = method === 'tools/call' && isObject(params) && concerned(params.name);
    return broken ? { error: { code: -32602, message: 'Unknown tool' } } : undefined;
  });
}

/** A server that answers a wrong type with the exception that it caused. */
function withArguments(params: JsonObject, change: (args: JsonObject) => JsonObject): JsonObject {
  const args = params.arguments;
  return params.name === 'get_price' && isObject(args) ? { ...params, arguments: change(args) } : params;
}

/** Declares the format of a time but returns prose: the marketplace's validator ignores formats, the SDK's does not. */
function misformatted(): Variant {
  const time = { type: 'string', format: 'date-time', description: 'When the price was traded.' };
  return {
    ...defines((tool) => {
      const schema = objectOr(tool.outputSchema);
      return {
        ...tool,
        outputSchema: { ...schema, properties: { ...objectOr(schema.properties), at: time } },
      };
    }),
    ...finds((data) => ({ ...data, at: 'yesterday' })),
  };
}
