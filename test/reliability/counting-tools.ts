import { openSync, writeSync } from 'node:fs';
import { defineTool } from '../../packages/runtime/src/server/define-tool.ts';

const runs = openSync(process.env.RUNS ?? '/dev/null', 'a');

/** Writes down each of its runs, so that even a killed process has counted them. */
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
      writeSync(runs, `${id}\n`);
      return found({ id });
    },
  }),
];
