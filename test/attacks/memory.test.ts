import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveHere } from '../api-server.ts';
import { measured, table, writePlace } from '../page.ts';
import { buildProject } from '../runtime/built.ts';
import { callHonestly, type Experience, startVictim, type Victim } from './victim.ts';

// Paid calls whose API answers as much as a source accepts.

/** Set by `npm run attacks`. */
const isForPage = process.env.ATTACKS_PAGE !== undefined;
const isWhole = isForPage || process.env.NIGHTLY !== undefined;

const most = 1_990_000;
const list = (item: string) => `[${Array(Math.floor(most / (item.length + 1))).fill(item)}]`;
const record = JSON.stringify(Object.fromEntries(Array.from('abcdefghijkl', (name) => [name, 1])));
const listOf = {
  objects: list('{}'),
  lists: list('[]'),
  numbers: list('1.5'),
  'short texts': list('"a"'),
  records: list(record),
};
const mcp = (content: string, structured: string) =>
  `{"content":[{"type":"text","text":${JSON.stringify(content)}}]${structured}}`;
/** The answers by kind. */
const answers: { readonly [kind: string]: string } = {
  ...listOf,
  'MCP, structured': mcp('', `,"structuredContent":{"items":${listOf.objects}}`),
  'MCP, as text': mcp(`{"items":${listOf.objects}}`, ''),
};
const heaps = isWhole ? [128, 256, 512] : [256];
const parallels = isWhole ? [8, 20, 60] : [20];
const kinds = isWhole ? Object.keys(answers) : ['objects', 'MCP, structured', 'MCP, as text'];

interface Row {
  readonly heap: number;
  readonly kind: string;
  readonly calls: number;
  readonly codes: ReadonlyMap<string, number>;
  readonly honest: Experience;
  readonly isAlive: boolean;
}
const rows: Row[] = [];

let project: ReturnType<typeof buildProject>;
const api = createServer(async (request, response) => {
  const [, kind = ''] = decodeURIComponent(request.url ?? '').split('/');
  response.setHeader('content-type', 'application/json');
  if (kind !== 'mcp') return void response.end(answers[kind]);
  const { id, method, params } = JSON.parse(await textOf(request));
  if (id === undefined) return void response.writeHead(202).end();
  const opened = '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","version":"1"}}';
  const result = method === 'tools/call' ? answers[params.arguments.kind] : opened;
  response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
});

const apiUrl = await serveHere(api);

beforeAll(() => {
  project = buildProject(join(import.meta.dirname, 'memory-tools.ts'));
});
afterAll(() => {
  project.remove();
  if (isWhole) writeMatrix();
});

/** The code of the result of a call: `found`, that of its failure, or its status. */
async function callFor(victim: Victim, kind: string, number: number): Promise<string> {
  const name = kind.startsWith('MCP') ? 'list_from_server' : 'list_from_api';
  const response = await fetch(`http://127.0.0.1:${victim.port}/mcp`, {
    method: 'POST',
    headers: { ...victim.session, ...(await victim.paid()), 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { kind, number } },
    }),
  }).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (!response || typeof text !== 'string') return 'no answer';
  if (response.status !== 200) return String(response.status);
  const [, code = 'found'] = /"error":"([A-Z_]+)"/.exec(text) ?? [];
  return code;
}

const cases = heaps.flatMap((heap) =>
  kinds.flatMap((kind) => parallels.map((calls) => ({ heap, kind, calls }))),
);

test.each(cases)('a heap of $heap MB survives $calls calls at once: $kind', async ({ heap, kind, calls }) => {
  const env = { API_URL: apiUrl, CALL_TIMEOUT_MS: '10000' };
  const victim = await startVictim(project.directory, env, undefined, heap);
  try {
    const all = Promise.all(Array.from({ length: calls }, (_, number) => callFor(victim, kind, number)));
    const honest = await callHonestly(victim, all);
    const codes = new Map<string, number>();
    for (const code of await all) codes.set(code, (codes.get(code) ?? 0) + 1);
    rows.push({ heap, kind, calls, codes, honest, isAlive: victim.isAlive() });
    expect(victim.isAlive()).toBe(true);
    expect(honest.times.length).toBeGreaterThan(0);
    expect(codes.get('no answer')).toBeUndefined();
    if (codes.has('OVERLOADED')) expect(victim.limitsMet).toContain('MAX_MEMORY_BYTES');
  } finally {
    await victim.kill();
  }
});

/** Of all kinds of answers together: how many servers lived, how long honest calls took, how the others ended. */
function writeMatrix(): void {
  const cell = (heap: number, calls: number) => {
    const own = rows.filter((row) => row.heap === heap && row.calls === calls);
    const slow = own.map(({ honest: { times } }) => times[Math.floor(times.length * 0.99)] ?? Number.NaN);
    const failed = own.reduce((sum, { honest }) => sum + honest.failed, 0);
    const ends = new Map<string, number>();
    for (const [code, count] of own.flatMap(({ codes }) => [...codes]))
      ends.set(code, (ends.get(code) ?? 0) + count);
    const alive = `${own.filter(({ isAlive }) => isAlive).length} of ${own.length} alive`;
    const p99 = `p99 ${Math.min(...slow).toFixed(0)} to ${Math.max(...slow).toFixed(0)} ms`;
    const counts = [...ends].map(([code, count]) => `${count} ${code}`).join(', ');
    return `${alive}; ${p99}${failed ? `, ${failed} failed` : ''}; ${counts}`;
  };
  const lines = heaps.map((heap) => [`${heap} MB`, ...parallels.map((calls) => cell(heap, calls))]);
  const head = ['heap', ...parallels.map((calls) => `${calls} calls`)];
  const text = `${measured()}.\n\n${table([head, ...lines]).join('\n')}`;
  console.log(text);
  if (isForPage && rows.length === cases.length) writePlace('reliability.md', 'memory', text);
}
