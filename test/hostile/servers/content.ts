import type { Json, JsonObject } from '../../../packages/contract/src/json/value.ts';
import { bounds } from '../../../packages/contract/src/json/walk.ts';
import { resultOf } from '../../broken/good-server.ts';
import { goodTools } from '../../broken/good-tools.ts';
import { responds, type Variant } from '../../broken/variant.ts';
import type { HostileServers } from '../hostile-server.ts';

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

/** Seven megabytes, as text and as structured content. */
const largeResult = resultOf({ symbol: 'at '.repeat(1_000_000), price: null });

/** A tool whose schemas both have these properties. */
function withProperties(properties: JsonObject): JsonObject {
  const schema = { type: 'object', properties, required: [] };
  return { ...price, inputSchema: schema, outputSchema: schema };
}

/** Valid HTTP with hostile content: lists, schemas and results. */
export const hostileContent: HostileServers = {
  'tool.readable': {
    'more tools than are examined': listing(
      Array.from({ length: bounds.tools + 1 }, (_, index) => ({ ...price, name: `tool_${index}` })),
    ),
    'a tool of 8,000 parameters': listing([
      withProperties(
        Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`p${index}`, { type: 'string' }])),
      ),
    ]),
    'a branch within a branch, 14 times': listing([withProperties({ price: branched })]),
    'a schema nested 10,000 levels deep': {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (!request.body?.includes('tools/list')) return answer;
        return {
          ...answer,
          body: JSON.stringify(answer.body).replace('"outputSchema":{', `$&${nested(10_000)},`),
        };
      },
    },
    'a list of what are no tools': listing([
      null,
      5,
      'tool',
      [],
      {},
      { name: null },
      { name: {}, inputSchema: [], outputSchema: 'x' },
    ]),
  },
  'input.description': {
    'a tool of 2,000 parameters, which is within the bounds': listing([
      withProperties(
        Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: 'string' }])),
      ),
    ]),
  },
  'discovery.tools': {
    'a list of tools without a last page': {
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
    'empty pages without end': {
      respond: (good) => async (message) =>
        message.method === 'tools/list' ? { result: { tools: [], nextCursor: 'more' } } : good(message),
    },
  },
  'discovery.tools-list': {
    'an answer nested 100,000 levels deep': {
      answer: (good) => async (request) =>
        request.body?.includes('tools/list')
          ? { status: 200, body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }
          : good(request),
    },
  },
  'output.holds-empty': {
    'a schema that is its own part': listing([
      { ...price, outputSchema: { type: 'object', properties: {}, allOf: [{ $ref: '#' }] } },
    ]),
  },
  'result.fits': {
    'a schema that branches without end': {
      ...listing([{ ...price, outputSchema: branching }]),
      call: () => async () => resultOf({ price: deepList(26) }),
    },
    'a pattern for which a result is searched without end': {
      ...listing([{ ...price, outputSchema: withPattern('note') }]),
      call: () => async () => resultOf({ note: `${'a'.repeat(60)}!` }),
    },
    'the name of a property that is searched without end': {
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
    'a list of objects that must all differ': {
      ...listing([
        {
          ...price,
          outputSchema: { type: 'object', properties: { rows: { type: 'array', uniqueItems: true } } },
        },
      ]),
      call: () => async () =>
        resultOf({ rows: Array.from({ length: 10_000 }, (_, id) => ({ id, same: 'same' })) }),
    },
  },
  'input.default': {
    'a pattern for which a default is searched without end': listing([
      { ...price, inputSchema: withPattern('query', { default: `${'a'.repeat(60)}!` }) },
    ]),
  },
  'schema.pattern-time': {
    'thousands of patterns that are searched without end': listing([
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
  'tool.name-pattern': {
    'escape sequences in every text': {
      ...listing([
        { ...price, name: `get\u001b]0;owned\u0007_price\u009b2J`, description: '\u001b[2J\u202eReturns' },
      ]),
      health: () => () => ({ status: 503, body: '\u001b[31mdown\u001b[0m\r\n::error::down' }),
    },
    'a name of a megabyte': listing([{ ...price, name: 'x'.repeat(1_000_000) }]),
  },
  'input.required-declared': {
    'names of members of every object': listing([
      { ...price, name: '__proto__' },
      {
        ...price,
        name: 'constructor',
        inputSchema: { type: 'object', properties: {}, required: ['toString'] },
      },
    ]),
  },
  'input.compiles output.compiles': {
    'schemas that are not schemas': listing([
      {
        ...price,
        inputSchema: { type: 'object', properties: { a: 5, b: { type: 'wrong' } }, required: [] },
        outputSchema: { type: 'object', properties: { a: { pattern: '(' } }, $async: true },
      },
    ]),
  },
  'discovery.initialize': {
    'answers to other requests': {
      answer: (good) => async (request) => {
        const answer = await good(request);
        return { ...answer, body: [answer.body, { jsonrpc: '2.0', id: -1, result: {} }] };
      },
    },
  },
  'result.size': {
    'a result of seven megabytes': {
      call: () => async () => largeResult,
    },
  },
  'call.unknown-tool': {
    'another list of tools each time': {
      list: () => () => [{ ...price, name: `tool_${++listings}` }],
      call:
        () =>
        async ({ name = null }) =>
          resultOf({ symbol: String(name), price: 5 }),
    },
  },
};

function listing(tools: readonly Json[]): Variant {
  return responds(({ method }) => (method === 'tools/list' ? { result: { tools } } : undefined));
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
