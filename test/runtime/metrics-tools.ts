import { defineTool, signals } from '../../packages/runtime/src/server/define-tool.ts';
import { failed, httpSource } from '../../packages/runtime/src/source.ts';

const { get } = httpSource({ baseUrl: process.env.API_URL ?? '', retries: 0, perMinute: 1_000 });

const noteSchema = { type: 'object', properties: { note: { type: 'string' } }, required: [] } as const;

export const tools = [
  defineTool({
    name: 'get_gas',
    description: 'Returns the answer of an API at a path. Use it for the price of gas.',
    inputSchema: {
      type: 'object',
      properties: { at: { type: 'string', description: 'Path', default: '/gas' } },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: { ...signals, gwei: { type: ['number', 'null'] } },
      required: ['gwei'],
    },
    examples: [],
    async run({ at }, { found, fail, signal }) {
      return get(at, { schema: noteSchema, signal }).then(
        () => found({ gwei: 1 }),
        (error) => failed(error, fail),
      );
    },
  }),
  defineTool({
    name: 'end_as',
    description: 'Ends as its argument says. Use it to see how calls end.',
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string', description: 'Code', default: '' } },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: { ...signals, text: { type: ['string', 'null'] } },
      required: ['text'],
    },
    examples: [],
    async run({ code }, { found, empty, fail }) {
      if (code === 'throw') throw new Error('a bug');
      if (code === 'empty') return empty('nothing');
      return code === '' ? found({ text: 'x' }) : fail(code, 'failed');
    },
  }),
];
