import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { defineTool, signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';

// Tools of a server that is stopped while they run. Each of them writes its name to stderr when it begins.

function createTool(name: string, end: () => Promise<unknown>, annotations: Tool['annotations'] = {}): Tool {
  return defineTool({
    name,
    description: `Returns a text when a test lets it: the tool ${name}.`,
    annotations,
    inputSchema: { type: 'object', properties: {}, required: [] },
    outputSchema: {
      type: 'object',
      properties: { ...signals, text: { type: ['string', 'null'], description: 'Text' } },
      required: ['text'],
    },
    examples: [],
    async run(_, { found }) {
      console.error(`${name} runs`);
      await end();
      return found({ text: 'done' });
    },
  });
}

const never = () => new Promise(() => {});

export const tools: readonly Tool[] = [
  createTool('read_forever', never, { readOnlyHint: true }),
  createTool('write_forever', never, { readOnlyHint: false }),
  createTool('wait_for_signal', () => once(process, 'SIGUSR2')),
];

// The last metrics of the process are written to stderr: when it has answered all calls, it ends too soon for a request from outside.
let metricsUrl: string | undefined;
subscribe('market-mcp-runtime:log', (line) => {
  const { event, metrics } = JSON.parse(String(line));
  if (event === 'listening') metricsUrl = metrics;
});
const { exit } = process;
async function exitWithMetrics(code?: number | string | null): Promise<void> {
  if (metricsUrl !== undefined) console.error(await (await fetch(metricsUrl)).text());
  exit(code);
}
process.exit = exitWithMetrics as typeof process.exit;
