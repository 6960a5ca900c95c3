import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as OlderClient } from 'mcp-sdk-1.22/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from 'mcp-sdk-1.22/client/streamableHttp.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import type { Instance } from '../../packages/contract/src/target.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { createLauncher } from '../../src/check/launch.ts';
import { type CreateResult, expectProven, scaffold, scratch } from './support.ts';
import { serveTools } from './upstreams.ts';

const text = { type: 'string', description: 'A text.' };
const node = {
  type: 'object',
  description: 'A node.',
  properties: {
    name: text,
    children: { type: 'array', description: 'Its parts.', items: { $ref: '#/$defs/Node' } },
  },
  required: ['name'],
};

/** Schemas as pydantic writes them, which the client of SDK 1.22.0 refuses; and an answer for each. */
const outputs: { readonly [tool: string]: readonly [schema: JsonObject, answer: JsonObject] } = {
  get_positions: [
    {
      properties: { positions: { type: 'array', description: 'All.', items: { $ref: '#/$defs/Position' } } },
      required: ['positions'],
      $defs: {
        Position: { type: 'object', description: 'One.', properties: { coin: text }, required: ['coin'] },
      },
    },
    { positions: [{ coin: 'BTC' }] },
  ],
  get_rates: [{ additionalProperties: { type: 'number', description: 'A rate.' } }, { EUR: 0.9, GBP: 0.8 }],
  get_tree: [
    { properties: { tree: { $ref: '#/$defs/Node' } }, required: ['tree'], $defs: { Node: node } },
    { tree: { name: 'a', children: [{ name: 'b', children: [] }] } },
  ],
  get_thread: [
    {
      properties: { text, replies: { type: 'array', description: 'The answers.', items: { $ref: '#' } } },
      required: ['text'],
    },
    { text: 'Hello', replies: [{ text: 'Hi', replies: [] }] },
  ],
};
const tools = Object.entries(outputs).map(([name, [schema]]) => ({
  name,
  description: `Returns what ${name} has. Use it when a question asks for it.`,
  inputSchema: { type: 'object', properties: { query: { ...text, examples: ['a'] } }, required: [] },
  outputSchema: { type: 'object', ...schema },
  annotations: { readOnlyHint: true },
}));

const url = await serveTools('Typed facts', tools, (name) => {
  const structuredContent = outputs[name]?.[1] ?? {};
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
});

const root = scratch();
const audience = 'https://tools.example.com/mcp';
const signer = await createSigner(context.token, audience);
let directory: string;
let changes: CreateResult['changes'];
let served: Instance;
beforeAll(async () => {
  ({ directory, changes } = await scaffold(['typed', '--platform', 'context', '--from-url', url], {
    cwd: root,
  }));
  const launch = createLauncher(join(directory, 'dist/src/main.js'), {
    NODE_ENV: 'development',
    PLATFORM_PUBLIC_KEY: signer.publicKey,
    PLATFORM_AUDIENCE: audience,
  });
  served = await launch({});
});
afterAll(() => served.stop());

async function connected(make: 'older' | 'newest', address: string) {
  const requestInit = { headers: { authorization: `Bearer ${await signer.token()}` } };
  const info = { name: 'test', version: '1' };
  const client = make === 'older' ? new OlderClient(info) : new Client(info);
  const Transport = make === 'older' ? OlderTransport : StreamableHTTPClientTransport;
  await client.connect(new Transport(new URL(address), { requestInit }) as never);
  return client;
}

it.each(['older', 'newest'] as const)(
  'the %s client lists and calls tools whose schemas had definitions and maps at their roots',
  async (make) => {
    const client = await connected(make, served.url);
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(Object.keys(outputs));
    for (const [name, [schema, answer]] of Object.entries(outputs)) {
      const { structuredContent, isError } = await client.callTool({ name, arguments: {} });
      const data = 'additionalProperties' in schema ? { result: answer } : answer;
      expect([name, isError, structuredContent]).toEqual([name, undefined, data]);
    }
    await client.close();
  },
);

it('is refused by the older client as it was listed', async () => {
  const client = await connected('older', url);
  await expect(client.listTools()).rejects.toThrow(/additionalProperties|resolve reference/);
  await client.close();
});

it('passes its check, and says what it changed', async () => {
  await expectProven(directory);
  const changed = changes.map(({ tool, path }) => `${tool} ${path}`);
  expect(changed).toEqual(
    expect.arrayContaining([
      'get_positions outputSchema.$defs',
      'get_rates outputSchema',
      'get_tree outputSchema.$defs',
    ]),
  );
});
