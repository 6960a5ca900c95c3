import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSession, request } from '../lib/mcp.js';
import { measure } from '../lib/measure.js';
import { freshPath } from '../lib/places.js';
import { compiler, plainEnvironment, scaffold } from '../lib/product.js';
import { atMost, figure } from '../lib/section.js';
import { startServer } from '../lib/server.js';
import { percentile, spreadOf } from '../lib/statistics.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Part } from '../lib/section.js' */

const perMinute = 60;
/** The API's response times; all equal calls must arrive within the first one. */
const [equalMs, differentMs] = [2_000, 100];
/** Requests that start a minute apart may arrive a little closer to each other. */
const windowMs = 59_000;
const [equalCalls, budgetCalls] = [200, 1_000];

/**
 * The end of a call.
 *
 * @typedef {{ readonly ms: number, readonly ending: string }} Call
 */

/** @type {Part} */
export const source = {
  name: 'source',
  async run({ quick }) {
    const api = await gasApi();
    const script = buildTool(api.url);
    const server = await startServer(script, { AUTH: 'off', NODE_ENV: 'development' }, { pin: false });
    try {
      const session = await openSession(server.url);
      const call = async (/** @type {string} */ chain) => {
        const started = performance.now();
        const params = { name: 'getGas', arguments: { chain } };
        const { result } = await request(server.url, 'tools/call', params, { session });
        const { error = 'found' } = result.structuredContent;
        return { ms: performance.now() - started, ending: error };
      };

      const equal = await Promise.all(Array.from({ length: equalCalls }, () => call('base')));
      const sentForEqual = api.arrivals.length;

      // Spread over more than two minutes, so that the budget is renewed twice.
      const pauseMs = quick ? 2 : 130;
      const pending = [];
      for (let serial = 0; serial < budgetCalls; serial += 1) {
        pending.push(call(`chain${serial}`));
        await delay(pauseMs);
      }
      const many = await Promise.all(pending);
      const most = maxPerMinute(api.arrivals);

      return {
        title: 'A tool with an API behind it',
        text: [
          `A tool from an OpenAPI document, as generated, with \`perMinute: ${perMinute}\`. First ${figure(equalCalls)} equal calls at`,
          `once, while the API takes ${equalMs / 1_000} s to answer; then ${figure(budgetCalls)} different calls, one every ${pauseMs} ms, while it`,
          `takes ${differentMs} ms.`,
        ].join(' '),
        tables: [
          {
            head: [
              'calls',
              'requests to the API',
              `most in ${windowMs / 1_000} s`,
              'p50 ms',
              'p99 ms',
              'endings',
            ],
            rows: [
              [
                `${figure(equalCalls)} equal, at once`,
                figure(sentForEqual),
                figure(sentForEqual),
                ...summary(equal),
              ],
              [
                `${figure(budgetCalls)} different`,
                figure(api.arrivals.length - sentForEqual),
                figure(most),
                ...summary(many),
              ],
            ],
          },
        ],
        reaches: [
          atMost(`${figure(equalCalls)} equal calls at once`, spreadOf([sentForEqual]), 1, 'request'),
          atMost(
            `${figure(budgetCalls)} calls over the budget`,
            spreadOf([most]),
            perMinute,
            `requests in ${windowMs / 1_000} s`,
          ),
        ],
        notes: [
          `Requests are counted where they arrive, within ${windowMs / 1_000} s: those that start a minute apart may arrive a little closer to each other.`,
          'A call that would wait longer than two seconds for the budget fails at once as `RATE_LIMITED`, with the time after which a repeated call can succeed.',
        ],
      };
    } finally {
      await server.stop();
      api.stop();
    }
  },
};

/** @param {readonly Call[]} calls */
function summary(calls) {
  const times = calls.map(({ ms }) => ms);
  const endings = [...new Set(calls.map(({ ending }) => ending))].map(
    (name) => `${name} ${calls.filter(({ ending }) => ending === name).length}`,
  );
  return [figure(percentile(times, 50)), figure(percentile(times, 99)), endings.join(', ')];
}

/** The maximum number of requests within one window. @param {readonly number[]} arrivals in milliseconds, ascending */
function maxPerMinute(arrivals) {
  const counts = arrivals.map(
    (first, index) => arrivals.slice(index).filter((arrival) => arrival - first < windowMs).length,
  );
  return Math.max(...counts);
}

/** An API on loopback that records the times of its requests. */
async function gasApi() {
  /** @type {number[]} */
  const arrivals = [];
  const server = createServer(async ({ url = '' }, response) => {
    arrivals.push(performance.now());
    await delay(url === '/gas/base' ? equalMs : differentMs);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ chain: url.slice('/gas/'.length), gwei: 12.5 }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`, arrivals, stop };
}

/**
 * Creates and builds a server with a tool that calls the API.
 *
 * @param {string} url
 * @returns {string} its script
 */
function buildTool(url) {
  const document = freshPath('gas.json');
  writeFileSync(document, JSON.stringify(gasDocument(url)));
  const directory = scaffold(['--from-openapi', document, '--operation', 'getGas']);
  const file = join(directory, 'src/apis/gas.ts');
  const text = readFileSync(file, 'utf8');
  const budgeted = text.replace('httpSource({', `httpSource({\n  perMinute: ${perMinute},`);
  if (budgeted === text) throw new Error('the file of the API has no place for a budget');
  writeFileSync(file, budgeted);
  measure('npm', ['install', '--no-audit', '--no-fund'], { cwd: directory, env: plainEnvironment });
  measure(process.execPath, [compiler(directory)], { cwd: directory, env: plainEnvironment });
  return join(directory, 'dist/src/main.js');
}

/** @param {string} url */
function gasDocument(url) {
  const schema = {
    type: 'object',
    required: ['chain', 'gwei'],
    properties: {
      chain: { type: 'string', description: 'Name of the chain' },
      gwei: { type: 'number', description: 'Price in gwei' },
    },
  };
  const chain = { name: 'chain', in: 'path', required: true, schema: { type: 'string' }, example: 'base' };
  return {
    openapi: '3.1.0',
    info: { title: 'Gas', version: '1.0.0' },
    servers: [{ url }],
    paths: {
      '/gas/{chain}': {
        get: {
          operationId: 'getGas',
          summary: 'Get the gas price of a chain.',
          parameters: [{ ...chain, description: 'Chain to look up' }],
          responses: { 200: { description: 'The price.', content: { 'application/json': { schema } } } },
        },
      },
    },
  };
}
