import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSession, request } from '../lib/mcp.js';
import { cpuMsOf, measure } from '../lib/measure.js';
import { freshPath } from '../lib/places.js';
import { compiler, plainEnvironment, scaffold } from '../lib/product.js';
import { atMost, withSpread } from '../lib/section.js';
import { startServer } from '../lib/server.js';
import { pairedRatio } from '../lib/statistics.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Part } from '../lib/section.js' */
/** @import { Running } from '../lib/server.js' */

/** What the ids of an answer are, as they are written in it. */
const ids = { small: '900719925474099', large: '9007199254740993' };

/** Calls that run together: one after the other, most of the time of a small one is the waking of the process. */
const atOnce = 16;

/** @type {Part} */
export const exact = {
  name: 'exact',
  async run({ quick }) {
    const api = await rowsApi();
    /** @type {Running | undefined} */
    let server;
    try {
      const directory = buildTool(api.url);
      makeSwitchable(directory);
      const env = { AUTH: 'off', NODE_ENV: 'development' };
      server = await startServer(join(directory, 'dist/src/main.js'), env, {
        nodeArguments: ['--import', toggle],
      });
      const tool = { ...server, session: await openSession(server.url) };
      const rows = [];
      const reaches = [];
      for (const { size, bytes, calls, pairs } of sizes(quick)) {
        for (const id of /** @type {const} */ (['small', 'large'])) {
          const call = { count: Math.round(bytes / rowOf('small', 1).length), id };
          const { plain, ours } = await compared(tool, call, calls, id === 'small' ? pairs : pairs / 10);
          const ratio = pairedRatio(ours, plain);
          const what = `${size}, ${id === 'small' ? 'all numbers exact' : 'a large integer in each row'}`;
          rows.push([what, withSpread(plain), withSpread(ours), withSpread(ratio)]);
          if (id === 'small')
            reaches.push(atMost(`a call with an answer of ${size}, CPU with exact numbers`, ratio, 1.03));
        }
      }
      return {
        title: 'Exact numbers',
        text: [
          'A tool from an OpenAPI document, as generated, whose API answers with rows of an id, a time in milliseconds, a price and a',
          'text; up to 16 calls at once. In turn, the same process looks for long numbers and does not, so that both have one memory',
          'and one state of its compiler; processor time to the nanosecond, the ratio is the median of all pairs.',
        ].join(' '),
        tables: [{ head: ['answer', 'CPU ms without', 'CPU ms with', '×'], rows }],
        reaches,
        notes: [
          `Without, the id ${ids.large} arrives as ${Number(ids.large)}; with, as the text of its digits.`,
        ],
      };
    } finally {
      await server?.stop();
      api.stop();
    }
  },
};

/**
 * The CPU time of a call in runs that look for long numbers and in others, in milliseconds. Each
 * pair is four runs: without, with, with, without.
 *
 * @param {Running & { readonly session: string | undefined }} tool
 * @param {{ readonly count: number, readonly id: keyof typeof ids }} call
 * @param {number} calls of one run
 * @param {number} pairs
 */
async function compared({ pid, url, session }, { count, id }, calls, pairs) {
  /** @param {typeof id} kind @param {number} rows */
  const firstId = async (kind, rows) => {
    const params = { name: 'listRows', arguments: { count: rows, id: kind } };
    const { result } = await request(url, 'tools/call', params, { session });
    return result.structuredContent.items[0].id;
  };
  /** @param {boolean} isExact */
  const turn = async (isExact) => {
    while ((await firstId('large', 1)) !== (isExact ? ids.large : Number(ids.large))) {
      process.kill(pid, 'SIGUSR2');
      await delay(5);
    }
  };
  /** @type {{ plain: number[], ours: number[] }} */
  const results = { plain: [], ours: [] };
  for (let pair = -Math.ceil(pairs / 10); pair < pairs; pair += 1) {
    const sums = { plain: 0, ours: 0 };
    for (const isExact of [false, true, true, false]) {
      await turn(isExact);
      const before = cpuMsOf(pid);
      for (let one = 0; one < calls; one += atOnce) {
        await Promise.all(Array.from({ length: Math.min(atOnce, calls - one) }, () => firstId(id, count)));
      }
      sums[isExact ? 'ours' : 'plain'] += (cpuMsOf(pid) - before) / calls / 2;
    }
    if (pair < 0) continue;
    results.plain.push(sums.plain);
    results.ours.push(sums.ours);
  }
  return results;
}

/** @param {boolean} quick */
function sizes(quick) {
  return [
    { size: '1 kB', bytes: 1_000, calls: quick ? 16 : 480, pairs: quick ? 2 : 40 },
    { size: '1 MB', bytes: 1_000_000, calls: quick ? 1 : 6, pairs: quick ? 2 : 40 },
  ];
}

/** @param {keyof typeof ids} id @param {number} index */
function rowOf(id, index) {
  const [at, price] = [1_764_000_000_000 + index, (1_000 + (index % 9_000)) / 100];
  return `{"id":${ids[id]},"at":${at},"price":${price},"name":"Parcel ${index} to Rotterdam, insured"}`;
}

/** An API on loopback whose answers are prepared. */
async function rowsApi() {
  /** @type {Map<string, string>} */
  const answers = new Map();
  const server = createServer(({ url = '' }, response) => {
    const query = new URL(url, 'http://localhost').searchParams;
    const id = query.get('id') === 'large' ? 'large' : 'small';
    const rows = Array.from({ length: answers.has(url) ? 0 : Number(query.get('count')) }, (_, i) =>
      rowOf(id, i),
    );
    const answer = answers.get(url) ?? `[${rows}]`;
    answers.set(url, answer);
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`, stop };
}

/** Builds a server with a tool that calls the API. @param {string} url @returns {string} its directory */
function buildTool(url) {
  const document = freshPath('rows.json');
  writeFileSync(document, JSON.stringify(rowsDocument(url)));
  const directory = scaffold(['--from-openapi', document, '--operation', 'listRows']);
  measure('npm', ['install', '--no-audit', '--no-fund'], { cwd: directory, env: plainEnvironment });
  measure(process.execPath, [compiler(directory)], { cwd: directory, env: plainEnvironment });
  return directory;
}

/** A module that turns the search for long numbers off and on with each SIGUSR2. */
const toggle = `data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => { globalThis.findsNone = !globalThis.findsNone; });")}`;

/** @param {string} project its runtime gets the switch that `toggle` turns */
function makeSwitchable(project) {
  const file = join(project, 'node_modules/market-mcp-runtime/dist/exact-numbers.js');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(/function findLongNumbers\(\w+\) \{/, '$& if (globalThis.findsNone) return;');
  if (changed === text) throw new Error('the runtime has no function findLongNumbers');
  writeFileSync(file, changed);
}

/** @param {string} url */
function rowsDocument(url) {
  const properties = {
    id: { type: 'integer', format: 'int64', description: 'Number of the parcel' },
    at: { type: 'integer', description: 'Time in milliseconds since 1970' },
    price: { type: 'number', description: 'Price in EUR' },
    name: { type: 'string', description: 'What it is' },
  };
  const schema = { type: 'array', items: { type: 'object', required: Object.keys(properties), properties } };
  const count = {
    name: 'count',
    in: 'query',
    schema: { type: 'integer' },
    example: 1,
    description: 'Number of rows',
  };
  const id = {
    name: 'id',
    in: 'query',
    schema: { type: 'string' },
    example: 'small',
    description: 'Kind of the ids',
  };
  const responses = { 200: { description: 'The rows.', content: { 'application/json': { schema } } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Rows', version: '1.0.0' },
    servers: [{ url }],
    paths: {
      '/rows': {
        get: { operationId: 'listRows', summary: 'List the rows.', parameters: [count, id], responses },
      },
    },
  };
}
