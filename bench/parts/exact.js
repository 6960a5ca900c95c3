import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openSession, request } from '../lib/mcp.js';
import { measure, vitals } from '../lib/measure.js';
import { freshPath } from '../lib/places.js';
import { compiler, plainEnvironment, scaffold } from '../lib/product.js';
import { atMost, withSpread } from '../lib/section.js';
import { startServer } from '../lib/server.js';
import { interleaved, pairedRatio } from '../lib/statistics.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { Part } from '../lib/section.js' */
/** @import { Running } from '../lib/server.js' */

/** What the ids of an answer are, as they are written in it. */
const ids = { small: '900719925474099', large: '9007199254740993' };
const runtime = 'node_modules/market-mcp-runtime';

/** @type {Part} */
export const exact = {
  name: 'exact',
  async run({ quick }) {
    const api = await rowsApi();
    /** @type {Running[]} */
    const servers = [];
    try {
      const project = buildTool(api.url);
      for (const directory of [project, withoutScan(project)]) {
        const env = { AUTH: 'off', NODE_ENV: 'development' };
        servers.push(await startServer(join(directory, 'dist/src/main.js'), env));
      }
      const rows = [];
      const reaches = [];
      for (const [size, calls, bytes] of quick ? sizes(10, 2) : sizes(1_500, 20)) {
        for (const id of /** @type {const} */ (['small', 'large'])) {
          const contestants = await Promise.all(
            servers.map(async ({ pid, url }, i) => {
              const session = await openSession(url);
              const params = {
                name: 'listRows',
                arguments: { count: Math.round(bytes / rowOf('small', 1).length), id },
              };
              const run = async () => {
                const before = vitals(pid).cpuMs;
                for (let call = 0; call < calls; call += 1) {
                  const { result } = await request(url, 'tools/call', params, { session });
                  const [first] = result.structuredContent.items ?? [];
                  const expected =
                    id === 'small' ? Number(ids.small) : i === 0 ? ids.large : Number(ids.large);
                  if (first?.id !== expected)
                    throw new Error(`another answer: ${JSON.stringify(result).slice(0, 200)}`);
                }
                return (vitals(pid).cpuMs - before) / calls;
              };
              await run();
              return /** @type {const} */ ([String(i), run]);
            }),
          );
          const results = await interleaved(quick ? 1 : 11, new Map(contestants));
          const [ours = [], plain = []] = [...results.values()];
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
          'text; one call after the other. Beside it, the same server whose runtime does not look for long numbers.',
        ].join(' '),
        tables: [{ head: ['answer', 'CPU ms without', 'CPU ms with', '×'], rows }],
        reaches,
        notes: [
          `Without, the id ${ids.large} arrives as ${Number(ids.large)}; with, as the text of its digits.`,
        ],
      };
    } finally {
      for (const { stop } of servers) await stop();
      api.stop();
    }
  },
};

/**
 * @param {number} few calls of one run with small answers
 * @param {number} fewer calls of one run with large answers
 * @returns {[title: string, calls: number, bytes: number][]}
 */
function sizes(few, fewer) {
  return [
    ['1 kB', few, 1_000],
    ['1 MB', fewer, 1_000_000],
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

/** The same server whose runtime finds no long number. @param {string} project @returns {string} its directory */
function withoutScan(project) {
  const copy = freshPath('without-scan');
  cpSync(project, copy, { recursive: true, filter: (path) => path !== join(project, 'node_modules') });
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(project, 'node_modules'))) {
    if (name !== 'market-mcp-runtime')
      symlinkSync(join(project, 'node_modules', name), join(copy, 'node_modules', name));
  }
  cpSync(join(project, runtime), join(copy, runtime), { recursive: true, dereference: true });
  const file = join(copy, runtime, 'dist/server.js');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(/function longNumbersIn\(\w+\) \{/, '$& return;');
  if (changed === text) throw new Error('the runtime has no function longNumbersIn');
  writeFileSync(file, changed);
  return copy;
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
