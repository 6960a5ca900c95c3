import { once } from 'node:events';
import { defineTool, signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';

/** Finds a price, finds nothing, or fails, depending on the argument. */
export const price = defineTool({
  name: 'get_price',
  description: 'Returns the price of a coin in dollars. Use it when a user asks what a coin costs.',
  inputSchema: {
    type: 'object',
    properties: {
      coin: { type: 'string', description: 'Coin', default: 'btc', examples: ['btc'] },
      depth: { type: 'integer', description: 'Rows', minimum: 1, maximum: 5, default: 1 },
    },
    required: [],
  },
  outputSchema: {
    type: 'object',
    properties: {
      ...signals,
      price: { type: ['number', 'null'], description: 'Dollars' },
      rows: {
        type: 'array',
        description: 'Rows',
        items: {
          type: 'object',
          properties: { bid: { type: 'number', description: 'Dollars' } },
          required: ['bid'],
        },
      },
      validCoins: { type: 'array', description: 'Coins there are', items: { type: 'string' } },
    },
    required: ['price', 'rows'],
  },
  examples: [
    { arguments: { coin: 'btc' }, expect: 'found' },
    { arguments: { coin: 'nothing' }, expect: 'empty' },
    { arguments: { coin: 'broken' }, expect: 'fail' },
  ],
  async run({ coin, depth }, { found, empty, fail }) {
    if (coin === 'nothing') return empty('No such coin');
    if (coin === 'broken') {
      return fail('UPSTREAM_DOWN', 'The source is down', { validCoins: ['btc'], retry: true, rows: 'none' });
    }
    return found({ price: 12.5, rows: Array.from({ length: depth }, () => ({ bid: 1 })) });
  },
});

const text = {
  type: 'object',
  properties: { ...signals, text: { type: ['string', 'null'], description: 'Text' } },
  required: ['text'],
} as const;

const anyInput = {
  type: 'object',
  properties: { value: { type: 'string', description: 'Value', default: 'x' } },
  required: [],
} as const;

/** A tool whose answer is one text, or any other behaviour that a test needs. */
export function textTool(name: string, run: Tool['run']): Tool {
  const description = `The tool ${name}, which answers with a text.`;
  return { name, description, inputSchema: anyInput, outputSchema: text, examples: [], run };
}

const anything = `O'Brien "$HOME" \`id\` \\ $(id) ! %s 😀\n`;

export const echo: Tool = {
  ...textTool('echo', (input, { found }) => found({ text: (input as { value: string }).value })),
  examples: [{ arguments: { value: anything }, expect: 'found' }],
};

export const throwing = textTool('throwing', () => {
  throw new Error('secret detail');
});

/** Answers, but leaves a promise that rejects without a handler. */
export const careless = textTool('careless', (_, { found }) => {
  Promise.reject(new Error('nobody waits for this'));
  return found({ text: 'done' });
});

/** Writes to stderr when it runs, and answers when its process gets SIGTERM. */
export const slow = textTool('slow', async (_, { found, signal }) => {
  console.error('slow runs');
  await once(process, 'SIGTERM', { signal });
  return found({ text: 'late' });
});

/** A tool that answers when the test releases it. */
export function heldTool(name = 'held') {
  const held = { signal: undefined as AbortSignal | undefined, release: () => {} };
  const tool = textTool(name, async (_, { found, signal }) => {
    held.signal = signal;
    await new Promise<void>((resolve) => {
      held.release = resolve;
    });
    return found({ text: 'late' });
  });
  return { tool, held };
}

/** Its answers never match: a number instead of a string. */
export const lying = textTool('lying', (_, { found }) => found({ text: 12 }));

/** Its outputSchema admits no failure: a required string that cannot be null. */
export const rigid: Tool = {
  ...textTool('rigid', (_, { fail }) => fail('NO_ROOM', 'Nowhere to put this')),
  outputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'Text' } },
    required: ['text'],
  },
};

export const tools: readonly Tool[] = [price, echo, throwing, careless, slow, lying, rigid];
