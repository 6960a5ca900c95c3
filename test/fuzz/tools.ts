import { defineTool, signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';

/** The executions so far, by the caller's note, `other` for notes that were changed; the probe of the process reads them. */
const runs: { [note: string]: number } = {};
const notes = ['paid', 'unpaid', 'changed'];
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
    const key = notes.includes(note) ? note : 'other';
    runs[key] = (runs[key] ?? 0) + 1;
    return found({ runs: runs[key] });
  },
});

export const tools: readonly Tool[] = [count];
