import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import { placeholderComment } from '../../packages/contract/src/definition/placeholder.ts';
import { present } from '../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { type BrokenDefinitions, edited, good } from './edited.ts';
import { brokenFit } from './fit-definitions.ts';

export const brokenDefinitions: readonly BrokenDefinitions[] = [
  { rule: 'tool.readable', tools: [...good, 'no tool'] },
  { rule: 'tool.readable', tools: [...good, nested(200)] },
  { rule: 'tool.name', tools: edited({ name: '' }) },
  {
    rule: 'tool.name-unique',
    tools: [
      ...good,
      { ...edited({ description: 'Returns yet another price. Use it when the first one fails.' })[0] },
    ],
  },
  { rule: 'tool.name-pattern', tools: edited({ name: 'get price!' }) },
  { rule: 'tool.description', tools: edited({ description: ' ' }) },
  { rule: 'tool.description-length', tools: edited({ description: 'Returns prices to use.' }) },
  {
    rule: 'tool.description-complete',
    tools: edited({ description: 'Prices of coins on the largest exchanges, fresh every minute.' }),
  },
  {
    rule: 'tool.description-own-words',
    tools: edited({
      name: 'returns_last_traded_price_when_used_for_coins',
      description: 'Returns the last traded price when used for coins.',
    }),
  },
  { rule: 'tool.description-distinct', tools: edited({ description: good[1]?.description }) },
  {
    rule: 'tool.to-do',
    tools: edited({ 'outputSchema.properties.price.description': 'TODO: what price says, with its unit.' }),
  },
  {
    rule: 'tool.to-do',
    tools: edited({ 'inputSchema.properties.symbol.description': 'TODO: what symbol says.' }),
  },
  {
    rule: 'tool.to-do',
    tools: edited({ 'inputSchema.properties.symbol.description': 'The symbol of the request.' }),
  },
  {
    rule: 'tool.to-do',
    tools: edited({
      description: 'Get a price. Use it when a question needs GET /prices/{symbol} of Price API.',
    }),
  },
  {
    rule: 'input.object-root',
    along: ['input.smoke-arguments'],
    tools: edited({ 'inputSchema.type': undefined }),
  },
  { rule: 'input.properties', tools: edited({ inputSchema: { type: 'object', required: [] } }) },
  { rule: 'input.required', tools: edited({ 'inputSchema.required': undefined }) },
  {
    rule: 'input.required-declared',
    along: ['input.smoke-arguments'],
    tools: edited({ 'inputSchema.required': ['symbol', 'market'] }),
  },
  { rule: 'input.compiles', tools: edited({ 'inputSchema.properties.symbol.pattern': '(' }) },
  { rule: 'input.type', tools: edited({ 'inputSchema.properties.symbol.type': ['string', 'null'] }) },
  { rule: 'input.description', tools: edited({ 'inputSchema.properties.symbol.description': undefined }) },
  { rule: 'input.sample', tools: edited({ 'inputSchema.properties.symbol.examples': undefined }) },
  {
    rule: 'input.placeholder',
    tools: edited({ 'inputSchema.properties.symbol.$comment': placeholderComment }),
  },
  { rule: 'input.default', tools: edited({ 'inputSchema.properties.currency.default': 5 }) },
  { rule: 'input.examples', tools: edited({ 'inputSchema.properties.symbol.examples': ['BTC', 5] }) },
  {
    rule: 'input.examples',
    along: ['input.compiles'],
    tools: edited({ 'inputSchema.properties.currency.examples': 'EUR' }),
  },
  { rule: 'input.enum', tools: edited({ 'inputSchema.properties.currency.enum': ['USD', 'EUR', 5] }) },
  { rule: 'modern.parameter-header', tools: edited({ 'inputSchema.properties.symbol.x-mcp-header': 'a b' }) },
  {
    rule: 'modern.parameter-header',
    tools: edited({
      'inputSchema.properties.symbol.x-mcp-header': 'Symbol',
      'inputSchema.properties.currency.x-mcp-header': 'symbol',
    }),
  },
  {
    rule: 'modern.parameter-header',
    tools: edited({ 'inputSchema.properties.options': { ...options({}), 'x-mcp-header': 'Options' } }),
  },
  {
    rule: 'modern.parameter-header',
    tools: edited({ 'inputSchema.x-mcp-header': 'Root' }),
  },
  {
    rule: 'input.default',
    tools: edited({ 'inputSchema.properties.options': options({ default: 'none' }) }),
  },
  {
    rule: 'input.examples',
    tools: edited({ 'inputSchema.properties.options': options({ examples: ['few'] }) }),
  },
  {
    rule: 'input.enum',
    tools: edited({ 'inputSchema.properties.options': options({ type: undefined, enum: [1, 'all'] }) }),
  },
  {
    rule: 'input.items',
    tools: edited({
      'inputSchema.properties.markets': { type: 'array', description: 'Markets.', examples: [['spot']] },
    }),
  },
  { rule: 'input.smoke-arguments', tools: edited({ 'inputSchema.minProperties': 2 }) },
  { rule: 'output.object-root', tools: edited({ 'outputSchema.type': undefined }) },
  {
    rule: 'output.no-root-union',
    tools: edited({ 'outputSchema.anyOf': [{ required: ['price'] }, { required: ['error'] }] }),
  },
  {
    rule: 'output.properties',
    tools: edited({ outputSchema: { type: 'object', properties: { ...signals }, required: [] } }),
  },
  { rule: 'output.required-declared', tools: edited({ 'outputSchema.required': ['symbol', 'volume'] }) },
  { rule: 'output.compiles', tools: edited({ 'outputSchema.properties.symbol.pattern': '(' }) },
  { rule: 'output.compiles', tools: edited({ 'outputSchema.$async': true }) },
  {
    rule: 'output.kept-root',
    tools: edited({ 'outputSchema.additionalProperties': { type: 'number', description: 'A price.' } }),
  },
  {
    rule: 'output.kept-root',
    tools: edited({
      'outputSchema.properties.price': { $ref: '#/$defs/Price', description: 'Last traded price.' },
      'outputSchema.$defs': { Price: { type: ['number', 'null'] } },
    }),
  },
  { rule: 'output.typed', tools: edited({ 'outputSchema.properties.price.type': undefined }) },
  { rule: 'output.described', tools: edited({ 'outputSchema.properties.price.description': undefined }) },
  {
    rule: 'output.items',
    tools: edited({ 'outputSchema.properties.trades': { type: 'array', description: 'Latest trades.' } }),
  },
  {
    rule: 'output.members',
    tools: edited({
      'outputSchema.properties.venue': { type: 'object', description: 'Where it is traded.' },
    }),
  },
  {
    rule: 'output.holds-empty',
    tools: edited({
      'outputSchema.properties.searchExhausted.type': 'string',
      'outputSchema.properties.noResultsReason.type': 'integer',
    }),
  },
  {
    rule: 'output.holds-empty',
    along: ['output.holds-failure'],
    tools: edited({ 'outputSchema.properties.price.type': 'number' }),
  },
  { rule: 'output.holds-failure', tools: edited({ 'outputSchema.properties.error.type': 'integer' }) },
  {
    rule: 'output.empty-signal',
    tools: edited({
      'outputSchema.properties.searchExhausted': undefined,
      'outputSchema.properties.noResultsReason': undefined,
    }),
  },
  { rule: 'output.failure-signal', tools: edited({ 'outputSchema.properties.message': undefined }) },
  {
    rule: 'schema.pattern-time',
    tools: edited({ 'inputSchema.properties.symbol.pattern': '^(\\w+\\s?)*$' }),
  },
  {
    rule: 'schema.pattern-time',
    tools: edited({ 'inputSchema.properties.symbol.pattern': '[^\\s@]+\\.[^\\s@]+$|^[A-Z]+$' }),
  },
  {
    rule: 'schema.pattern-time',
    tools: edited({
      'inputSchema.properties.symbol.pattern': '^(a+)+$|^[A-Z]+$',
      'inputSchema.properties.symbol.maxLength': 40,
    }),
  },
  {
    rule: 'schema.pattern-time',
    tools: edited({
      'outputSchema.patternProperties': { '^(x+-?)+$': { type: 'string', description: 'Any other.' } },
    }),
  },
  {
    rule: 'schema.repeated-scans',
    along: ['fit.tokens-tool'],
    tools: edited({
      'outputSchema.properties.trades': {
        description: 'The trades.',
        anyOf: Array.from({ length: 100 }, (_, index) => ({
          type: 'array',
          items: { type: 'integer', description: 'A trade.', minimum: index },
        })),
      },
    }),
  },
  {
    rule: 'schema.repeated-scans',
    along: ['output.members'],
    tools: edited({
      'outputSchema.properties.prices': {
        description: 'The prices by coin.',
        type: 'object',
        allOf: Array.from({ length: 21 }, (_, index) => ({
          minProperties: index,
        })),
      },
    }),
  },
  {
    rule: 'schema.doubling',
    tools: edited({
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
    }),
  },
  { rule: 'input.distinct-items', tools: edited({ 'inputSchema.properties.orders': distinct({}) }) },
  {
    rule: 'input.distinct-items',
    tools: edited({ 'inputSchema.properties.orders': distinct({ maxItems: 1_000_000 }) }),
  },
  {
    rule: 'schema.no-dialect',
    tools: edited({ 'outputSchema.$schema': 'http://json-schema.org/draft-07/schema#' }),
  },
  {
    rule: 'schema.no-dialect',
    along: ['output.compiles'],
    tools: edited({ 'outputSchema.$schema': 'https://json-schema.org/draft/2020-12/schema' }),
  },
  { rule: 'input.dialect', tools: edited({ 'inputSchema.$id': 'https://example.com/price' }) },
  {
    rule: 'input.dialect',
    tools: edited({
      'inputSchema.properties.range': {
        type: 'array',
        description: 'Lowest and highest price.',
        examples: [[1, 2]],
        items: [{ type: 'number' }, { type: 'number' }],
      },
    }),
  },
  { rule: 'schema.no-id', tools: edited({ 'outputSchema.$id': 'https://example.com/price' }) },
  {
    rule: 'schema.no-external-ref',
    tools: edited({
      'outputSchema.properties.kind': {
        $ref: 'http://json-schema.org/draft-07/schema#/definitions/simpleTypes',
        description: 'Kind of price.',
      },
    }),
  },
  {
    rule: 'schema.no-tuples',
    tools: edited({
      'outputSchema.properties.range': {
        type: 'array',
        description: 'Lowest and highest price.',
        items: [{ type: 'number' }, { type: 'number' }],
      },
    }),
  },
  { rule: 'schema.no-unevaluated', tools: edited({ 'outputSchema.unevaluatedProperties': false }) },
  {
    rule: 'schema.no-nullable-keyword',
    tools: edited({
      'outputSchema.properties.price.type': 'number',
      'outputSchema.properties.price.nullable': true,
    }),
  },
  { rule: 'meta.shape', tools: edited({ '_meta.latencyClass': 'quick' }) },
  { rule: 'meta.sense', tools: edited({ '_meta.pricing': undefined }) },
  { rule: 'meta.sense', tools: edited({ '_meta.surface': 'execute' }) },
  {
    rule: 'meta.references',
    tools: edited({ '_meta.rateLimit.recommendedBatchTools': ['list_everything'] }),
  },
  {
    rule: 'meta.references',
    tools: edited({
      '_meta.contextRequirements': ['wallet'],
      'inputSchema.properties': {
        limit: { type: 'integer', description: 'Number of coins.', examples: [5] },
      },
      'inputSchema.required': ['limit'],
    }),
  },
  { rule: 'meta.known-keys', tools: edited({ '_meta.inputExamples': [] }) },
  ...brokenFit,
];

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
