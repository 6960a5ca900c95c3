import { loadavg } from 'node:os';
import program from '../../package.json' with { type: 'json' };
import { measured, plain, table, writePlace } from '../../test/page.ts';
import type { Refused, TakenOver } from './take-over.ts';

/** What was measured of one document. */
export interface Result {
  readonly title: string;
  readonly row: TakenOver;
}

/** The share of operations with a typed answer that became tools. */
export function shareOf(results: readonly Result[]): number {
  return sum(results, ({ tools }) => tools) / sum(results, ({ typed }) => typed);
}

/** Writes the results of all documents into docs/evidence/openapi.md. */
export function writePage(results: readonly Result[]): void {
  const parts = [
    conditions(),
    '',
    ...overview(results, ({ tools, typed }) => tools < typed),
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
  writePlace('openapi.md', 'results', parts.join('\n'));
}

function conditions(): string {
  const load = (loadavg()[2] ?? 0).toFixed(1);
  return `${measured()}, create-market-mcp ${program.version}; load average ${load}: the times are those of a machine that did other work if it is above 1.`;
}

/**
 * The results as lines of a table, with their sum.
 *
 * @param isShown which documents have a row
 */
export function overview(
  results: readonly Result[],
  isShown: (row: TakenOver) => boolean,
): readonly string[] {
  const all = `**${results.length} documents**`;
  const columns: readonly (readonly [string, (one: Result) => string | number, string | number])[] = [
    ['document', ({ title }) => title, all],
    ['OpenAPI', ({ row }) => row.version, ''],
    ['MB', ({ row }) => row.megabytes.toFixed(1), ''],
    ['operations', ({ row }) => row.operations, sum(results, ({ operations }) => operations)],
    ['with a typed answer', ({ row }) => row.typed, sum(results, ({ typed }) => typed)],
    ['of these, tools', ({ row }) => row.tools, sum(results, ({ tools }) => tools)],
    ['share', ({ row }) => percent(row.tools / row.typed), percent(shareOf(results))],
    ['further tools', ({ row }) => row.others, sum(results, ({ others }) => others)],
    ['listing, s', ({ row }) => (row.listMs / 1000).toFixed(2), ''],
    ['slowest operation, s', ({ row }) => (row.slowestMs / 1000).toFixed(2), ''],
  ];
  const shown = results.filter(({ row }) => isShown(row));
  const cells = shown.map((one) => columns.map(([, of]) => of(one)));
  return table([columns.map(([head]) => head), ...cells, columns.map(([, , total]) => total)]);
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
