import { expect, it } from 'vitest';
import { startImport } from '../../src/changes/import-run.ts';
import { toolsFromServer } from '../../src/changes/server-tools.ts';
import { serverAnswers } from '../../src/questions/tool-answers.ts';
import { startApi } from '../api-server.ts';

const schema = { type: 'object', properties: {} };
const annotations = { readOnlyHint: true };
const tool = { name: 'get_weather', description: 'The weather.', inputSchema: schema, annotations };
const taskTool = { ...tool, name: 'train_model', execution: { taskSupport: 'required' } };
const optionalTool = { ...tool, name: 'get_report', execution: { taskSupport: 'optional' } };

/** Starts an MCP server with sessions that lists tools. */
async function serve(tools: readonly object[]): Promise<string> {
  const { origin } = await startApi(({ body }) => {
    const { id, method, params } = JSON.parse(body || '{}');
    const results: { readonly [method: string]: object } = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'Weather', version: '1' },
      },
      'tools/list': { tools },
    };
    const result = Object.hasOwn(results, method) ? results[method] : undefined;
    if (result === undefined) return { status: id === undefined ? 202 : 400 };
    return { headers: { 'mcp-session-id': 'a' }, body: { jsonrpc: '2.0', id, result } };
  });
  return `${origin}/mcp`;
}

const answers = (fromUrl: string, only: readonly string[] = []) => serverAnswers({ fromUrl, only });

it('a tool that runs only as a task is not imported, and is reported', async () => {
  const imported = await toolsFromServer(answers(await serve([taskTool, tool, optionalTool])), startImport());
  if (!imported.ok) throw new Error(JSON.stringify(imported));
  expect(imported.value.map(({ entry }) => entry.name)).toEqual(['get_weather', 'get_report']);
  expect(imported.value[0]?.changes[0]).toMatchObject({
    tool: 'train_model',
    what: 'is not imported',
    why: expect.stringContaining('task'),
  });
});

it('a tool that runs only as a task is rejected by name', async () => {
  expect(
    await toolsFromServer(answers(await serve([taskTool, tool]), ['train_model']), startImport()),
  ).toMatchObject({
    ok: false,
    errors: [{ message: expect.stringContaining('runs only as a task') }],
  });
});

it('a server whose tools all run only as tasks is rejected', async () => {
  expect(await toolsFromServer(answers(await serve([taskTool])), startImport())).toMatchObject({
    ok: false,
    errors: [{ message: expect.stringContaining('no tool to import') }],
  });
});
