import { setTimeout as delay } from 'node:timers/promises';
import { defineTool, signals, type Tool } from '../../templates/project/src/server/define-tool.ts';

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

export const tools: readonly Tool[] = [price, large, slow];
