import { setTimeout as delay } from 'node:timers/promises';
import { defineTool, signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';

const priced = {
  inputSchema: { type: 'object', properties: { coin: { type: 'string', default: 'btc' } }, required: [] },
  outputSchema: {
    type: 'object',
    properties: { ...signals, price: { type: ['number', 'null'] } },
    required: ['price'],
  },
  examples: [],
} as const;

/** The tool of the honest callers: a small answer. */
const price = defineTool({
  ...priced,
  name: 'get_price',
  description: 'Returns the price of a coin in dollars. Use it when a user asks what a coin costs.',
  run: (_, { found }) => found({ price: 12.5 }),
});

/** Answers after two seconds, as a tool that waits for its source. Its arguments stay in memory meanwhile. */
const slow = defineTool({
  ...priced,
  name: 'get_slowly',
  description: 'Returns the price of a coin in dollars, slowly. Use it when a user asks what a coin costs.',
  async run(_, { found, signal }) {
    await delay(2_000, undefined, { signal });
    return found({ price: 12.5 });
  },
});

/** Answers with a text of the requested number of bytes. */
const large = defineTool({
  name: 'get_text',
  description: 'Returns a long text. Use it when a user asks for one.',
  inputSchema: { type: 'object', properties: { bytes: { type: 'integer', default: 1 } }, required: [] },
  outputSchema: {
    type: 'object',
    properties: { ...signals, text: { type: ['string', 'null'] } },
    required: ['text'],
  },
  examples: [],
  run: ({ bytes }, { found }) => found({ text: 'x'.repeat(bytes) }),
});

const names = [
  'id',
  'sku',
  'name',
  'size',
  'color',
  'price',
  'tax',
  'count',
  'note',
  'from',
  'until',
  'state',
];
const line = {
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
};

/** Schemas that make a validator work long, for arguments that the author of a tool would not expect. */
const demanding = defineTool({
  name: 'find_orders',
  description: 'Counts orders. Use it when a user asks how many orders there are.',
  inputSchema: {
    type: 'object',
    properties: {
      orders: { type: 'array', maxItems: 100, items: { ...line, required: names } },
      drafts: { type: 'array', items: line },
      some: { type: 'array', contains: { ...line, required: names } },
      filled: {
        type: 'array',
        items: { properties: Object.fromEntries(names.map((name) => [name, { default: [] }])) },
      },
      filter: { $ref: '#/definitions/filter' },
      unique: { $ref: '#/definitions/unique' },
      code: { type: 'string', pattern: '[ab]*a[ab]{1000}$' },
      codes: { type: 'array', items: { type: 'string', pattern: '\\p{L}.{10}\\p{N}$' } },
      lists: {
        anyOf: Array.from({ length: 100 }, (_, index) => ({
          type: 'array',
          items: { type: 'object', maxProperties: index },
        })),
      },
      kinds: {
        type: 'array',
        items: { enum: Array.from({ length: 1_000 }, (_, index) => ({ index })) },
      },
    },
    required: [],
    definitions: {
      filter: {
        anyOf: [
          { type: 'object', properties: { not: { $ref: '#/definitions/filter' }, a: { type: 'string' } } },
          { type: 'object', properties: { not: { $ref: '#/definitions/filter' }, b: { type: 'string' } } },
          { type: 'string' },
        ],
      },
      unique: { type: ['array', 'integer'], uniqueItems: true, items: { $ref: '#/definitions/unique' } },
    },
  } as const,
  outputSchema: {
    type: 'object',
    properties: { ...signals, count: { type: ['integer', 'null'] } },
    required: ['count'],
  },
  examples: [],
  run: (_, { found }) => found({ count: 0 }),
});

export const tools: readonly Tool[] = [price, large, slow, demanding];
