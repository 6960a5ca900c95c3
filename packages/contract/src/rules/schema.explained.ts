import { signals } from '../definition/outcomes.ts';
import type { JsonObject } from '../json/value.ts';
import { definition, type Explanations, field, parameter, returning } from './explanation.ts';

const price = { type: ['number', 'null'], description: 'Last price in US dollars.' };

const name = { type: 'string', description: 'Name of the coin.', examples: ['Bitcoin'] };
const orders = {
  type: 'array',
  description: 'Orders to look up.',
  items: { type: 'object', properties: { id: { type: 'string', description: 'Id of the order.' } } },
  examples: [[{ id: '17' }]],
};

const orderLists = Array.from({ length: 21 }, (_, index) => ({
  type: 'array',
  items: { ...orders.items, required: [`id${index}`] },
}));

const trade = { $ref: '#/properties/trade' };
const text = { type: 'string', description: 'Its name.' };
const recursive = (definition: JsonObject) => returning({ trade: definition });

const ofPrices = (price: JsonObject) => returning({ price }, ['price']);
const holdsOnlyPrices = ofPrices({ type: 'number', description: 'Last price.' });
const holdsNull = ofPrices(price);

/** What a tool returns, the dialect of both schemas, and `_meta`. */
export const schemaExplanations: Explanations = {
  'output.object-root': definition(
    'The registration form refuses every tool whose outputSchema has another type at its root.',
    { outputSchema: { type: 'array', items: { type: 'number' } } },
    returning({ prices: { type: 'array', items: { type: 'number' } } }),
  ),
  'output.no-root-union': definition(
    'Registration refuses a union at the root, even if all its members are objects.',
    { outputSchema: { type: 'object', anyOf: [{ required: ['price'] }, { required: ['error'] }] } },
    returning({ price, error: signals.error, message: signals.message }),
  ),
  'output.properties': definition(
    'An agent plans with the fields that the schema declares. A bare object declares none.',
    { outputSchema: { type: 'object' } },
    returning({ price }),
  ),
  'output.required-declared': definition(
    'A field that is required but not declared has no type, so users can dispute every value of it.',
    returning({ price }, ['price', 'volume']),
    returning({ price }, ['price']),
  ),
  'output.compiles': field(
    'The marketplace decides disputes with this schema. If it does not compile, the author loses.',
    { ...price, pattern: '(' },
    { ...price, minimum: 0 },
  ),
  'output.kept-root': definition(
    'The client of the marketplace drops the definitions at the root. A reference to them then leads nowhere, and the whole list of tools is rejected.',
    {
      outputSchema: {
        type: 'object',
        properties: { price: { $ref: '#/$defs/Price' } },
        required: ['price'],
        $defs: { Price: price },
      },
    },
    returning({ price }, ['price']),
  ),
  'output.typed': field(
    'Without a type, any value is valid, and callers can rely on none.',
    { description: 'Last price in US dollars.' },
    price,
  ),
  'output.described': field(
    'An agent cannot see in the name of a field whether a price is in dollars or in euros.',
    { type: ['number', 'null'] },
    price,
  ),
  'output.items': field(
    'A program cannot read a list whose items may be anything.',
    { type: 'array', description: 'Prices in US dollars.' },
    { type: 'array', description: 'Prices in US dollars.', items: { type: 'number' } },
  ),
  'output.members': field(
    'If the members of an object are not declared, every caller must guess them.',
    { type: 'object', description: 'Price and volume.' },
    { type: 'object', description: 'Price and volume.', properties: { last: price } },
  ),
  'output.holds-empty': definition(
    'An empty result must match the same schema. If a required field allows neither null nor an empty list, the tool must make a value up or violate its schema.',
    holdsOnlyPrices,
    holdsNull,
  ),
  'output.holds-failure': definition(
    'Clients of the SDK validate a failure against this schema, too. {error, message} without the required fields becomes an exception, and the caller never sees the message.',
    holdsOnlyPrices,
    holdsNull,
  ),
  'output.empty-signal': definition(
    'Without a signal, the platform repeats a call that found nothing. With a signal, it knows that the empty result is the answer.',
    returning({ price }),
    returning({ price, ...signals }),
  ),
  'output.failure-signal': definition(
    'If the schema declares the code and the message of a failure, a caller can read them and recover.',
    returning({ price }),
    returning({ price, ...signals }),
  ),
  'input.dialect': parameter(
    'Agents use old and new validators. Some of them misread keywords whose meaning has changed.',
    {
      type: 'array',
      description: 'Lowest and highest price.',
      examples: [[1, 2]],
      items: [{ type: 'number' }, { type: 'number' }],
    },
    {
      type: 'object',
      description: 'Lowest and highest price.',
      examples: [{ lowest: 1, highest: 2 }],
      properties: {
        lowest: { type: 'number', description: 'Lowest price.', examples: [1] },
        highest: { type: 'number', description: 'Highest price.', examples: [2] },
      },
    },
  ),
  'schema.no-dialect': definition(
    'The validator of the marketplace supports only draft-07, so a $schema of 2020-12 does not compile there. Clients that support only 2020-12 refuse a $schema of draft-07.',
    {
      outputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { price },
      },
    },
    returning({ price }),
  ),
  'schema.no-id': definition(
    'A validator stores schemas by $id, so the second tool with the same $id does not compile.',
    { outputSchema: { $id: 'https://example.com/price', type: 'object', properties: { price } } },
    returning({ price }),
  ),
  'schema.no-external-ref': definition(
    'The marketplace does not fetch other documents. A schema with such a $ref does not compile.',
    returning({ price: { $ref: 'https://example.com/price.json' } }),
    returning({ price }),
  ),
  'schema.no-tuples': field(
    'Draft-07 writes tuples with a list of items, 2020-12 with prefixItems. Each ignores or refuses the other form.',
    { type: 'array', description: 'Price and volume.', items: [{ type: 'number' }, { type: 'number' }] },
    { type: 'object', description: 'Price and volume.', properties: { last: price, volume: price } },
  ),
  'schema.no-unevaluated': definition(
    'Draft-07 does not have this keyword, so it allows everything that the keyword should forbid.',
    { outputSchema: { type: 'object', properties: { price }, unevaluatedProperties: false } },
    { outputSchema: { type: 'object', properties: { price }, additionalProperties: true } },
  ),
  'schema.no-nullable-keyword': field(
    'Most validators ignore nullable, so they refuse null.',
    { type: 'number', nullable: true, description: 'Last price in US dollars.' },
    price,
  ),
  'schema.pattern-time': parameter(
    'Most regular-expression engines try every way in which a text could match. If two repeats match the same text, one call with a few dozen characters can keep a server busy for hours, and all other callers wait.',
    { ...name, pattern: '^(\\w+\\s?)*$' },
    { ...name, pattern: '^\\w+(\\s\\w+)*$' },
  ),
  'schema.doubling': definition(
    'Two alternatives compare the same property with the whole schema again, so each level of a value doubles the work of a validator that tries both. A value of 300 bytes can take seconds and all memory.',
    recursive({
      anyOf: [
        { type: 'object', properties: { before: trade, buyer: text } },
        { type: 'object', properties: { before: trade, seller: text } },
      ],
    }),
    recursive({ type: 'object', properties: { before: trade, buyer: text, seller: text } }),
  ),
  'schema.repeated-scans': parameter(
    'A validator tries the alternatives one after the other, and each reads the whole list again. With a hundred alternatives, one list of 960 KB takes seconds, in which the server answers nobody else.',
    { description: orders.description, examples: orders.examples, anyOf: orderLists },
    { ...orders, items: { anyOf: orderLists.map(({ items }) => items) } },
  ),
  'input.distinct-items': parameter(
    'To find equal values, most validators compare each value with every other. A list of 229 KB takes seconds, in which the server answers nobody else.',
    { ...orders, uniqueItems: true },
    { ...orders, uniqueItems: true, maxItems: 100 },
  ),
  'meta.shape': definition(
    'The platform reads prices and limits from _meta. At best, it ignores a value that it cannot read.',
    { _meta: { rateLimit: { maxRequestsPerMinute: 'sixty' } } },
    { _meta: { rateLimit: { maxRequestsPerMinute: 60 } } },
  ),
  'meta.sense': definition(
    'A tool on the execute surface without a price is invisible there. A tool for execution only cannot be eligible for queries.',
    { _meta: { surface: 'execute' } },
    { _meta: { surface: 'execute', queryEligible: false, pricing: { executeUsd: '0.001' } } },
  ),
  'meta.references': definition(
    'The platform uses the names in _meta. A tool that is not listed, or data that no parameter receives, has no effect.',
    { _meta: { rateLimit: { recommendedBatchTools: ['no_such_tool'] } } },
    { _meta: { rateLimit: { recommendedBatchTools: ['get_price'] } } },
  ),
  'meta.known-keys': definition(
    'The platform silently ignores a misspelt key.',
    { _meta: { latencyclass: 'fast' } },
    { _meta: { latencyClass: 'fast', 'example.com/team': 'prices' } },
  ),
};
