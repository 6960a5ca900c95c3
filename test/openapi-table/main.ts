import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { documents, fetchDocuments } from './documents.ts';
import { shareOf, writePage } from './page.ts';
import { installModules } from './project.ts';
import { readResults, withResult, writeResults } from './results.ts';
import { type TakenOver, takeOver } from './take-over.ts';

/** A document that takes longer counts as a hang. */
const timeout = 1_800_000;

const [, self = '', ...args] = process.argv;
const { values, positionals } = parseArgs({
  args,
  options: { only: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});
const [path, place, modules] = positionals;
if (path !== undefined && place !== undefined && modules !== undefined) {
  // Imports one document in a separate process.
  console.log(JSON.stringify(await takeOver(path, place, modules)));
  process.exit(0);
}

const unknown = values.only.filter((title) => !documents.some((one) => one.title === title));
if (unknown.length > 0 || positionals.length > 0) {
  const names = documents.map(({ title }) => title).join(', ');
  console.error(`--only ${unknown.concat(positionals).join(', ')}: no such document. Choose from: ${names}.`);
  process.exit(2);
}

const chosen = documents.filter(({ title }) => values.only.length === 0 || values.only.includes(title));
const root = mkdtempSync(join(tmpdir(), 'market-mcp-openapi-'));
try {
  const paths = await fetchDocuments();
  const shared = await installModules(root);
  for (const [i, document] of chosen.entries()) {
    const own = join(root, String(i));
    mkdirSync(own);
    const { stdout } = await execa(process.execPath, [self, paths.get(document) ?? '', own, shared], {
      timeout,
      stderr: 'inherit',
    });
    const row: TakenOver = JSON.parse(stdout);
    rmSync(own, { recursive: true });
    // A run that is ended keeps what it has measured.
    writeResults(withResult(readResults(), document.title, row));
    console.log(
      `${document.title}: ${row.tools} of ${row.typed} with a typed answer, ${row.operations} in all`,
    );
  }
  const results = readResults();
  writePage(results);
  const share = shareOf(results);
  if (share < 0.95) throw new Error(`only ${(share * 100).toFixed(1)} % became tools`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
