import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../packages/contract/src/json/value.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { everything, lenient } from './report.ts';

const text = readFileSync(new URL('../../docs/check.md', import.meta.url), 'utf8');

/** The names of all members of a value, except those that a target chooses. */
function memberNames(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(memberNames);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    name,
    ...(name === 'arguments' ? [] : memberNames(member)),
  ]);
}

describe('docs/check.md', () => {
  it('describes every option', () => {
    const check = buildProgram('market-mcp', async () => {}).commands.find((one) => one.name() === 'check');
    const flags = check?.options.map(({ long }) => long ?? '') ?? [];
    expect(flags.length).toBeGreaterThan(10);
    expect(flags.filter((flag) => !text.includes(`\`${flag}`))).toEqual([]);
  });

  it('describes every field of the JSON form', () => {
    const baseline = { file: 'known.json', known: [{ rule: 'gate.no-token' }, { rule: 'tool.name' }] };
    const report = JSON.parse(JSON.stringify(everything(lenient, baseline)));
    const names = new Set(memberNames(report));
    const form = text.slice(text.indexOf('## The JSON form'));
    expect([...names].filter((name) => !new RegExp(`[\`.]${name}[\`\\[.]`).test(form))).toEqual([]);
  });
});
