import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isObject, objectOr, present } from '../../../packages/contract/src/json/json.ts';
import { mismatches } from '../../../packages/contract/src/json/schema.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { resultOf } from '../good-server.ts';
import { type Broken, Clock, instead, methodOf, type Variant } from '../variant.ts';
import type { Request } from '../wire.ts';

/** The params of a tools/call with their arguments. */
interface Call extends JsonObject {
  readonly args: JsonObject;
}

function callOf(params: unknown): Call {
  const given = isObject(params) ? params : {};
  return { ...given, args: isObject(given.arguments) ? given.arguments : {} };
}

/** The arguments of list_coins that its inputSchema allows. */
function withoutWrong({ limit, after }: JsonObject): JsonObject {
  const isLimit = Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= 50;
  return { ...(isLimit && limit !== undefined && { limit }), ...(typeof after === 'string' && { after }) };
}

function textsIn(args: JsonObject): string {
  return Object.values(args)
    .filter((value) => typeof value === 'string')
    .join('');
}

/** A server that answers some calls with HTTP 500. */
function crashes(when: (call: Call) => boolean): Variant {
  return instead((request) => {
    if (methodOf(request) !== 'tools/call') return undefined;
    const message = JSON.parse(request.body ?? '{}');
    const isCall = isObject(message) && isObject(message.params ?? {});
    return isCall && when(callOf(message.params))
      ? { status: 500, body: { error: 'Internal Server Error' } }
      : undefined;
  });
}

/** A server that answers some calls otherwise. */
function calls(
  otherwise: (call: Call, good: () => Promise<JsonObject>) => Promise<JsonObject> | JsonObject | undefined,
): Variant {
  return {
    call: (good) => async (params) =>
      (await otherwise(callOf(params), () => good(params))) ?? (await good(params)),
  };
}

/** A server that changes the data that it finds. */
function finds(change: (data: JsonObject, call: Call) => JsonObject): Variant {
  return calls(async (call, good) => {
    const result = await good();
    const { structuredContent: data } = result;
    const isFound = result.isError !== true && isObject(data) && data.searchExhausted !== true;
    return isFound ? resultOf(change(data, call)) : result;
  });
}

const exception = "Cannot read properties of undefined (reading 'rate')";
const prices = { symbol: null, price: null };

const unsorted = [
  { symbol: 'BTC', price: 64_000 },
  { symbol: 'SOL', price: 140 },
  { symbol: 'ETH', price: 3_100 },
];

function inThousands({ symbol = null, price }: JsonObject): JsonObject {
  return { symbol, price: Number(price) / 1_000 };
}

export const brokenExplorations: Broken<Variant> = {
  'explore.answered': [
    crashes(({ args }) => args.symbol === null),
    crashes(({ args }) => textsIn(args).includes('😀')),
    crashes(({ args }) => textsIn(args).length > 8_000),
    crashes(
      ({ name, args }) => name === 'get_price' && Object.keys(args).some((key) => key.startsWith('zq7')),
    ),
    crashes((call) => !('arguments' in call)),
    crashes((call) => !('name' in call)),
    crashes(({ _meta }) => isObject(_meta) && 'progressToken' in _meta),
  ],
  'explore.valid': [
    calls(({ args }) =>
      args.currency === 'EUR'
        ? { ...resultOf({ ...prices, error: 'FAILED', message: exception }), isError: true }
        : undefined,
    ),
    {
      respond: (good) => async (message) =>
        message.method === 'tools/call' && callOf(message.params).args.limit === 1
          ? { error: { code: -32603, message: 'Internal error' } }
          : good(message),
    },
  ],
  'explore.no-crash': [
    calls(({ name, args }) =>
      name === 'get_price' && args.symbol === null
        ? {
            ...resultOf({ ...prices, error: 'FAILED', message: 'TypeError: symbol.trim is not a function' }),
            isError: true,
          }
        : undefined,
    ),
    refusesOddTexts(-32603, 'Internal error'),
  ],
  'explore.refuses call.no-arguments-object call.wrong-arguments': {
    call: (good) => async (params) =>
      params.name === 'list_coins'
        ? good({ ...params, arguments: withoutWrong(callOf(params).args) })
        : good(params),
  },
  'explore.refuses': [
    calls(({ args }) => {
      const isUnlisted = args.currency !== undefined && !/USD|EUR/.test(String(args.currency));
      return isUnlisted
        ? { ...resultOf({ ...prices, error: 'INVALID_ARGUMENTS', message: 'Wrong input.' }), isError: true }
        : undefined;
    }),
    declaresArguments({ additionalProperties: false }),
    declaresArguments({}, { symbol: { maxLength: 40 } }),
  ],
  'explore.own-answer': [sharedRequest(), sharedArguments(), sharedByAll(), sharedOrFailed()],
  'explore.same-data': otherSessions(),
  'explore.arguments-matter explore.limit': firstForEver(),
  'explore.echo': finds((data) => ('price' in data ? { ...data, symbol: 'BTC' } : data)),
  'explore.limit': [
    finds((data) => ('coins' in data ? { coins: ['BTC', 'ETH'].map((symbol) => ({ symbol })) } : data)),
    ignoresLimitOfOne(),
  ],
  'explore.empty-signal': [
    calls(({ name, args }) =>
      name === 'list_coins' && args.limit === 50 ? resultOf({ coins: [] }) : undefined,
    ),
    lists({ of: { type: 'string', enum: ['coins', 'stocks'] } }, {}, ({ args }, symbols) =>
      args.of === 'stocks' ? 'No stock matches.' : { coins: symbols },
    ),
  ],
  'explore.exhausted outcome.found': finds((data) => ({ ...data, searchExhausted: true })),
  'explore.steady': growing(),
  'explore.numbers': [
    lists({}, { count: 'integer' }, (_, coins) => ({ coins, count: coins.length > 1 ? 1 : coins.length })),
    lists({}, { open: 'number', high: 'number', low: 'number', close: 'number' }, (_, coins) => ({
      coins,
      ...{ open: 64_000, high: 63_000, low: 65_000, close: 64_100 },
    })),
    lists({}, { count: 'integer' }, (_, coins) => ({ coins, count: coins.length + 1 })),
    lists({}, { averagePrice: 'number', maxPrice: 'number' }, (_, coins) => ({
      coins,
      averagePrice: 67_100,
      maxPrice: 64_000,
    })),
  ],
  'explore.order': lists({ sort: { type: 'string', enum: ['price', 'symbol'] } }, {}, ({ args }) => ({
    coins: unsorted.slice(0, Number(args.limit ?? 10)),
  })),
  'explore.default': finds((data, { args }) =>
    'price' in data && args.currency === undefined ? { ...data, price: 59_000 } : data,
  ),
  'explore.units': lists({}, {}, (_, coins) => ({ coins: coins.map(inThousands) })),
  'explore.bounds': lists({ min_price: { type: 'number', examples: [100] } }, {}, (_, coins) => ({ coins })),
};

/** A server that answers each text with Arabic letters by an error. */
export function refusesOddTexts(code: number, message: string): Variant {
  return {
    respond: (good) => async (request) => {
      const isOdd =
        request.method === 'tools/call' && /[\u0600-\u06ff]/.test(textsIn(callOf(request.params).args));
      return isOdd ? { error: { code, message } } : good(request);
    },
  };
}

/** A server that lists further keywords of the inputSchema of get_price, without effect. */
function declaresArguments(
  keywords: JsonObject,
  parameters: Readonly<Record<string, JsonObject>> = {},
): Variant {
  return {
    list: (good) => () =>
      good().map((tool) => {
        if (tool.name !== 'get_price') return tool;
        const inputSchema = structuredClone(objectOr(tool.inputSchema)) as Record<string, JsonObject>;
        for (const [name, schema] of Object.entries(parameters))
          inputSchema.properties = {
            ...inputSchema.properties,
            [name]: { ...objectOr(inputSchema.properties?.[name]), ...schema },
          };
        return { ...tool, inputSchema: { ...inputSchema, ...keywords } };
      }),
  };
}

/** A server whose list_coins has further parameters, declared fields and other data; a text is a failure. */
function lists(
  parameters: JsonObject,
  fields: Readonly<Record<string, string>>,
  answer: (call: Call, coins: JsonObject[]) => JsonObject | string,
  description = 'Last price.',
): Variant {
  const described = (schema: JsonObject) => ({ description: 'What it says.', ...schema });
  const priced = { type: 'number', description };
  return {
    list: (good) => () =>
      good().map((tool) => {
        if (tool.name !== 'list_coins') return tool;
        const { inputSchema, outputSchema } = JSON.parse(JSON.stringify(tool));
        for (const [name, schema] of Object.entries(parameters))
          inputSchema.properties[name] = described(isObject(schema) ? schema : {});
        for (const [name, type] of Object.entries(fields))
          outputSchema.properties[name] = described({ type });
        outputSchema.properties.coins.items.properties.price = priced;
        return { ...tool, inputSchema, outputSchema };
      }),
    ...calls(async (call, good) => {
      const [wrong] = Object.entries(parameters).flatMap(([name, schema]) => {
        const problems = mismatches(schema as JsonObject, call.args[name] ?? null, name);
        return name in call.args && problems.length > 0 ? [name] : [];
      });
      const message = `${wrong}: not as the inputSchema has it.`;
      if (call.name === 'list_coins' && wrong !== undefined)
        return { ...resultOf({ coins: [], error: 'INVALID_ARGUMENTS', message }), isError: true };
      const result = await good();
      const { structuredContent: data } = result;
      if (call.name !== 'list_coins' || !isObject(data) || !Array.isArray(data.coins)) return result;
      if (data.coins.length === 0) return result;
      const coins = data.coins.map((coin) => ({
        ...(isObject(coin) && coin),
        price: isObject(coin) && coin.symbol === 'BTC' ? 64_000 : 3_100,
      }));
      const told = answer(call, coins);
      return typeof told === 'string'
        ? { ...resultOf({ coins: [], error: 'NOT_FOUND', message: told }), isError: true }
        : resultOf(told);
    }),
  };
}

/** Lets other requests arrive: however long a turn of the event loop takes, each of these pauses reads what has come by then. */
async function moment(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await setTimeout(5);
}

/** A server that lists the coins by the arguments that it validated last. */
function sharedArguments(): Variant {
  let last: JsonObject = {};
  return {
    call: (good) => async (params) => {
      const { name, args } = callOf(params);
      if (name !== 'list_coins' || !isDeepStrictEqual(params.arguments, withoutWrong(args)))
        return good(params);
      last = args;
      await moment();
      return good({ ...params, arguments: last });
    },
  };
}

/**
 * The number of calls that are answered correctly at first. A check sends 44 calls before it generates some from those that found data:
 * if chance decided what they find, it would also decide what is generated.
 */
const correctCalls = 50;

/** A server that answers the calls of a tool that run together with the arguments of the last one. */
function sharedByAll(): Variant {
  const last = new Map<unknown, JsonObject>();
  let callCount = 0;
  return {
    call: (good) => async (params) => {
      callCount += 1;
      if (!isObject(params.arguments) || callCount <= correctCalls) return good(params);
      last.set(params.name, params.arguments);
      await moment();
      return good({ ...params, ...present({ arguments: last.get(params.name) }) });
    },
  };
}

/**
 * The same, but calls that run beside other requests than calls fail, as most do at the beginning of a check. Calls with BTC or without arguments
 * do not: if by chance all calls of a tool failed, nothing would be found of which calls could be generated.
 */
function sharedOrFailed(): Variant {
  const { call: shared } = sharedByAll();
  let others = 0;
  return {
    answer: (good) => async (request) => {
      const isOther = methodOf(request) !== 'tools/call';
      if (isOther) others += 1;
      try {
        if (isOther) await setTimeout(20);
        return await good(request);
      } finally {
        if (isOther) others -= 1;
      }
    },
    call: (good, steps) => async (params) => {
      const result = await (shared ?? ((same) => same))(good, steps)(params);
      const { symbol = 'BTC' } = isObject(params.arguments) ? params.arguments : {};
      if (others === 0 || symbol === 'BTC') return result;
      return { ...resultOf({ ...prices, error: 'FAILED', message: 'Try later.' }), isError: true };
    },
  };
}

/** The parsed call of get_price in a request, with its session. */
function priceCall({ body, headers, method }: Request): { session: string; params: Call } | undefined {
  if (methodOf({ body, headers, method, path: '' }) !== 'tools/call') return undefined;
  const params = callOf(JSON.parse(body ?? '{}').params);
  return params.name === 'get_price' ? { session: String(headers['mcp-session-id']), params } : undefined;
}

/** A server that answers a session with what another one asks at the same time. */
function sharedRequest(): Variant {
  let last: { session: string; params: Call } | undefined;
  return {
    answer: (good) => async (request) => {
      const mine = priceCall(request);
      if (!mine || !['BTC', 'ETH'].includes(String(mine.params.args.symbol))) return good(request);
      last = mine;
      await moment();
      const read = last;
      if (read.session === mine.session) return good(request);
      const message = JSON.parse(request.body ?? '{}');
      const params = { ...message.params, arguments: read.params.args };
      return good({ ...request, body: JSON.stringify({ ...message, params }) });
    },
  };
}

/** A server that has an old price for the first calls of a session. */
function otherSessions(): Variant {
  const calls = new Map<string, number>();
  return {
    answer: (good) => async (request) => {
      const answer = await good(request);
      const mine = request.headers['mcp-session-id'] === undefined ? undefined : priceCall(request);
      if (!mine || answer.status !== 200) return answer;
      const count = (calls.get(mine.session) ?? 0) + 1;
      calls.set(mine.session, count);
      if (count > 3) return answer;
      return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll('64000', '63000')) };
    },
  };
}

/** A server that keeps the first list of coins for all arguments. */
function firstForEver(): Variant {
  let first: JsonObject | undefined;
  return calls(async ({ name }, good) => {
    const result = await good();
    if (name !== 'list_coins' || result.isError === true) return result;
    first ??= result;
    return first;
  });
}

/** A server that has one more coin than asked for, and whose inputSchema names no small limit. */
function ignoresLimitOfOne(): Variant {
  return {
    list: (good) => () =>
      good().map((tool) =>
        tool.name === 'list_coins' ? { ...tool, inputSchema: withoutMinimum(tool.inputSchema) } : tool,
      ),
    call: (good) => async (params) => {
      const { name, args } = callOf(params);
      return name === 'list_coins' && args.limit === 1
        ? good({ ...params, arguments: { ...args, limit: 2 } })
        : good(params);
    },
  };
}

function withoutMinimum(schema: unknown): JsonObject {
  return JSON.parse(JSON.stringify(schema).replace('"minimum":1,', ''));
}

/** A server that takes longer for each list of coins than for the one before. The pings of its quiet machine differ by less than 1 ms. */
function growing(): Variant {
  return slowing(8, (count) => count * 0.02);
}

/** A machine on which each list of coins, and each ping, takes longer than the one before, by the same factor. */
export function slowingMachine(): Variant {
  return slowing(20, (count) => count);
}

/**
 * A server with a clock of its own: each list of coins takes longer by `stepMs` than the one before.
 *
 * @param pingMs the duration of a ping after some lists
 */
function slowing(stepMs: number, pingMs: (listCount: number) => number): Variant {
  const clock = new Clock();
  let listCount = 0;
  return {
    clock,
    ...instead((request) => {
      const method = methodOf(request);
      if (method === 'ping') clock.advance(pingMs(listCount));
      if (method !== 'tools/call' || !request.body?.includes('"list_coins","arguments":{}')) return undefined;
      listCount += 1;
      clock.advance(listCount * stepMs);
      return undefined;
    }),
  };
}

/** Lists that sort, or name their unit, or do neither and need not. */
export const correctLists: Readonly<Record<string, Variant>> = {
  'a list that is sorted as the call asks': lists(
    { sort: { type: 'string', enum: ['price', 'symbol'] } },
    {},
    ({ args }) => {
      const sorted = args.sort === 'symbol' ? unsorted.toSorted(bySymbol) : unsorted.toSorted(byPrice);
      return { coins: sorted.slice(0, Number(args.limit ?? 10)) };
    },
  ),
  'a list in the order of a rank that it does not return': lists(
    { sort: { type: 'string', enum: ['relevance', 'popularity'] } },
    {},
    ({ args }) => ({ coins: unsorted.slice(0, Number(args.limit ?? 10)) }),
  ),
  'prices in thousands, as the description says': lists(
    {},
    {},
    (_, coins) => ({ coins: coins.map(inThousands) }),
    'Last price, in thousands.',
  ),
};

interface Priced {
  readonly symbol: string;
  readonly price: number;
}

function byPrice(left: Priced, right: Priced): number {
  return right.price - left.price;
}

function bySymbol(left: Priced, right: Priced): number {
  return left.symbol.localeCompare(right.symbol);
}
