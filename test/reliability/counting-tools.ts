import { appendFileSync } from 'node:fs';
import { defineTool } from '../../runtime/src/server/define-tool.ts';

/** Writes down each of its runs. */
export const tools = [
  defineTool({
    name: 'count',
    description: 'Counts a call; use it to find calls that ran twice.',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string', default: 'none' } },
      required: ['id'],
    } as const,
    outputSchema: {
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    } as const,
    examples: [{ arguments: { id: 'one' }, expect: 'found' }],
    async run({ id }, { found }) {
      appendFileSync(String(process.env.RUNS), `${id}\n`);
      return found({ id });
    },
  }),
];
