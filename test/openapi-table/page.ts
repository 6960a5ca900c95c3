import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from './results.ts';
import type { Refused, TakenOver } from './take-over.ts';

const page = 'docs/evidence/openapi.md';
const place = /(?<=<!-- results -->\n).*?(?=<!-- end of results -->)/s;

/** The share of operations with a typed answer that became tools. */
export function shareOf(results: readonly Result[]): number {
  return sum(results, ({ tools }) => tools) / sum(results, ({ typed }) => typed);
}

/**
 * Writes the results into docs/evidence/openapi.md.
 *
 * @param titles of all documents
 */
export function writePage(results: readonly Result[], titles: readonly string[]): void {
  const text = readFileSync(page, 'utf8');
  if (!place.test(text)) throw new Error('docs/evidence/openapi.md has no place for results');
  const parts = [
    ...conditions(results, titles),
    '',
    ...overview(results),
    '',
    ...failures(results),
    '## What was refused',
    '',
    'Operations with a typed answer:',
    '',
    ...reasons(results, ({ refused }) => refused),
    '',
    'Operations without one:',
    '',
    ...reasons(results, ({ refusedOthers }) => refusedOthers),
  ];
  writeFileSync(
    page,
    text.replace(place, () => `\n${parts.join('\n')}\n\n`),
  );
}

/** When and where the rows were measured. Rows of earlier runs stay, and are named. */
function conditions(results: readonly Result[], titles: readonly string[]): readonly string[] {
  const runs = new Map<string, readonly Result[]>();
  for (const one of results) {
    const run = `on ${one.day} with create-market-mcp ${one.version} and Node ${one.node} on ${one.cores} cores`;
    runs.set(run, [...(runs.get(run) ?? []), one]);
  }
  const lines = [...runs].map(([run, rows]) => {
    const loads = rows.map(({ load }) => load);
    const which = runs.size === 1 ? '' : ` (${rows.map(({ title }) => title).join(', ')})`;
    const least = Math.min(...loads);
    return `Measured ${run}${which}; load average ${least} to ${Math.max(...loads)}: the times are those of a machine that did other work if it is above 1.`;
  });
  const missing = titles.filter((title) => !results.some((one) => one.title === title));
  return missing.length === 0 ? lines : [...lines, `Not measured yet: ${missing.join(', ')}.`];
}

function overview(results: readonly Result[]): readonly string[] {
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
  const cells = results.map(({ title, row: one }) => [
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
    `**${results.length} documents**`,
    '',
    '',
    sum(results, ({ operations }) => operations),
    sum(results, ({ typed }) => typed),
    sum(results, ({ tools }) => tools),
    percent(shareOf(results)),
    sum(results, ({ others }) => others),
    '',
    '',
  ];
  return table([head, ...cells, total]);
}

/** Documents that gave no project. */
function failures(results: readonly Result[]): readonly string[] {
  const failed = results.filter(({ row }) => row.failure !== undefined);
  if (failed.length === 0) return [];
  const lines = failed.map(({ title, row }) => [title, plain(row.failure ?? '')]);
  return ['## Documents without a project', '', ...table([['document', 'reason'], ...lines]), ''];
}

function reasons(results: readonly Result[], of: (row: TakenOver) => readonly Refused[]): readonly string[] {
  const all = new Map<string, { count: number; example: string }>();
  for (const { title, row } of results) {
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

function sum(results: readonly Result[], of: (row: TakenOver) => number): number {
  return results.reduce((total, { row }) => total + of(row), 0);
}

/** Rounded down: 100 % means all. */
function percent(share: number): string {
  if (Number.isNaN(share)) return '–';
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

/** One line, without characters that end a table cell. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').slice(0, 300);
}

function table([head = [], ...rows]: readonly (readonly (string | number)[])[]): readonly string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}
