import { mkdirSync, writeFileSync } from 'node:fs';
import { table, writePlace } from '../page.ts';
import type { Examined } from './examine.ts';
import type { Exchange } from './exchanges.ts';

/** The findings with their exchanges, which a release has as a file of its own. */
const findings = new URL('../../dist/foreign-servers.md', import.meta.url);

/** Writes the verdicts into docs/evidence/foreign-servers.md, and with what shows them into dist/foreign-servers.md. */
export function writePage(all: readonly Examined[]): void {
  const results = [...overview(all), '', ...failures(all)].join('\n');
  writePlace('foreign-servers.md', 'results', results);
  mkdirSync(new URL('.', findings), { recursive: true });
  const shown = [
    '# What shows each failed MUST of third-party servers',
    '',
    results,
    '',
    ...all.flatMap(exchanges),
  ];
  writeFileSync(findings, shown.join('\n'));
}

/** The most characters of a head and of a body that are shown. */
const maxShown = { head: 500, body: 400 } as const;

/** A folded block for each failed MUST of a server. */
function exchanges({ server, shown }: Examined, index: number): readonly string[] {
  return [
    `## ${index + 1}. ${server.name}`,
    '',
    ...shown.flatMap(({ rule, problem, exchange }) => {
      const { tool, path, expected, actual } = problem;
      const where = [tool, path].filter(Boolean).join(': ');
      const what = `${where === '' ? '' : `${where}: `}expected ${expected}, got ${actual}`;
      return [
        '<details>',
        `<summary><code>${rule}</code> ${escaped(cut(what, maxShown.body))}</summary>`,
        '',
        ...(exchange ? block(exchange, tool) : ['No single exchange shows it.']),
        '',
        '</details>',
      ];
    }),
    '',
  ];
}

function block({ request, answer }: Exchange, tool: string | undefined): readonly string[] {
  const lines = [...message(request), '', ...(answer === '' ? ['(no answer)'] : message(answer, tool))];
  return ['~~~http', ...lines, '~~~'];
}

/** Head and body, cut; a list of tools from the tool that is meant. */
function message(text: string, tool?: string): readonly string[] {
  const [head = '', ...rest] = text.replaceAll(paths, '…/').split('\r\n\r\n');
  const body = rest.join('\r\n\r\n').trimEnd();
  const at = tool === undefined ? -1 : body.indexOf(`"name":${JSON.stringify(tool)}`);
  const start = at > maxShown.body / 2 ? `… ${body.slice(at - 1)}` : body;
  return [cut(head, maxShown.head), ...(body === '' ? [] : ['', cut(start, maxShown.body)])].flatMap((part) =>
    visible(part).split(/\r?\n/),
  );
}

/** Directories of this machine. */
const paths = /\/(?:[\w.@+-]+\/)*?(?:node_modules|place-\w+)\/|\/tmp\/market-mcp-test-[^\s"']*/g;

function visible(text: string): string {
  return text.replaceAll(/[^\P{C}\r\n\t]/gu, '·').replaceAll('~~~', '~ ~ ~');
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)} … (${text.length - most} more characters)`;
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
