import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Lists and calls the tools of one generated server with third-party clients, and writes docs/evidence/clients.md. The clients are
// installed into a separate directory and run under Node 22, which some of them need.

const repository = fileURLToPath(new URL('../..', import.meta.url));
const packages = {
  node: '22',
  '@modelcontextprotocol/sdk': '1',
  '@modelcontextprotocol/client': '2',
  '@modelcontextprotocol/inspector': '2',
  '@ai-sdk/mcp': '2',
  '@langchain/mcp-adapters': '1',
  '@langchain/core': '1',
  '@langchain/langgraph': '1',
  '@openai/agents': '0',
  zod: '4',
};
const clients = [
  { id: 'sdk-v1', name: 'MCP SDK v1', of: '@modelcontextprotocol/sdk' },
  { id: 'sdk-v2-default', name: 'MCP SDK v2, default', of: '@modelcontextprotocol/client' },
  { id: 'sdk-v2-auto', name: 'MCP SDK v2, `auto`', of: '@modelcontextprotocol/client' },
  { id: 'sdk-v2-pinned', name: 'MCP SDK v2, pinned to 2026-07-28', of: '@modelcontextprotocol/client' },
  { id: 'inspector', name: 'MCP Inspector, CLI', of: '@modelcontextprotocol/inspector' },
  { id: 'ai-sdk', name: 'Vercel AI SDK', of: '@ai-sdk/mcp' },
  { id: 'langchain', name: 'LangChain', of: '@langchain/mcp-adapters' },
  { id: 'openai-agents', name: 'OpenAI Agents SDK', of: '@openai/agents' },
];
const steps = ['list', 'found', 'empty', 'fail'];
const clientMs = 60_000;
const toolFlags = [
  '--yes',
  '--no-git',
  '--no-check',
  '--tool=get_gas_price',
  '--description=Returns the gas price of a chain. Use it before a transaction is sent.',
  '--input=chain:string(examples=base|ethereum) Chain to look up',
  '--output=gwei:number Gas price in gwei',
];

const place = mkdtempSync(join(tmpdir(), 'clients-'));
try {
  await main();
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function main() {
  const project = join(place, 'gas');
  console.log('creating the server');
  await make(process.execPath, [join(repository, 'bin/create-market-mcp.js'), project, ...toolFlags]);
  failing(join(project, 'src/tools/get-gas-price.ts'));
  await make('npm', ['run', 'build'], project);
  const away = join(place, 'clients');
  cpSync(join(import.meta.dirname, 'client.js'), join(away, 'client.js'));
  writeFileSync(
    join(away, 'package.json'),
    JSON.stringify({ type: 'module', private: true, dependencies: packages }),
  );
  console.log('installing the clients');
  await make('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps'], away);
  const port = await freePort();
  const server = spawn(process.execPath, ['dist/src/main.js'], {
    cwd: project,
    env: { ...process.env, PORT: String(port), AUTH: 'off', NODE_ENV: 'development' },
    stdio: 'ignore',
  });
  try {
    await untilHealthy(port, server);
    const rows = [];
    for (const client of clients) {
      const outcome = await ask(away, client.id, `http://127.0.0.1:${port}/mcp`);
      rows.push({ ...client, version: versionOf(away, client.of), outcome });
      console.log(client.id, JSON.stringify(outcome));
    }
    writeFileSync(join(repository, 'docs/evidence/clients.md'), page(rows, versionOf(away, 'node')));
  } finally {
    server.kill('SIGTERM');
    await new Promise((ended) => (server.exitCode === null ? server.once('exit', ended) : ended()));
  }
}

/** Makes the source fail for one chain, as a failing API would. */
function failing(file) {
  const text = readFileSync(file, 'utf8');
  const line = '    return samples';
  if (!text.includes(line)) throw new Error(`${file} has no place for a failure`);
  writeFileSync(
    file,
    text.replace(line, `    if (input.chain === 'down') throw new Error('the source is down');\n${line}`),
  );
}

/** The result of each step with a client: `ok`, or the client's error. */
async function ask(directory, id, url) {
  const node = join(directory, 'node_modules/node/bin/node');
  const { code, output } = await run(node, ['client.js', id, url], directory, clientMs);
  const line = output.split('\n').findLast((text) => text.startsWith('{"list"'));
  if (line !== undefined) return JSON.parse(line);
  const reason =
    code === null ? `no answer within ${clientMs / 1000} s` : output.trim().split('\n').slice(-3).join(' ');
  return Object.fromEntries(steps.map((step) => [step, reason]));
}

function page(rows, node) {
  const cell = (text) =>
    text === 'ok' ? '✓' : `✗ ${text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').slice(0, 200)}`;
  const lines = rows.map(
    ({ name, of, version, outcome }) =>
      `| ${[name, `\`${of}\` ${version}`, ...steps.map((step) => cell(outcome[step]))].join(' | ')} |`,
  );
  return [
    '# Clients',
    '',
    'Each third-party client talks to one generated server (`AUTH=off`). It lists the tool, and calls it for data (found), for an',
    'explicit empty result (empty) and for a failure of the source (fail). ✓: the client returned what the server sent: the',
    'number, `searchExhausted`, and the code `SOURCE_UNAVAILABLE`. Otherwise the cell contains what the client said.',
    '',
    `Written by \`npm run docs clients\` on ${new Date().toISOString().slice(0, 10)}; the server ran under Node ${process.versions.node}, the clients under`,
    `Node ${node}.`,
    '',
    `| client | package | ${steps.join(' | ')} |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}

function versionOf(directory, name) {
  return JSON.parse(readFileSync(join(directory, 'node_modules', name, 'package.json'), 'utf8')).version;
}

async function make(program, args, cwd = place) {
  const { code, output } = await run(program, args, cwd, 300_000);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${output.slice(-2000)}`);
}

function run(program, args, cwd, ms) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: ms,
      killSignal: 'SIGKILL',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ code: 1, output: String(error) }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => probe.once('listening', listening));
  const { port } = probe.address();
  await new Promise((closed) => probe.close(closed));
  return port;
}

async function untilHealthy(port, server) {
  for (let tries = 0; tries < 300 && server.exitCode === null; tries += 1) {
    const healthy = await fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (healthy) return;
    await new Promise((later) => setTimeout(later, 100));
  }
  throw new Error('the server does not answer');
}
