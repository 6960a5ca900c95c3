import { rules, staticRules } from '../../src/contract/index.ts';
import type { Rule } from '../../src/contract/rule.ts';
import { type Sentence, sentences } from './sentences/index.ts';

/** The ids of the rules that test a sentence, groups spelled out. */
export function rulesOf({ rules: named = [] }: Sentence): readonly string[] {
  return named.flatMap((name) =>
    name.endsWith('*') ? rules.map(({ id }) => id).filter((id) => id.startsWith(name.slice(0, -1))) : [name],
  );
}

/** docs/rules.md: the catalogue, and which sentence of the contract each rule tests. */
export function rulesDocument(): string {
  return `${[
    '# Rules',
    '',
    'Generated from the catalogue (`src/contract`) by `npx vitest run test/contract/rules-document.test.ts -u`.',
    '',
    `${rules.length} rules: ${staticRules.length} are read off the definitions, the others take a running server. MUST: the`,
    'listing is rejected or the tool breaks without it. SHOULD: it works, but worse. A rule marked *fact* comes from what the',
    'public marketplace is known to check; a platform profile decides its weight (under `generic` it is advice). C§n is a',
    'section of the contract; `app`, `docs` and `sdk` are the public repositories ctxprotocol/context, docs and sdk. Each rule',
    'is proven by a broken server in `test/broken/`.',
    '',
    ...groups().flatMap(([group, members]) => [`## ${group}`, '', ...ruleTable(members), '']),
    '## The contract, sentence by sentence',
    '',
    '| C§ | says | rules |',
    '| --- | --- | --- |',
    ...sentences.map(
      (sentence) =>
        `| ${sentence.section} | ${cell(sentence.says)} | ${sentence.untested ?? ids(sentence)} |`,
    ),
    '',
    '## Beyond the contract',
    '',
    'Rules that test no sentence of the contract, but a standard that it builds on:',
    '',
    ...beyond().map(({ id, source }) => `- \`${id}\`: ${source}`),
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
      ({ id, level, fact, title, source, fix }) =>
        `| \`${id}\` | ${level.toUpperCase()}${fact ? ' *fact*' : ''} | ${cell(title)} | ${cell(source)} | ${cell(fix)} |`,
    ),
  ];
}

/** The rules that no sentence of the contract names. */
function beyond(): readonly Rule[] {
  const tested = new Set(sentences.flatMap(rulesOf));
  return rules.filter(({ id }) => !tested.has(id));
}

function ids({ rules: named = [] }: Sentence): string {
  return named.map((name) => `\`${name}\``).join(' ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');
}
