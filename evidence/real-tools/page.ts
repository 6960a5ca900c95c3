import { plain, table, writePlace } from '../../test/page.ts';
import type { TakenOver } from './take-over.ts';

/** The results of one server. */
export interface Row {
  readonly version: string;
  readonly result?: TakenOver;
  /** Why it listed no tools. */
  readonly notListed?: string;
}

/** Writes the results into docs/evidence/real-tools.md. */
export function writePage(rows: readonly (readonly [string, Row | undefined])[]): void {
  const results = [...overview(rows), '', ...refusals(rows), '', ...changes(rows)];
  writePlace('real-tools.md', 'results', results.join('\n'));
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
  const nameOf = (name: string, row: Row | undefined) => `${name} ${row?.version ?? ''}`.trim();
  const isGood = (row: Row | undefined) =>
    row?.result?.refused.length === 0 &&
    row.result.failed.length + row.result.silent.length === 0 &&
    row.result.unitTests &&
    row.result.orderKept;
  const good = rows.filter(([, row]) => isGood(row)).map(([name, row]) => nameOf(name, row));
  const others = rows.filter(([, row]) => !isGood(row));
  const cells = others.map(([name, row]) => {
    const server = nameOf(name, row);
    const { result, notListed = 'no result' } = row ?? {};
    if (result === undefined) return [server, plain(notListed), ...Array(8).fill('–')];
    const { tools, completed, taken, refused, passed, failed, unitTests, silent, orderKept } = result;
    const names = new Set(refused.map(({ tool }) => tool));
    const check =
      taken === 0
        ? '–'
        : `${passed} passed, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(', ')}` : ''}`;
    const testResult = unitTests ? 'pass' : 'fail';
    const differing = [...silent, ...(orderKept ? [] : ['order'])];
    return [
      server,
      tools,
      completed,
      taken,
      names.size,
      taken === 0 ? '–' : 'yes',
      check,
      taken === 0 ? '–' : testResult,
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
  return [
    `ImportedTool as a whole, compiled, passed by self-check and tests, without a silent difference: ${good.join(', ')}.`,
    '',
    ...table([head, ...cells, total]),
  ];
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
    .filter(({ what }) => what !== 'is not imported');
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
