import { readFileSync, writeFileSync } from 'node:fs';
import type { CheckedRule } from '../../src/check/model.ts';
import type { Examined } from './examine.ts';

const page = new URL('../../docs/foreign-servers.md', import.meta.url);
const place = /(?<=<!-- results -->\n).*?(?=<!-- end of results -->)/s;

/** Writes the findings into docs/foreign-servers.md. */
export function writePage(all: readonly Examined[]): void {
  const text = readFileSync(page, 'utf8');
  if (!place.test(text)) throw new Error('docs/foreign-servers.md has no place for results');
  const results = ['', ...overview(all), '', ...matrix(all), '', ''].join('\n');
  writeFileSync(
    page,
    text.replace(place, () => results),
  );
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

/** A row for each rule that a server fails, a column for each server. */
function matrix(all: readonly Examined[]): readonly string[] {
  const verdicts = all.map(({ report }) => new Map(report.rules.map((rule) => [rule.id, rule])));
  const ids = [...new Set(verdicts.flatMap((rules) => [...rules.keys()]))];
  const failing = ids.filter((id) => verdicts.some((rules) => rules.get(id)?.status === 'fail'));
  const rows = failing.map((id) => [`\`${id}\``, ...verdicts.map((rules) => sign(rules.get(id)))]);
  return table([['rule', ...all.map((_, index) => String(index + 1))], ...rows]);
}

function sign(rule: CheckedRule | undefined): string {
  if (rule?.status === 'fail') return rule.level === 'must' ? '✗' : '!';
  return rule?.status === 'pass' ? '✓' : '–';
}

function table([head = [], ...rows]: readonly (readonly (string | number)[])[]): readonly string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}
