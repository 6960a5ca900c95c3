import type { Json, JsonObject } from '../../../packages/contract/src/json/value.ts';
import { resultOf } from '../../broken/good-server.ts';
import { goodTools } from '../../broken/good-tools.ts';
import type { HostileServer } from '../hostile-server.ts';

const [price] = goodTools.map(({ definition }) => ({ ...definition }));

/** Makes the name of a tool unique in each list. */
let listings = 0;
/** Each level of a value is validated twice, and so is each level below. */
const branching: JsonObject = {
  type: 'object',
  properties: { price: { $ref: '#/definitions/level' } },
  definitions: {
    level: {
      allOf: [
        { type: 'array', items: { $ref: '#/definitions/level' } },
        { items: { $ref: '#/definitions/level' }, maxItems: 1 },
      ],
    },
  },
};

/** Each level contains the next one twice, 14 levels: 16,384 leaves. */
const branched = Array.from({ length: 14 }).reduce<JsonObject>((inner) => ({ anyOf: [inner, inner] }), {
  type: 'string',
});

/** A tool whose schemas both have these properties. */
function withProperties(properties: JsonObject): JsonObject {
  const schema = { type: 'object', properties, required: [] };
  return { ...price, inputSchema: schema, outputSchema: schema };
}

/** Valid HTTP with hostile content: lists, schemas and results. */
export const hostileContent: readonly HostileServer[] = [
  {
    name: '5,000 tools',
    finds: ['tool.readable'],
    breaks: listing(Array.from({ length: 5_000 }, (_, index) => ({ ...price, name: `tool_${index}` }))),
  },
  {
    name: 'a tool of 8,000 parameters',
    finds: ['tool.readable'],
    breaks: listing([
      withProperties(
        Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`p${index}`, { type: 'string' }])),
      ),
    ]),
  },
  {
    name: 'a tool of 2,000 parameters, which is within the bounds',
    finds: ['input.description'],
    breaks: listing([
      withProperties(
        Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: 'string' }])),
      ),
    ]),
  },
  {
    name: 'a branch within a branch, 14 times',
    finds: ['tool.readable'],
    breaks: listing([withProperties({ price: branched })]),
  },
  {
    name: 'a list of tools without a last page',
    finds: ['discovery.tools'],
    breaks: {
      respond: (good) => async (message) => {
        const { cursor = 0 } = (message.params ?? {}) as { cursor?: number };
        if (message.method !== 'tools/list') return good(message);
        const tools = Array.from({ length: 10 }, (_, index) => ({
          ...price,
          name: `tool_${cursor}_${index}`,
        }));
        return { result: { tools, nextCursor: Number(cursor) + 1 } };
      },
    },
  },
  {
    name: 'empty pages without end',
    finds: ['discovery.tools'],
    breaks: {
      respond: (good) => async (message) =>
        message.method === 'tools/list' ? { result: { tools: [], nextCursor: 'more' } } : good(message),
    },
  },
  {
    name: 'a schema nested 10,000 levels deep',
    finds: ['tool.readable'],
    breaks: {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (!request.body?.includes('tools/list')) return answer;
        return {
          ...answer,
          body: JSON.stringify(answer.body).replace('"outputSchema":{', `$&${nested(10_000)},`),
        };
      },
    },
  },
  {
    name: 'an answer nested 100,000 levels deep',
    finds: ['discovery.tools-list'],
    breaks: {
      answer: (good) => async (request) =>
        request.body?.includes('tools/list')
          ? { status: 200, body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }
          : good(request),
    },
  },
  {
    name: 'a schema that is its own part',
    finds: ['output.holds-empty'],
    breaks: listing([{ ...price, outputSchema: { type: 'object', properties: {}, allOf: [{ $ref: '#' }] } }]),
  },
  {
    name: 'a schema that branches without end',
    finds: ['result.fits'],
    breaks: {
      ...listing([{ ...price, outputSchema: branching }]),
      call: () => async () => resultOf({ price: deepList(26) }),
    },
  },
  {
    name: 'a pattern for which a result is searched without end',
    finds: ['result.fits'],
    breaks: {
      ...listing([{ ...price, outputSchema: withPattern('note') }]),
      call: () => async () => resultOf({ note: `${'a'.repeat(60)}!` }),
    },
  },
  {
    name: 'a pattern for which a default is searched without end',
    finds: ['input.default'],
    breaks: listing([{ ...price, inputSchema: withPattern('query', { default: `${'a'.repeat(60)}!` }) }]),
  },
  {
    name: 'thousands of patterns that are searched without end',
    finds: ['schema.pattern-time'],
    breaks: listing([
      {
        ...price,
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 3_000 }, (_, i) => [`p${i}`, { type: 'string', pattern: `^(a+)+${i}$` }]),
          ),
          required: [],
        },
      },
    ]),
  },
  {
    name: 'the name of a property that is searched without end',
    finds: ['result.fits'],
    breaks: {
      ...listing([
        {
          ...price,
          outputSchema: {
            type: 'object',
            properties: {},
            patternProperties: { '^(a+)+$': { type: 'number' } },
          },
        },
      ]),
      call: () => async () => resultOf({ [`${'a'.repeat(60)}!`]: 1 }),
    },
  },
  {
    name: 'a list of objects that must all differ',
    finds: ['result.fits'],
    breaks: {
      ...listing([
        {
          ...price,
          outputSchema: { type: 'object', properties: { rows: { type: 'array', uniqueItems: true } } },
        },
      ]),
      call: () => async () =>
        resultOf({ rows: Array.from({ length: 60_000 }, (_, id) => ({ id, same: 'same' })) }),
    },
  },
  {
    name: 'escape sequences in every text',
    finds: ['tool.name-pattern'],
    breaks: {
      ...listing([
        { ...price, name: `get\u001b]0;owned\u0007_price\u009b2J`, description: '\u001b[2J\u202eReturns' },
      ]),
      health: () => () => ({ status: 503, body: '\u001b[31mdown\u001b[0m\r\n::error::down' }),
    },
  },
  {
    name: 'a name of a megabyte',
    finds: ['tool.name-pattern'],
    breaks: listing([{ ...price, name: 'x'.repeat(1_000_000) }]),
  },
  {
    name: 'names of members of every object',
    finds: ['input.required-declared'],
    breaks: listing([
      { ...price, name: '__proto__' },
      {
        ...price,
        name: 'constructor',
        inputSchema: { type: 'object', properties: {}, required: ['toString'] },
      },
    ]),
  },
  {
    name: 'a list of what are no tools',
    finds: ['tool.readable'],
    breaks: listing([
      null,
      5,
      'tool',
      [],
      {},
      { name: null },
      { name: {}, inputSchema: [], outputSchema: 'x' },
    ]),
  },
  {
    name: 'schemas that are not schemas',
    finds: ['input.compiles', 'output.compiles'],
    breaks: listing([
      {
        ...price,
        inputSchema: { type: 'object', properties: { a: 5, b: { type: 'wrong' } }, required: [] },
        outputSchema: { type: 'object', properties: { a: { pattern: '(' } }, $async: true },
      },
    ]),
  },
  {
    name: 'answers to other requests',
    finds: ['discovery.initialize'],
    breaks: {
      answer: (good) => async (request) => {
        const answer = await good(request);
        return { ...answer, body: [answer.body, { jsonrpc: '2.0', id: -1, result: {} }] };
      },
    },
  },
  {
    name: 'calls that are never answered',
    finds: ['outcome.in-time'],
    timeoutMs: 500,
    breaks: { call: () => () => new Promise(() => {}) },
  },
  {
    name: 'a result of seven megabytes',
    finds: ['result.size'],
    breaks: { call: () => async () => resultOf({ symbol: 'at '.repeat(1_000_000), price: null }) },
  },
  {
    name: 'another list of tools each time',
    finds: ['call.unknown-tool'],
    breaks: {
      list: () => () => [{ ...price, name: `tool_${++listings}` }],
      call:
        () =>
        async ({ name = null }) =>
          resultOf({ symbol: String(name), price: 5 }),
    },
  },
];

function listing(tools: readonly Json[]): NonNullable<HostileServer['breaks']> {
  return {
    respond: (good) => async (message) =>
      message.method === 'tools/list' ? { result: { tools } } : good(message),
  };
}

/** A recursive member `not` of a schema; JSON.stringify would exceed the stack. */
function nested(levels: number): string {
  return `${'"not":{'.repeat(levels)}${'}'.repeat(levels)}`;
}

function deepList(levels: number): Json {
  let value: Json = 'not a list';
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function withPattern(name: string, more: JsonObject = {}): JsonObject {
  const property = { type: 'string', description: 'Letters.', pattern: '^(a+)+$', ...more };
  return { type: 'object', properties: { [name]: property }, required: [] };
}
