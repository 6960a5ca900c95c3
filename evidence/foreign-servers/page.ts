import { mkdirSync, writeFileSync } from 'node:fs';
import type { Examined } from '../../test/foreign/examine.ts';
import { table, writePlace } from '../../test/page.ts';

/** The findings, which a release has as a file of its own. */
const findings = new URL('../../dist/foreign-servers.md', import.meta.url);

/** Writes the verdicts into docs/evidence/foreign-servers.md, and with what shows them into dist/foreign-servers.md. */
export function writePage(all: readonly Examined[]): void {
  const results = [...overview(all), '', ...failures(all)].join('\n');
  writePlace('foreign-servers.md', 'results', results);
  mkdirSync(new URL('.', findings), { recursive: true });
  const title = '# What shows each failed MUST of third-party servers';
  writeFileSync(findings, [title, '', results, '', ...all.flatMap(shownBy)].join('\n'));
}

/** A folded block for each failed MUST of a server: its first problem, and the command that sends the request again. */
function shownBy({ server, report }: Examined, index: number): readonly string[] {
  const failed = report.rules.filter(({ status, level }) => status === 'fail' && level === 'must');
  return [
    `## ${index + 1}. ${server.name}`,
    '',
    ...failed.flatMap(({ id, problems: [problem] }) => {
      const { tool, path, expected, actual, request } = problem ?? { expected: '', actual: '' };
      const where = [tool, path].filter(Boolean).join(': ');
      const what = `${where === '' ? '' : `${where}: `}expected ${expected}, got ${actual}`;
      const shown =
        request === undefined ? ['No single request shows it.'] : ['~~~sh', visible(request), '~~~'];
      const summary = `<summary><code>${id}</code> ${escaped(what)}</summary>`;
      return ['<details>', summary, '', ...shown, '', '</details>'];
    }),
    '',
  ];
}

/** Directories of this machine. */
const paths = /\/(?:[\w.@+-]+\/)*?(?:node_modules|place-\w+)\/|\/tmp\/market-mcp-test-[^\s"']*/g;

function visible(text: string): string {
  return text.replaceAll(/[^\P{C}\r\n\t]/gu, '·').replaceAll('~~~', '~ ~ ~');
}

function escaped(text: string): string {
  return visible(text.replaceAll(paths, '…/').replaceAll(/\s+/g, ' '))
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function overview(all: readonly Examined[]): readonly string[] {
  const rows = all.map(({ server, packages, report }, index) => {
    const { passed, failed, advice, notRun } = report.summary;
    const { name, answers, hasSessions } = server;
    const sessions = hasSessions ? 'yes' : 'no';
    return [index + 1, name, packages.join(', '), answers, sessions, passed, failed, advice, notRun];
  });
  const head = ['', 'server', 'packages', 'answers in', 'sessions', 'passed', 'failed', 'advised', 'not run'];
  return table([head, ...rows]);
}

/** The rules of level MUST that servers fail, those with the same servers in one row. */
function failures(all: readonly Examined[]): readonly string[] {
  const servers = new Map<string, string[]>();
  for (const [index, { report }] of all.entries()) {
    for (const { id, status, level } of report.rules) {
      if (status === 'fail' && level === 'must')
        servers.set(id, [...(servers.get(id) ?? []), String(index + 1)]);
    }
  }
  const rows = new Map<string, string[]>();
  for (const [id, numbers] of servers) {
    const place = numbers.join(', ');
    rows.set(place, [...(rows.get(place) ?? []), `\`${id}\``]);
  }
  return table([['rules', 'fail at'], ...[...rows].map(([numbers, ids]) => [ids.join(', '), numbers])]);
}
