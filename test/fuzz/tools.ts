import { defineTool, signals, type Tool } from '../../templates/project/src/server/define-tool.ts';

/** The executions so far, by the caller's note; the probe of the process reads them. */
const runs: { [note: string]: number } = {};
Object.assign(globalThis, { runs });

const count = defineTool({
  name: 'count',
  description: 'Counts its own runs. Use it when a test asks for it.',
  inputSchema: { type: 'object', properties: { note: { type: 'string', default: 'none' } }, required: [] },
  outputSchema: {
    type: 'object',
    properties: { ...signals, runs: { type: ['integer', 'null'] } },
    required: ['runs'],
  },
  examples: [],
  run({ note }, { found }) {
    runs[note] = (runs[note] ?? 0) + 1;
    return found({ runs: runs[note] });
  },
});

export const tools: readonly Tool[] = [count];
