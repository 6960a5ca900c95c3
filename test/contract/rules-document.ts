import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rules } from '../../packages/contract/src/catalogue.ts';
import type { RuleText } from '../../packages/contract/src/model.ts';
import { sentences as mcpSentences } from '../../packages/contract/src/platforms/mcp.ts';
import type { Rule } from '../../packages/contract/src/rules/rule.ts';
import { staticRules } from '../../packages/contract/src/static-rules.ts';
import { filesOf } from './rule-files.ts';

const contract = readFileSync(join(import.meta.dirname, 'sentences.md'), 'utf8');

/** A sentence of the contract, and the rules that test it or the reason why there are none. */
export interface Sentence {
  readonly says: string;
  /** Ids, with groups expanded. */
  readonly rules: readonly string[];
  readonly reason: string;
}

export const sentences: readonly Sentence[] = [...contract.matchAll(/^\| \d\S* \| (.+) \| (.+) \|$/gm)].map(
  ([, says = '', last = '']) => {
    const named = [...last.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => expanded(name));
    return { says, rules: named, reason: named.length > 0 ? '' : last };
  },
);

/** @param name the id of a rule, or the beginning of ids with a trailing `*` */
function expanded(name: string): readonly string[] {
  if (!name.endsWith('*')) return [name];
  return rules.map(({ id }) => id).filter((id) => id.startsWith(name.slice(0, -1)));
}

/** docs/rules.md: the catalogue, the sentences of the contract that each rule tests, and the files of its code. */
export async function rulesDocument(): Promise<string> {
  return `${[
    '# Rules',
    '',
    'Generated from the catalogue (`packages/contract/src`) by `npx vitest run test/contract/rules-document.test.ts -u`.',
    '',
    `There are ${rules.length} rules: ${staticRules.length} judge the definitions of the tools, the others need a running server. \`market-mcp explain <rule>\``,
    'says why a rule matters, with an example that fails and one that passes.',
    '',
    '- **MUST**: without it, the listing is rejected or the tool breaks. **SHOULD**: the tool works, but worse.',
    '- ***fact***: the rule comes from what the public marketplace is known to check. A platform profile decides its level; under',
    '  `generic` it is advice.',
    '- **source**: C§n is a section of the contract; `app`, `docs` and `sdk` are the public repositories ctxprotocol/context, docs',
    '  and sdk.',
    '- **cases**: a rule merges tests that fail together. `--only`, `--skip`, `explain`, overrides of a profile and baselines take the id',
    '  of a case. A baseline excuses only the cases that it names.',
    '',
    'The [last table](#where-is-the-code-of-a-rule) names the files of each rule: definition, explanation and broken server.',
    '',
    ...groups().flatMap(([group, members]) => [`## ${group}`, '', ...ruleTable(members), '']),
    contract.replace('# ', '## '),
    '## Beyond the contract',
    '',
    'Rules that test no sentence of the contract, but a standard that it builds on, which is the source in their row:',
    '',
    `${beyond()
      .map(({ id }) => `\`${id}\``)
      .join(' ')}.`,
    '',
    '## MUST rules of `--platform mcp`',
    '',
    'Each of these rules tests a sentence of the specification of MCP, of 2025-11-25 if no revision is named. Every other rule is a SHOULD under this',
    'profile, or off. `http.foreign-origin` is a MUST only for a target on loopback.',
    '',
    '| rule | sentence |',
    '| --- | --- |',
    ...Object.entries(mcpSentences).map(([id, sentence]) => `| \`${id}\` | ${cell(sentence)} |`),
    '',
    '## Where is the code of a rule?',
    '',
    'Search this page for the id of the rule.',
    '',
    '| rules | definition | explanation | broken server |',
    '| --- | --- | --- | --- |',
    ...(await fileRows()),
  ].join('\n')}\n`;
}

function groups(): readonly (readonly [string, readonly Rule[]])[] {
  const groupOf = ({ id }: Rule): string => id.slice(0, id.indexOf('.'));
  return [...new Set(rules.map(groupOf))].map((group) => [
    group,
    rules.filter((rule) => groupOf(rule) === group),
  ]);
}

function ruleTable(members: readonly Rule[]): readonly string[] {
  return [
    '| rule | level | a good server | source | fix |',
    '| --- | --- | --- | --- | --- |',
    ...members.map(
      ({ id, level, fact, title, source, fix, cases = [] }) =>
        `| \`${id}\` | ${level.toUpperCase()}${fact ? ' *fact*' : ''} | ${cell(title)}${caseList(cases)} | ${cell(source)} | ${cell(fix)} |`,
    ),
  ];
}

/** The ids of the cases of a merged rule, which are names that `--only` and `--skip` take. */
function caseList(cases: readonly RuleText[]): string {
  return cases.length === 0 ? '' : `; cases: ${cases.map(({ id }) => `\`${id}\``).join(' ')}`;
}

/** One row for the rules that share all three files, in the order of the catalogue. */
async function fileRows(): Promise<readonly string[]> {
  const rows = new Map<string, string[]>();
  for (const [id, { rule, explanation, broken }] of await filesOf(rules)) {
    const files = [rule, explanation, broken].map((path) => `[${path}](../${path})`).join(' | ');
    rows.set(files, [...(rows.get(files) ?? []), `\`${id}\``]);
  }
  return [...rows].map(([files, members]) => `| ${members.join(' ')} | ${files} |`);
}

/** The rules that no sentence of the contract names. */
function beyond(): readonly Rule[] {
  const tested = new Set(sentences.flatMap((sentence) => sentence.rules));
  return rules.filter(({ id }) => !tested.has(id));
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');
}
