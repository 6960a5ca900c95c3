import { defineTool, signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { failed, httpSource, mcpSource } from '../../packages/runtime/src/source.ts';

const baseUrl = process.env.API_URL ?? '';
const api = httpSource({ baseUrl, concurrency: 60, queueMs: 60_000, timeoutMs: 60_000 });
const server = mcpSource({ baseUrl: `${baseUrl}/mcp`, concurrency: 60, queueMs: 60_000, timeoutMs: 60_000 });

const items = {
  type: 'object',
  properties: { items: { type: 'array' }, count: { type: 'integer' } },
  required: ['items'],
} as const;
const listed = {
  inputSchema: {
    type: 'object',
    properties: { kind: { type: 'string', default: 'objects' }, number: { type: 'integer', default: 0 } },
    required: [],
  },
  outputSchema: { ...items, properties: { ...signals, ...items.properties } },
  examples: [],
} as const;

const price = defineTool({
  ...listed,
  name: 'get_price',
  description: 'Returns nothing. Use it as an honest caller does.',
  run: (_, { found }) => found({ items: [] }),
});

const fromApi = defineTool({
  ...listed,
  name: 'list_from_api',
  description: 'Returns what the API answers. Use it to fill the memory.',
  run: ({ kind, number }, { found, fail, signal }) =>
    api
      .get('/{kind}/{number}', { params: { kind, number }, schema: items, wrap: 'items', signal })
      .then(found, (error) => failed(error, fail)),
});

const fromServer = defineTool({
  ...listed,
  name: 'list_from_server',
  description: 'Returns what the MCP server answers. Use it to fill the memory.',
  run: ({ kind, number }, { found, fail, signal }) =>
    server.call('list', { arguments: { kind, number }, schema: items, isReadOnly: true, signal }).then(
      (answer) => found(answer ?? { items: [] }),
      (error) => failed(error, fail),
    ),
});

export const tools: readonly Tool[] = [price, fromApi, fromServer];
