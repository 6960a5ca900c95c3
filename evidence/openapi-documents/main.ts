import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { type Document, fetchDocuments } from '../../test/openapi-requests/documents.ts';
import { overview, type Result, shareOf, writePage } from './page.ts';
import { installModules } from './project.ts';
import { type TakenOver, takeOver } from './take-over.ts';

/** A document that takes longer counts as a hang. */
const timeout = 1_800_000;
/** Documents that are measured at the same time. */
const parallel = 2;
/** The share of operations with a typed answer that must become tools: of each document, and of all together. */
const leastEach = 0.95;
const leastInAll = 0.995;

/** The bundle of this code. */
const self = import.meta.filename;
const { values, positionals } = parseArgs({
  options: { only: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});
const [path, place, modules] = positionals;
if (path !== undefined && place !== undefined && modules !== undefined) {
  // Imports one document in a separate process.
  console.log(JSON.stringify(await takeOver(path, place, modules)));
  process.exit(0);
}

const root = mkdtempSync(join(tmpdir(), 'market-mcp-openapi-'));
try {
  const documents = await fetchDocuments();
  const titles = documents.map(({ title }) => title);
  const unknown = values.only.filter((title) => !titles.includes(title));
  if (unknown.length > 0 || positionals.length > 0) {
    const given = unknown.concat(positionals).join(', ');
    throw new Error(`--only ${given}: no such document. Choose from: ${titles.join(', ')}.`);
  }
  const chosen = documents.filter(({ title }) => values.only.length === 0 || values.only.includes(title));
  const shared = await installModules(root);
  const waiting = chosen.entries();
  const measured = new Map<number, Result>();
  await Promise.all(Array.from({ length: parallel }, () => measure(waiting, shared, measured)));

  const results = chosen.flatMap((_, index) => measured.get(index) ?? []);
  if (chosen.length === documents.length) writePage(results);
  else console.log(overview(results, () => true).join('\n'));
  const low = results.filter(({ row }) => row.tools < row.typed * leastEach).map(({ title }) => title);
  if (low.length > 0) throw new Error(`less than ${leastEach * 100} % became tools: ${low.join(', ')}`);
  const share = shareOf(results);
  if (share < leastInAll) throw new Error(`only ${(share * 100).toFixed(1)} % in all became tools`);
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** Measures documents, one after the other, each in a process of its own. */
async function measure(
  waiting: Iterable<readonly [number, Document]>,
  shared: string,
  into: Map<number, Result>,
): Promise<void> {
  for (const [i, { title, path }] of waiting) {
    const own = join(root, String(i));
    mkdirSync(own);
    const row = await measureOne(path, own, shared);
    rmSync(own, { recursive: true });
    into.set(i, { title, row });
    const failed = row.failure === undefined ? '' : `; no project: ${row.failure}`;
    console.log(
      `${title}: ${row.tools} of ${row.typed} with a typed answer, ${row.operations} in all${failed}`,
    );
  }
}

async function measureOne(path: string, own: string, shared: string): Promise<TakenOver> {
  const ran = await execa(process.execPath, [self, path, own, shared], {
    timeout,
    stderr: 'inherit',
    reject: false,
  });
  if (ran.exitCode === 0) return JSON.parse(ran.stdout);
  const failure = ran.timedOut ? `did not end within ${timeout / 1_000} s` : `exited ${ran.exitCode}`;
  const none = { operations: 0, typed: 0, tools: 0, others: 0, refused: [], refusedOthers: [] };
  return { version: '', megabytes: 0, ...none, listMs: 0, slowestMs: 0, failure };
}
