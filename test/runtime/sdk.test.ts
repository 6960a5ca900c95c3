import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { DiscoverResultSchema, ListToolsResultSchema } from '@modelcontextprotocol/core';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import {
  type CallToolResult,
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isLegacyRequest,
  type JSONRPCErrorResponse,
  type JSONRPCRequest,
  type Tool as SdkTool,
  Server,
} from '@modelcontextprotocol/server';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { CallResult } from '../../packages/runtime/src/server/call-result.ts';
import type { ToolDefinition } from '../../packages/runtime/src/server/define-tool.ts';
import type { ErrorReply, Request as RpcRequest } from '../../packages/runtime/src/server/json-rpc.ts';
import { expectSameKinds } from './messages.ts';
import { envelope, modernRequest, paid } from './modern.ts';
import { start } from './support.ts';
import { lying, price, rigid, throwing } from './tools.ts';

// Version 2 of the SDK, which generated projects do not depend on, validates the runtime's behaviour.

/** A type without `readonly`. An object with an index signature becomes `{ [name: string]: unknown }`, which ends recursion. */
type Writable<T> = T extends readonly (infer One)[]
  ? Writable<One>[]
  : T extends object
    ? string extends keyof T
      ? { [name: string]: unknown }
      : { -readonly [Name in keyof T]: Writable<T[Name]> }
    : T;

test('messages and results are assignable to the types of both versions of the SDK', () => {
  type Result = Writable<CallResult>;
  expectTypeOf<Result>().toExtend<CallToolResult>();
  expectTypeOf<Result>().toExtend<v1.CallToolResult>();
  expectTypeOf<Writable<RpcRequest>>().toExtend<JSONRPCRequest & v1.JSONRPCRequest>();
  expectTypeOf<Writable<ErrorReply> & { id?: string | number }>().toExtend<JSONRPCErrorResponse>();
  expectTypeOf<Writable<ErrorReply> & { id: string | number }>().toExtend<v1.JSONRPCError>();
  type Described = 'inputSchema' | 'outputSchema';
  expectTypeOf<Writable<Omit<ToolDefinition, Described>>>().toExtend<
    Omit<SdkTool, Described> & Omit<v1.Tool, Described>
  >();
  type Wrong = Omit<Result, 'content'> & { content: string };
  // @ts-expect-error The type check must reject an answer that is not of the SDK's type.
  expectTypeOf<Wrong>().toExtend<CallToolResult>();
  // @ts-expect-error So must that of version 1.
  expectTypeOf<Wrong>().toExtend<v1.CallToolResult>();
});

test('agrees with both versions of the SDK on requests and notifications', () => {
  expectSameKinds({ isJSONRPCRequest, isJSONRPCNotification }, 1_000);
  expectSameKinds(v1, 5_000);
});

describe.each([
  ['the client of SDK v1', null, '2025-11-25'],
  ['the client of SDK v2 by default', 'legacy', '2025-11-25'],
  ['the client of SDK v2 that finds out', 'auto', '2026-07-28'],
  ['the client of SDK v2 that speaks one version', { pin: '2026-07-28' }, '2026-07-28'],
] as const)('%s', (_, mode, version) => {
  test(`gives the list and all three outcomes at ${version}`, async () => {
    const failing = [throwing, lying, rigid];
    const { url } = await start({ tools: [price, ...failing] });
    const info = { name: 'test', version: '1' };
    const requestInit = { headers: await paid() };
    const client = mode === null ? new ClientV1(info) : new Client(info, { versionNegotiation: { mode } });
    const transport =
      mode === null
        ? new TransportV1(new URL(url), { requestInit })
        : new StreamableHTTPClientTransport(new URL(url), { requestInit });
    await client.connect(transport as never);
    expect(transport.protocolVersion).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['get_price', ...failing.map(({ name }) => name)]);
    const call = (coin: string) => client.callTool({ name: 'get_price', arguments: { coin, depth: 2 } });
    const found = await call('btc');
    expect(found.isError).toBeUndefined();
    expect(found.structuredContent).toEqual({ price: 12.5, rows: [{ bid: 1 }, { bid: 1 }] });
    const empty = { price: null, rows: [], searchExhausted: true, noResultsReason: 'No such coin' };
    expect((await call('nothing')).structuredContent).toEqual(empty);
    expect(await call('broken')).toMatchObject({
      isError: true,
      structuredContent: { error: 'UPSTREAM_DOWN' },
    });
    // It validates answers with the schemas that it has listed.
    for (const { name } of failing)
      expect((await client.callTool({ name, arguments: {} })).isError).toBe(true);
    await client.close();
  });
});

test('server/discover and tools/list match the results of SDK v2', async () => {
  const { client } = await start();
  for (const [method, schema] of [
    ['server/discover', DiscoverResultSchema],
    ['tools/list', ListToolsResultSchema],
  ] as const) {
    const { body, headers } = modernRequest(method);
    const { result } = (await client.send(body, headers)).body;
    expect(schema.parse(result)).toMatchObject({ ttlMs: 0, cacheScope: 'public' });
  }
});

/** A server of SDK v2 with the same tool: only its checks before a call are compared. */
function referenceHandler() {
  return createMcpHandler(
    () => {
      const server = new Server({ name: 'reference', version: '1' }, { capabilities: { tools: {} } });
      const { name, description, inputSchema } = price;
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name, description, inputSchema } as SdkTool],
      }));
      server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'x' }] }));
      return server;
    },
    { legacy: 'reject' },
  );
}

const methods = ['tools/list', 'tools/call', 'server/discover', 'ping', 'logging/setLevel', 'x'];
const headers = [
  ...[
    undefined,
    'tools/list',
    'tools/call',
    'Tools/List',
    'get_price',
    ' \ttools/list ',
    'x',
    '2025-11-25',
    '2026-07-28',
  ],
  ...[
    '1900-01-01',
    '=?base64?dG9vbHMvbGlzdA==?=',
    '=?base64?Z2V0X3ByaWNl?=',
    '=?base64?x?=',
    '=?BASE64?Z2V0X3ByaWNl?=',
  ],
];
const entries = [
  ...[undefined, null, {}, [], 7, 'x', { name: 'x' }, { name: 'x', version: '1' }],
  ...['2025-11-25', '2026-07-28', '1900-01-01'],
];
/** No change of a request, and one of each header and of each entry of `_meta`. */
const changes: readonly { readonly headers?: Record<string, string | undefined>; readonly meta?: object }[] =
  [
    {},
    ...['mcp-protocol-version', 'mcp-method', 'mcp-name'].flatMap((name) =>
      headers.map((value) => ({ headers: { [name]: value } })),
    ),
    ...['protocolVersion', 'clientInfo', 'clientCapabilities'].flatMap((name) =>
      entries.map((value) => ({ meta: { [name]: value } })),
    ),
  ];

test.each(methods)(
  'agrees with the handler of SDK v2 on the revision and the refusal of %s',
  async (method) => {
    const { client } = await start({ tools: [price] });
    const reference = referenceHandler();
    const authorization = await paid();
    const params = method === 'tools/call' ? { name: 'get_price', arguments: {} } : {};
    for (const change of changes) {
      const asked = { ...params, _meta: envelope({ ...change.meta }) };
      const { body, headers } = modernRequest(method, asked, change.headers);
      const accept = 'application/json, text/event-stream';
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...headers },
        body: JSON.stringify(body),
      };
      const url = 'http://localhost/mcp';
      const { status, body: answer } = await client.send(body, { ...headers, ...authorization });
      const said = JSON.stringify(change);
      if (await isLegacyRequest(new Request(url, init))) {
        expect({ status, answer }, said).toEqual({ status: 400, answer: { error: 'Invalid session' } });
        continue;
      }
      const expected = await reference.fetch(new Request(url, init));
      const { error } = (await expected.json()) as { error?: { code: number } };
      expect({ status, code: answer.error?.code }, said).toEqual({
        status: expected.status,
        code: error?.code,
      });
    }
  },
);
