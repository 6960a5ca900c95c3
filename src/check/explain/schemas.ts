import { signals } from '../../contract/outcomes.ts';
import { definition, type Explanations, field, parameter } from './model.ts';

const price = { type: ['number', 'null'], description: 'Last price in US dollars.' };

const name = { type: 'string', description: 'Name of the coin.', examples: ['Bitcoin'] };
const orders = {
  type: 'array',
  description: 'Orders to look up.',
  items: { type: 'object', properties: { id: { type: 'string', description: 'Id of the order.' } } },
  examples: [[{ id: '17' }]],
};

/** What a tool returns, the dialect of both schemas, and `_meta`. */
export const schemaExplanations: Explanations = {
  'output.object-root': definition(
    'The registration form refuses every tool whose outputSchema has another root, and names this very field.',
    { outputSchema: { type: 'array', items: { type: 'number' } } },
    {
      outputSchema: { type: 'object', properties: { prices: { type: 'array', items: { type: 'number' } } } },
    },
  ),
  'output.no-root-union': definition(
    'A root of alternatives is refused at registration: what may differ belongs into properties.',
    { outputSchema: { type: 'object', anyOf: [{ required: ['price'] }, { required: ['error'] }] } },
    {
      outputSchema: { type: 'object', properties: { price, error: signals.error, message: signals.message } },
    },
  ),
  'output.properties': definition(
    'The schema is what users buy: an agent plans with the fields it promises. A bare object promises nothing.',
    { outputSchema: { type: 'object' } },
    { outputSchema: { type: 'object', properties: { price } } },
  ),
  'output.required-declared': definition(
    'A field that is promised and not described has no type: every value of it can be disputed.',
    { outputSchema: { type: 'object', properties: { price }, required: ['price', 'volume'] } },
    { outputSchema: { type: 'object', properties: { price }, required: ['price'] } },
  ),
  'output.compiles': field(
    'Disputes are judged by compiling this schema. One that does not compile is judged against the author.',
    { ...price, pattern: '(' },
    { ...price, minimum: 0 },
  ),
  'output.typed': field(
    'Without a type every value fits and none can be relied on.',
    { description: 'Last price in US dollars.' },
    price,
  ),
  'output.described': field(
    'An agent cannot tell a price in dollars from one in euros by the name of a field.',
    { type: ['number', 'null'] },
    price,
  ),
  'output.items': field(
    'A list of anything cannot be read by a program.',
    { type: 'array', description: 'Prices in US dollars.' },
    { type: 'array', description: 'Prices in US dollars.', items: { type: 'number' } },
  ),
  'output.members': field(
    'An object whose members nobody knows has to be guessed at by every caller.',
    { type: 'object', description: 'Price and volume.' },
    { type: 'object', description: 'Price and volume.', properties: { last: price } },
  ),
  'output.holds-empty': definition(
    'Where nothing is found the tool must say so in the same shape. If a required field can be neither null nor empty, it has to invent a value or break its schema.',
    {
      outputSchema: {
        type: 'object',
        properties: { price: { type: 'number', description: 'Last price.' } },
        required: ['price'],
      },
    },
    { outputSchema: { type: 'object', properties: { price }, required: ['price'] } },
  ),
  'output.holds-failure': definition(
    'Clients of the SDK validate a failure against this schema too: {error, message} without the required fields throws in the caller, who never sees the message.',
    {
      outputSchema: {
        type: 'object',
        properties: { price: { type: 'number', description: 'Last price.' } },
        required: ['price'],
      },
    },
    { outputSchema: { type: 'object', properties: { price }, required: ['price'] } },
  ),
  'output.empty-signal': definition(
    'Zero results without a signal make the platform ask again and again; with one it knows that this is the answer.',
    { outputSchema: { type: 'object', properties: { price } } },
    { outputSchema: { type: 'object', properties: { price, ...signals } } },
  ),
  'output.failure-signal': definition(
    'A caller who knows from the schema where a failure tells its code and its message can recover from it.',
    { outputSchema: { type: 'object', properties: { price } } },
    { outputSchema: { type: 'object', properties: { price, ...signals } } },
  ),
  'input.dialect': parameter(
    'Arguments are built by agents whose validators differ in age: what these read differently, some of them get wrong.',
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
    'The marketplace compiles with a validator for draft-07 only: a $schema of 2020-12 does not compile there, one of draft-07 is refused by clients that know only 2020-12.',
    {
      outputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { price },
      },
    },
    { outputSchema: { type: 'object', properties: { price } } },
  ),
  'schema.no-id': definition(
    'A validator remembers schemas by their $id: the second tool with the same one does not compile.',
    { outputSchema: { $id: 'https://example.com/price', type: 'object', properties: { price } } },
    { outputSchema: { type: 'object', properties: { price } } },
  ),
  'schema.no-external-ref': definition(
    'Nobody fetches what a $ref points at elsewhere: the schema does not compile.',
    { outputSchema: { type: 'object', properties: { price: { $ref: 'https://example.com/price.json' } } } },
    {
      outputSchema: {
        type: 'object',
        properties: { price: { $ref: '#/definitions/price' } },
        definitions: { price },
      },
    },
  ),
  'schema.no-tuples': field(
    'Draft-07 writes tuples with a list of items, 2020-12 with prefixItems; each ignores or refuses the other way.',
    { type: 'array', description: 'Price and volume.', items: [{ type: 'number' }, { type: 'number' }] },
    { type: 'object', description: 'Price and volume.', properties: { last: price, volume: price } },
  ),
  'schema.no-unevaluated': definition(
    'Draft-07 does not know the keyword and lets everything pass that it should forbid.',
    { outputSchema: { type: 'object', properties: { price }, unevaluatedProperties: false } },
    { outputSchema: { type: 'object', properties: { price }, additionalProperties: true } },
  ),
  'schema.no-nullable-keyword': field(
    'Most validators ignore nullable: to them a null does not fit.',
    { type: 'number', nullable: true, description: 'Last price in US dollars.' },
    price,
  ),
  'schema.pattern-time': parameter(
    'Most servers and clients match patterns by trying every way in which a text could fit. Where two repeats fit the same text, one call with a few dozen characters can keep a server busy for hours, and everybody else waits.',
    { ...name, pattern: '^(\\w+\\s?)*$' },
    { ...name, pattern: '^\\w+(\\s\\w+)*$' },
  ),
  'input.distinct-items': parameter(
    'To see whether values are distinct, most validators compare every two of them: a list of 229 KB takes seconds, in which nobody else is answered.',
    { ...orders, uniqueItems: true },
    { ...orders, uniqueItems: true, maxItems: 100 },
  ),
  'meta.shape': definition(
    'The platform reads prices and limits from _meta. A value it cannot read is as good as absent, at best.',
    { _meta: { rateLimit: { maxRequestsPerMinute: 'sixty' } } },
    { _meta: { rateLimit: { maxRequestsPerMinute: 60 } } },
  ),
  'meta.sense': definition(
    'A tool on the execute surface without a price is invisible there; one that is for executing only cannot be eligible for queries.',
    { _meta: { surface: 'execute' } },
    { _meta: { surface: 'execute', queryEligible: false, pricing: { executeUsd: '0.001' } } },
  ),
  'meta.references': definition(
    'The platform follows what _meta names: a tool that is not listed, or data that no parameter takes, leads nowhere.',
    { _meta: { rateLimit: { recommendedBatchTools: ['no_such_tool'] } } },
    { _meta: { rateLimit: { recommendedBatchTools: ['get_price'] } } },
  ),
  'meta.known-keys': definition(
    'A misspelt key is ignored without a word.',
    { _meta: { latencyclass: 'fast' } },
    { _meta: { latencyClass: 'fast', 'example.com/team': 'prices' } },
  ),
};
