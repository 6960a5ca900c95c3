import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defineTool, signals } from '../../packages/runtime/src/server/define-tool.ts';

const runs = openSync(process.env.RUNS ?? '/dev/null', 'a');

/** Writes down each of its runs, and takes as long as its caller says. */
export const tools = [
  defineTool({
    name: 'work',
    description: 'Works for a time; use it to find calls that a shutdown cuts off.',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string', default: 'none' }, ms: { type: 'integer', default: 1 } },
      required: ['id', 'ms'],
    } as const,
    outputSchema: {
      type: 'object',
      properties: { ...signals, id: { type: ['string', 'null'] } },
      required: ['id'],
    } as const,
    examples: [{ arguments: { id: 'one', ms: 1 }, expect: 'found' }],
    async run({ id, ms }, { found, signal }) {
      writeSync(runs, `${id}\n`);
      await setTimeout(ms, undefined, { signal });
      return found({ id });
    },
  }),
];
