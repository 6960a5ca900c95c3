import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { text as textOf } from 'node:stream/consumers';
import { vitals } from '../lib/measure.js';
import { freshPath } from '../lib/places.js';
import { product } from '../lib/product.js';
import { atMost, figure, withSpread } from '../lib/section.js';
import { spreadOf } from '../lib/statistics.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Part } from '../lib/section.js' */

const atOnce = 8;
const pages = ['/', '/traffic', '/traffic.json'];
/** A result of 8 kB, so that 10,000 calls exceed the limit of the traffic. */
const data = { rows: Array.from({ length: 80 }, (_, row) => ({ row, text: 'x'.repeat(80) })) };
const schema = { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] };

/** @type {Part} */
export const marketplace = {
  name: 'marketplace',
  async run({ quick }) {
    const steps = quick ? [0, 20, 40] : [0, 2_500, 5_000, 10_000];
    const server = toolServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}/mcp`;
    const cwd = freshPath('marketplace');
    mkdirSync(cwd);
    const args = [product().market, 'marketplace', '--endpoint', endpoint, '--page-port', '0', '--json'];
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(child.stdout, 'data');
      const { url, secret } = JSON.parse(String(line));
      const headers = { authorization: `Bearer ${secret}` };
      const rows = [];
      let last = spreadOf([Number.NaN]);
      let made = 0;
      for (const calls of steps) {
        await makeCalls(url, headers, calls - made);
        made = calls;
        const { bytes, kept } = /** @type {{ bytes: number, kept: number }} */ (
          await (await fetch(`${url}/traffic.json`, { headers })).json()
        );
        const times = [];
        for (const page of pages) times.push(await timesOf(url + page, headers, quick ? 2 : 15));
        last = spreadOf(times[1] ?? []);
        const { rssMb } = vitals(child.pid ?? 0);
        rows.push([
          calls.toLocaleString('en'),
          kept.toLocaleString('en'),
          figure(bytes / 1024 / 1024),
          figure(rssMb),
          ...times.map(withSpread),
        ]);
      }
      return {
        title: 'Local marketplace',
        text: `\`market-mcp marketplace\` beside a server whose calls return 8 kB: calls through its JSON twin, ${atOnce} at a time, then its pages. A call is six requests, which are all logged.`,
        tables: [
          {
            head: ['calls', 'requests kept', 'MiB kept', 'RSS MB', ...pages.map((page) => `\`${page}\` ms`)],
            rows,
          },
        ],
        reaches: [atMost(`\`/traffic\` after ${made.toLocaleString('en')} calls`, last, 200, 'ms')],
        notes: [
          'The traffic keeps 32 MiB at most, counted as two bytes a character; the rest of the memory is Node and the page.',
        ],
      };
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
      server.closeAllConnections();
      server.close();
    }
  },
};

/**
 * @param {string} url
 * @param {Readonly<Record<string, string>>} admitted
 * @param {number} count
 */
async function makeCalls(url, admitted, count) {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await fetch(`${url}/try.json`, {
        method: 'POST',
        headers: { ...admitted, 'content-type': 'application/json' },
        body: '{"tool":"get_rows","arguments":{}}',
      });
      const { verdict } = /** @type {{ verdict: { outcome: string } }} */ (await answer.json());
      if (verdict.outcome !== 'found') throw new Error(`a call ended as ${JSON.stringify(verdict)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/**
 * Milliseconds of consecutive requests.
 *
 * @param {string} url
 * @param {Readonly<Record<string, string>>} headers
 * @param {number} count
 */
async function timesOf(url, headers, count) {
  const times = [];
  for (let run = 0; run < count; run += 1) {
    const started = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    times.push(performance.now() - started);
  }
  return times;
}

/** A minimal MCP server with one tool. */
function toolServer() {
  const tool = {
    name: 'get_rows',
    description: 'Returns rows.',
    inputSchema: { type: 'object' },
    outputSchema: schema,
  };
  const result = { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
  /** @type {Readonly<Record<string, object>>} */
  const results = {
    initialize: {
      protocolVersion: '2024-11-05',
      capabilities: { tools: {} },
      serverInfo: { name: 'rows', version: '1.0.0' },
    },
    'tools/list': { tools: [tool] },
    'tools/call': result,
  };
  return createServer(async (request, response) => {
    const body = await textOf(request);
    const { id, method } = body === '' ? { id: 0, method: 'health' } : JSON.parse(body);
    const found = results[method] ?? {};
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(
      JSON.stringify(method === 'health' ? { status: 'ok' } : { jsonrpc: '2.0', id, result: found }),
    );
  });
}
