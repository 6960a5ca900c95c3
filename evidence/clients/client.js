import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// Tests one client against one server: `node client.js <client> <url>` prints the result of each step as one line of JSON.

const [id = '', url = ''] = process.argv.slice(2);
const tool = 'get_gas_price';
const inspector = 'node_modules/.bin/mcp-inspector';
const info = { name: 'clients', version: '1.0.0' };

/**
 * Each has `list()`, which returns the names of the tools, and `call(arguments)`, which returns the result as text or as an
 * object.
 */
const clients = {
  async 'sdk-v1'() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    );
    const client = new Client(info);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return official(client);
  },
  'sdk-v2-default': () => second({}),
  'sdk-v2-auto': () => second({ versionNegotiation: { mode: 'auto' } }),
  'sdk-v2-pinned': () => second({ versionNegotiation: { mode: { pin: '2026-07-28' } } }),
  async inspector() {
    const run = async (...args) => {
      const line = [inspector, '--cli', url, '--transport', 'http', ...args];
      const { stdout } = await promisify(execFile)(process.execPath, line).catch((error) => {
        if (error.stdout) return error;
        throw error;
      });
      return JSON.parse(stdout);
    };
    return {
      list: async () => (await run('--method', 'tools/list')).tools.map(({ name }) => name),
      call: (args) =>
        run(
          '--method',
          'tools/call',
          '--tool-name',
          tool,
          ...Object.entries(args).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]),
        ),
    };
  },
  async 'ai-sdk'() {
    const { createMCPClient } = await import('@ai-sdk/mcp');
    const client = await createMCPClient({ transport: { type: 'http', url } });
    const tools = await client.tools();
    return {
      list: async () => Object.keys(tools),
      call: (args) => tools[tool].execute(args, { toolCallId: '1', messages: [] }),
      close: () => client.close(),
    };
  },
  async langchain() {
    const { MultiServerMCPClient } = await import('@langchain/mcp-adapters');
    const client = new MultiServerMCPClient({ mcpServers: { gas: { transport: 'http', url } } });
    const tools = await client.getTools();
    return {
      list: async () => tools.map(({ name }) => name),
      call: (args) => tools.find(({ name }) => name === tool).invoke(args),
      close: () => client.close(),
    };
  },
  async 'openai-agents'() {
    const { MCPServerStreamableHttp } = await import('@openai/agents');
    const server = new MCPServerStreamableHttp({ url, name: 'gas' });
    await server.connect();
    return {
      list: async () => (await server.listTools()).map(({ name }) => name),
      call: (args) => server.callTool(tool, args),
      close: () => server.close(),
    };
  },
};

async function second(options) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(info, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return official(client);
}

function official(client) {
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (args) => client.callTool({ name: tool, arguments: args }),
    close: () => client.close(),
  };
}

const wanted = {
  found: { chain: 'base', shows: /"gwei\\*":\s*[\d.]+/ },
  empty: { chain: 'atlantis', shows: /searchExhausted\\*":\s*true/ },
  fail: { chain: 'down', shows: /SOURCE_UNAVAILABLE/ },
};

const outcome = {};
let client;
try {
  client = await clients[id]();
  const names = await client.list();
  outcome.list = names.includes(tool) ? 'ok' : `it lists ${JSON.stringify(names)}`;
  for (const [step, { chain, shows }] of Object.entries(wanted)) {
    outcome[step] = await client.call({ chain }).then(
      (result) => {
        const text = typeof result === 'string' ? result : JSON.stringify(result);
        return shows.test(text) ? 'ok' : `it gave ${text}`;
      },
      (error) => (shows.test(String(error)) ? 'ok' : `it threw ${messageOf(error)}`),
    );
  }
} catch (error) {
  for (const step of ['list', 'found', 'empty', 'fail']) outcome[step] ??= messageOf(error);
}
await client?.close?.().catch(() => {});
console.log(
  JSON.stringify({ list: outcome.list, found: outcome.found, empty: outcome.empty, fail: outcome.fail }),
);
process.exit(0);

function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
