import { readFileSync, writeFileSync } from 'node:fs';
import type { TakenOver } from './take-over.ts';

/** The results of one server. */
export interface Row {
  readonly version: string;
  readonly result?: TakenOver;
  /** Why it listed no tools. */
  readonly notListed?: string;
}

const page = new URL('../../docs/evidence/real-tools.md', import.meta.url);
const place = /(?<=<!-- results -->\n).*?(?=<!-- end of results -->)/s;

/** Writes the results into docs/evidence/real-tools.md. */
export function writePage(rows: readonly (readonly [string, Row | undefined])[]): void {
  const text = readFileSync(page, 'utf8');
  if (!place.test(text)) throw new Error('docs/evidence/real-tools.md has no place for results');
  const results = ['', ...overview(rows), '', ...refusals(rows), '', ...changes(rows), ''].join('\n');
  writeFileSync(
    page,
    text.replace(place, () => results),
  );
}

type Rows = readonly (readonly [string, Row | undefined])[];

function overview(rows: Rows): readonly string[] {
  const head = [
    'server',
    'tools',
    'without output',
    'imported',
    'refused',
    'compiles',
    'self-check (MUST)',
    'its tests',
    'changes told',
    'silent differences',
  ];
  const cells = rows.map(([name, row]) => {
    const server = `${name} ${row?.version ?? ''}`.trim();
    const { result, notListed = 'no result' } = row ?? {};
    if (result === undefined) return [server, plain(notListed), ...Array(8).fill('–')];
    const { tools, completed, taken, refused, passed, failed, unitTests, silent, orderKept } = result;
    const names = new Set(refused.map(({ tool }) => tool));
    const check =
      taken === 0
        ? '–'
        : `${passed} passed, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(', ')}` : ''}`;
    const differing = [...silent, ...(orderKept ? [] : ['order'])];
    return [
      server,
      tools,
      completed,
      taken,
      names.size,
      taken === 0 ? '–' : 'yes',
      check,
      taken === 0 ? '–' : unitTests ? 'pass' : 'fail',
      result.changes.length,
      differing.length === 0 ? 'none' : differing.join(', '),
    ];
  });
  const all = rows.flatMap(([, row]) => (row?.result ? [row.result] : []));
  const sum = (of: (result: TakenOver) => number) => all.reduce((total, result) => total + of(result), 0);
  const total = [
    `${all.length} servers`,
    sum(({ tools }) => tools),
    sum(({ completed }) => completed),
    sum(({ taken }) => taken),
    sum(({ refused }) => new Set(refused.map(({ tool }) => tool)).size),
    '',
    '',
    '',
    sum((result) => result.changes.length),
    sum(({ silent }) => silent.length),
  ];
  return table([head, ...cells, total]);
}

function refusals(rows: Rows): readonly string[] {
  const refused = rows.flatMap(([name, row]) =>
    (row?.result?.refused ?? []).map(({ where, message, hint }) => [
      name,
      `\`${where}\``,
      `${plain(message)}. ${plain(hint)}`,
    ]),
  );
  if (refused.length === 0) return ['## What was refused', '', 'Nothing.'];
  return ['## What was refused', '', ...table([['server', 'place', 'reason and way on'], ...refused])];
}

/** Changes by their reason: how many, and one of them. */
function changes(rows: Rows): readonly string[] {
  const all = rows
    .flatMap(([, row]) => row?.result?.changes ?? [])
    .filter(({ what }) => what !== 'was left out');
  const reasons = [...new Set(all.map(({ why }) => why))];
  const lines = reasons
    .map((why) => [why, all.filter((change) => change.why === why)] as const)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([why, made]) => [
      plain(why),
      made.length,
      `\`${made[0]?.tool} ${made[0]?.path}\`: ${plain(made[0]?.what ?? '')}`,
    ]);
  return ['## What was changed, by reason', '', ...table([['reason', 'changes', 'for example'], ...lines])];
}

/** One line, without characters that end a table cell. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').slice(0, 300);
}

function table([head = [], ...rows]: readonly (readonly (string | number)[])[]): readonly string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}
