import { defineTool } from '../../packages/runtime/src/server/define-tool.ts';
import { httpSource } from '../../packages/runtime/src/source.ts';

const limited = httpSource({
  baseUrl: String(process.env.API_URL),
  perMinute: 5,
  cacheSeconds: 60,
  retries: 0,
});

/** A tool that asks nobody, and one that asks an API. */
export const tools = [
  defineTool({
    name: 'echo',
    description: 'Returns its argument; use it to see that the server answers.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', default: 'none' } },
      required: ['text'],
    } as const,
    outputSchema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    } as const,
    examples: [{ arguments: { text: 'one' }, expect: 'found' }],
    run: async ({ text }, { found }) => found({ text }),
  }),
  defineTool({
    name: 'ask',
    description: 'Asks an API; use it to see what replicas share of its answers.',
    inputSchema: {
      type: 'object',
      properties: { page: { type: 'string', default: 'none' } },
      required: ['page'],
    } as const,
    outputSchema: {
      type: 'object',
      properties: { page: { type: 'string' } },
      required: ['page'],
    } as const,
    examples: [{ arguments: { page: 'one' }, expect: 'found' }],
    async run({ page }, { found, signal }) {
      const answer = await limited.get('/pages/{page}', { params: { page }, signal });
      return found(answer as { page: string });
    },
  }),
];
