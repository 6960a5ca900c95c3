import { effects } from '../../packages/contract/src/definition/effect.ts';
import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import type { ToolDefinition, ToolExample } from '../../packages/contract/src/model.ts';

/** A tool of the good server: definition, examples, and a handler for validated arguments. */
export interface GoodTool {
  readonly definition: ToolDefinition;
  readonly examples: readonly ToolExample[];
  run(args: JsonObject): Outcome;
}

export type Outcome =
  | { readonly kind: 'found'; readonly data: JsonObject }
  | { readonly kind: 'empty'; readonly reason: string }
  | { readonly kind: 'fail'; readonly error: string; readonly message: string };

const prices: ReadonlyMap<unknown, number> = new Map([
  ['BTC', 64_000],
  ['ETH', 3_100],
]);

const getPrice: GoodTool = {
  definition: {
    name: 'get_price',
    title: 'Price of a coin',
    description:
      'Returns the last traded price of one coin. Use it when a question names a coin and a currency.',
    inputSchema: {
      type: 'object',
      properties: {
        symbol: { type: 'string', description: 'Ticker of the coin.', examples: ['BTC', 'ETH'] },
        currency: {
          type: 'string',
          description: 'Currency of the price.',
          enum: ['USD', 'EUR'],
          default: 'USD',
        },
      },
      required: ['symbol'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        ...signals,
        symbol: { type: ['string', 'null'], description: 'Ticker of the coin.' },
        price: { type: ['number', 'null'], description: 'Last traded price, in the currency asked for.' },
      },
      required: ['symbol', 'price'],
    },
    annotations: effects.reads,
    _meta: {
      surface: 'both',
      queryEligible: true,
      latencyClass: 'instant',
      pricing: { executeUsd: '0.001' },
      rateLimit: { maxRequestsPerMinute: 60, recommendedBatchTools: ['list_coins'] },
    },
  },
  examples: [
    { arguments: { symbol: 'BTC' }, expect: 'found' },
    { arguments: { symbol: 'XYZ' }, expect: 'empty' },
    { arguments: { symbol: 'DOWN' }, expect: 'fail' },
  ],
  run({ symbol = null }) {
    if (symbol === 'DOWN')
      return { kind: 'fail', error: 'SOURCE_DOWN', message: 'The exchange does not answer.' };
    const price = prices.get(symbol);
    return price === undefined
      ? { kind: 'empty', reason: 'Nobody trades this coin.' }
      : { kind: 'found', data: { symbol, price } };
  },
};

const listCoins: GoodTool = {
  definition: {
    name: 'list_coins',
    title: 'Coins with a price',
    description: 'Lists all coins that have a price. Use it before get_price to learn which tickers exist.',
    inputSchema: {
      type: 'object',
      properties: {
        limit: {
          type: 'integer',
          description: 'Maximum number of coins.',
          minimum: 1,
          maximum: 50,
          default: 10,
        },
        after: { type: 'string', description: 'Ticker after which the list begins.', examples: ['BTC'] },
      },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: {
        ...signals,
        coins: {
          type: 'array',
          description: 'The coins, in order of their ticker.',
          items: {
            type: 'object',
            description: 'One coin.',
            properties: { symbol: { type: 'string', description: 'Ticker of the coin.' } },
            required: ['symbol'],
          },
        },
      },
      required: ['coins'],
    },
    annotations: effects.reads,
  },
  examples: [{ arguments: {}, expect: 'found' }],
  run({ limit, after }) {
    const symbols = [...prices.keys()].map(String).filter((symbol) => symbol > String(after ?? ''));
    if (symbols.length === 0) return { kind: 'empty', reason: 'No coin comes after this one.' };
    return {
      kind: 'found',
      data: { coins: symbols.slice(0, Number(limit)).map((symbol) => ({ symbol })) },
    };
  },
};

/** Two tools that pass every static rule under the profile `context`. */
export const goodTools: readonly GoodTool[] = [getPrice, listCoins];
