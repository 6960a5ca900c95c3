import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { documents, fetchDocuments } from './documents.ts';
import { shareOf, writePage } from './page.ts';
import { installModules } from './project.ts';
import { type TakenOver, takeOver } from './take-over.ts';

/** A document that takes longer counts as a hang. */
const timeout = 1_800_000;

const [, self = '', path, place, modules] = process.argv;
if (path !== undefined && place !== undefined && modules !== undefined) {
  // Imports one document in a separate process.
  console.log(JSON.stringify(await takeOver(path, place, modules)));
  process.exit(0);
}

const root = mkdtempSync(join(tmpdir(), 'market-mcp-openapi-'));
try {
  const paths = await fetchDocuments();
  const shared = await installModules(root);
  const rows: (readonly [string, TakenOver])[] = [];
  for (const document of documents) {
    const own = join(root, String(rows.length));
    mkdirSync(own);
    const args = [self, paths.get(document) ?? '', own, shared];
    const { stdout } = await execa(process.execPath, args, { timeout, stderr: 'inherit' });
    const row: TakenOver = JSON.parse(stdout);
    rows.push([document.title, row]);
    rmSync(own, { recursive: true });
    console.log(
      `${document.title}: ${row.tools} of ${row.typed} with a typed answer, ${row.operations} in all`,
    );
  }
  writePage(rows);
  const share = shareOf(rows);
  if (share < 0.95) throw new Error(`only ${(share * 100).toFixed(1)} % became tools`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
