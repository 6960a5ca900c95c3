import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Refused, TakenOver } from './take-over.ts';

const page = 'docs/openapi.md';
const place = /(?<=<!-- results -->\n).*?(?=<!-- end of results -->)/s;

export type Rows = readonly (readonly [string, TakenOver])[];

/** The share of operations with a typed answer that became tools. */
export function shareOf(rows: Rows): number {
  return sum(rows, ({ tools }) => tools) / sum(rows, ({ typed }) => typed);
}

/** Writes the results into docs/openapi.md. */
export function writePage(rows: Rows): void {
  const text = readFileSync(page, 'utf8');
  if (!place.test(text)) throw new Error('docs/openapi.md has no place for results');
  const day = new Date().toISOString().slice(0, 10);
  const where = `Measured on ${day} with Node ${process.versions.node} on ${cpus().length} cores.`;
  const parts = [
    where,
    '',
    ...overview(rows),
    '',
    '## What was refused',
    '',
    'Operations with a typed answer:',
    '',
    ...reasons(rows, ({ refused }) => refused),
    '',
    'Operations without one:',
    '',
    ...reasons(rows, ({ refusedOthers }) => refusedOthers),
  ];
  writeFileSync(
    page,
    text.replace(place, () => `\n${parts.join('\n')}\n\n`),
  );
}

function overview(rows: Rows): readonly string[] {
  const head = [
    'document',
    'OpenAPI',
    'MB',
    'operations',
    'with a typed answer',
    'of these, tools',
    'share',
    'further tools',
    'listing, s',
    'slowest operation, s',
  ];
  const cells = rows.map(([title, one]) => [
    title,
    one.version,
    one.megabytes.toFixed(1),
    one.operations,
    one.typed,
    one.tools,
    percent(one.tools / one.typed),
    one.others,
    (one.listMs / 1000).toFixed(2),
    (one.slowestMs / 1000).toFixed(2),
  ]);
  const total = [
    `**${rows.length} documents**`,
    '',
    '',
    sum(rows, ({ operations }) => operations),
    sum(rows, ({ typed }) => typed),
    sum(rows, ({ tools }) => tools),
    percent(shareOf(rows)),
    sum(rows, ({ others }) => others),
    '',
    '',
  ];
  return table([head, ...cells, total]);
}

function reasons(rows: Rows, of: (row: TakenOver) => readonly Refused[]): readonly string[] {
  const all = new Map<string, { count: number; example: string }>();
  for (const [title, row] of rows) {
    for (const { reason, count, example } of of(row)) {
      const before = all.get(reason);
      all.set(reason, {
        count: (before?.count ?? 0) + count,
        example: before?.example ?? `${title}: \`${example}\``,
      });
    }
  }
  if (all.size === 0) return ['None.'];
  const lines = [...all]
    .toSorted(([, a], [, b]) => b.count - a.count)
    .map(([reason, { count, example }]) => [plain(reason), count, plain(example)]);
  return table([['reason', 'operations', 'for example'], ...lines]);
}

function sum(rows: Rows, of: (row: TakenOver) => number): number {
  return rows.reduce((total, [, row]) => total + of(row), 0);
}

/** Rounded down: 100 % means all. */
function percent(share: number): string {
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

/** One line, without characters that end a table cell. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').slice(0, 300);
}

function table([head = [], ...rows]: readonly (readonly (string | number)[])[]): readonly string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}
