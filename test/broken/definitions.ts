import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import { placeholderComment } from '../../packages/contract/src/definition/placeholder.ts';
import { present } from '../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { type Changes, type Definitions, edited, good } from './edited.ts';
import type { Broken } from './variant.ts';

export const brokenDefinitions: Broken<Definitions | Changes> = {
  'tool.readable': [{ tools: [...good, 'no tool'] }, { tools: [...good, nested(200)] }],
  'tool.name': { name: '' },
  'tool.name-unique': {
    tools: [
      ...good,
      { ...edited({ description: 'Returns yet another price. Use it when the first one fails.' })[0] },
    ],
  },
  'tool.name-pattern': { name: 'get price!' },
  'tool.description': { description: ' ' },
  'tool.description-length': { description: 'Returns prices to use.' },
  'tool.description-complete': {
    description: 'Prices of coins on the largest exchanges, fresh every minute.',
  },
  'tool.description-own-words': {
    name: 'returns_last_traded_price_when_used_for_coins',
    description: 'Returns the last traded price when used for coins.',
  },
  'tool.description-distinct': { description: good[1]?.description },
  'tool.to-do': [
    { 'outputSchema.properties.price.description': 'TODO: what price says, with its unit.' },
    { 'inputSchema.properties.symbol.description': 'TODO: what symbol says.' },
    { 'inputSchema.properties.symbol.description': 'The symbol of the request.' },
    {
      description: 'Get a price. Use it when a question needs GET /prices/{symbol} of Price API.',
    },
  ],
  'input.object-root input.smoke-arguments': { 'inputSchema.type': undefined },
  'input.properties': { inputSchema: { type: 'object', required: [] } },
  'input.required': { 'inputSchema.required': undefined },
  'input.required-declared input.smoke-arguments': { 'inputSchema.required': ['symbol', 'market'] },
  'input.compiles': { 'inputSchema.properties.symbol.pattern': '(' },
  'input.type': { 'inputSchema.properties.symbol.type': ['string', 'null'] },
  'input.description': { 'inputSchema.properties.symbol.description': undefined },
  'input.sample': { 'inputSchema.properties.symbol.examples': undefined },
  'input.placeholder': { 'inputSchema.properties.symbol.$comment': placeholderComment },
  'input.default': [
    { 'inputSchema.properties.currency.default': 5 },
    { 'inputSchema.properties.options': options({ default: 'none' }) },
  ],
  'input.examples': [
    { 'inputSchema.properties.symbol.examples': ['BTC', 5] },
    { 'inputSchema.properties.options': options({ examples: ['few'] }) },
  ],
  'input.examples input.compiles': { 'inputSchema.properties.currency.examples': 'EUR' },
  'input.enum': [
    { 'inputSchema.properties.currency.enum': ['USD', 'EUR', 5] },
    { 'inputSchema.properties.options': options({ type: undefined, enum: [1, 'all'] }) },
  ],
  'modern.parameter-header': [
    { 'inputSchema.properties.symbol.x-mcp-header': 'a b' },
    {
      'inputSchema.properties.symbol.x-mcp-header': 'Symbol',
      'inputSchema.properties.currency.x-mcp-header': 'symbol',
    },
    { 'inputSchema.properties.options': { ...options({}), 'x-mcp-header': 'Options' } },
    { 'inputSchema.x-mcp-header': 'Root' },
  ],
  'input.items': {
    'inputSchema.properties.markets': { type: 'array', description: 'Markets.', examples: [['spot']] },
  },
  'input.smoke-arguments': { 'inputSchema.minProperties': 2 },
  'output.object-root': { 'outputSchema.type': undefined },
  'output.no-root-union': { 'outputSchema.anyOf': [{ required: ['price'] }, { required: ['error'] }] },
  'output.properties': { outputSchema: { type: 'object', properties: { ...signals }, required: [] } },
  'output.required-declared': { 'outputSchema.required': ['symbol', 'volume'] },
  'output.compiles': [{ 'outputSchema.properties.symbol.pattern': '(' }, { 'outputSchema.$async': true }],
  'output.kept-root': [
    { 'outputSchema.additionalProperties': { type: 'number', description: 'A price.' } },
    {
      'outputSchema.properties.price': { $ref: '#/$defs/Price', description: 'Last traded price.' },
      'outputSchema.$defs': { Price: { type: ['number', 'null'] } },
    },
  ],
  'output.typed': { 'outputSchema.properties.price.type': undefined },
  'output.described': { 'outputSchema.properties.price.description': undefined },
  'output.items': { 'outputSchema.properties.trades': { type: 'array', description: 'Latest trades.' } },
  'output.members': {
    'outputSchema.properties.venue': { type: 'object', description: 'Where it is traded.' },
  },
  'output.holds-empty': {
    'outputSchema.properties.searchExhausted.type': 'string',
    'outputSchema.properties.noResultsReason.type': 'integer',
  },
  'output.holds-empty output.holds-failure': { 'outputSchema.properties.price.type': 'number' },
  'output.holds-failure': { 'outputSchema.properties.error.type': 'integer' },
  'output.empty-signal': {
    'outputSchema.properties.searchExhausted': undefined,
    'outputSchema.properties.noResultsReason': undefined,
  },
  'output.failure-signal': { 'outputSchema.properties.message': undefined },
  'schema.pattern-time': [
    { 'inputSchema.properties.symbol.pattern': '^(\\w+\\s?)*$' },
    { 'inputSchema.properties.symbol.pattern': '[^\\s@]+\\.[^\\s@]+$|^[A-Z]+$' },
    {
      'inputSchema.properties.symbol.pattern': '^(a+)+$|^[A-Z]+$',
      'inputSchema.properties.symbol.maxLength': 40,
    },
    {
      'outputSchema.patternProperties': { '^(x+-?)+$': { type: 'string', description: 'Any other.' } },
    },
  ],
  'schema.repeated-scans fit.tokens-tool': {
    'outputSchema.properties.trades': {
      description: 'The trades.',
      anyOf: Array.from({ length: 100 }, (_, index) => ({
        type: 'array',
        items: { type: 'integer', description: 'A trade.', minimum: index },
      })),
    },
  },
  'schema.repeated-scans output.members': {
    'outputSchema.properties.prices': {
      description: 'The prices by coin.',
      type: 'object',
      allOf: Array.from({ length: 21 }, (_, index) => ({
        minProperties: index,
      })),
    },
  },
  'schema.doubling': {
    'outputSchema.properties.before': {
      description: 'The trade before.',
      anyOf: [
        {
          type: 'object',
          properties: {
            before: { description: 'The trade before.', $ref: '#/properties/before' },
            buyer: { type: 'string', description: 'Who bought.' },
          },
        },
        {
          type: 'object',
          properties: {
            before: { description: 'The trade before.', $ref: '#/properties/before' },
            seller: { type: 'string', description: 'Who sold.' },
          },
        },
      ],
    },
  },
  'input.distinct-items': [
    { 'inputSchema.properties.orders': distinct({}) },
    { 'inputSchema.properties.orders': distinct({ maxItems: 1_000_000 }) },
  ],
  'schema.no-dialect': { 'outputSchema.$schema': 'http://json-schema.org/draft-07/schema#' },
  'schema.no-dialect output.compiles': {
    'outputSchema.$schema': 'https://json-schema.org/draft/2020-12/schema',
  },
  'input.dialect': [
    { 'inputSchema.$id': 'https://example.com/price' },
    {
      'inputSchema.properties.range': {
        type: 'array',
        description: 'Lowest and highest price.',
        examples: [[1, 2]],
        items: [{ type: 'number' }, { type: 'number' }],
      },
    },
  ],
  'schema.no-id': { 'outputSchema.$id': 'https://example.com/price' },
  'schema.no-external-ref': {
    'outputSchema.properties.kind': {
      $ref: 'http://json-schema.org/draft-07/schema#/definitions/simpleTypes',
      description: 'Kind of price.',
    },
  },
  'schema.no-tuples': {
    'outputSchema.properties.range': {
      type: 'array',
      description: 'Lowest and highest price.',
      items: [{ type: 'number' }, { type: 'number' }],
    },
  },
  'schema.no-unevaluated': { 'outputSchema.unevaluatedProperties': false },
  'schema.no-nullable-keyword': {
    'outputSchema.properties.price.type': 'number',
    'outputSchema.properties.price.nullable': true,
  },
  'meta.shape': { '_meta.latencyClass': 'quick' },
  'meta.sense': [
    { '_meta.pricing': undefined },
    { '_meta.surface': 'execute' },
    { '_meta.contextRequirements': ['wallet'] },
  ],
  'meta.references': [
    { '_meta.rateLimit.recommendedBatchTools': ['list_everything'] },
    {
      '_meta.contextRequirements': ['wallet'],
      'inputSchema.properties': {
        limit: { type: 'integer', description: 'Number of coins.', examples: [5] },
      },
      'inputSchema.required': ['limit'],
    },
  ],
  'meta.known-keys': { '_meta.inputExamples': [] },
};

/** A parameter that is an object with one integer, with some keywords replaced; undefined removes one. */
function options(different: Readonly<Record<string, Json | undefined>>): JsonObject {
  const limit = present({ type: 'integer', description: 'Trades to return.', ...different });
  return {
    type: 'object',
    description: 'How to answer.',
    properties: { limit },
    examples: [{}],
  };
}

/** A list of distinct orders. */
function distinct(different: Readonly<Record<string, Json>>): JsonObject {
  return {
    type: 'array',
    description: 'Orders to look up.',
    items: { type: 'object', properties: { id: { type: 'string', description: 'Id of the order.' } } },
    uniqueItems: true,
    examples: [[{ id: '17' }]],
    ...different,
  };
}

function nested(levels: number): JsonObject {
  return levels === 0 ? {} : { properties: nested(levels - 1) };
}
