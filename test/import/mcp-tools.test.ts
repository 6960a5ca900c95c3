import { expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { toolsOfServer } from '../../src/import/mcp-tools.ts';
import { prepareTools } from '../../src/import/prepare.ts';

it.each([undefined, '', ' '])(
  'a tool of a server with the description %j is imported with a to-do',
  (description) => {
    const tool = {
      name: 'get_gas',
      inputSchema: { type: 'object' },
      ...(description !== undefined && { description }),
    };
    const imported = toolsOfServer({ url: 'https://tools.example.com/mcp', title: 'Gas', tools: [tool] });
    const prepared = prepareTools(imported, context);
    expect(prepared).toMatchObject({
      ok: true,
      value: {
        tools: [{ definition: { name: 'get_gas', description: expect.stringMatching(/^TODO: /) } }],
      },
    });
    expect(JSON.stringify(prepared)).toContain('tool.to-do');
  },
);
