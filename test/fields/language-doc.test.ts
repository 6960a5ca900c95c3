import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseFields } from '../../src/fields/language.ts';
import type { Field } from '../../src/model/tool-model.ts';

const text = readFileSync(new URL('../../docs/field-language.md', import.meta.url), 'utf8');

describe('docs/field-language.md', () => {
  it.each([...text.matchAll(/^--(?:in|out)put +'(.*)'$/gm)].map(([, field = '']) => field))('%s', (field) => {
    expect(parseFields([field], '--input')).toMatchObject({ ok: true });
  });

  it('shows valid fields', () => {
    const block = /## Values[\s\S]*?```\n([\s\S]*?)```/.exec(text)?.[1]?.trim().split('\n') ?? [];
    expect(block).toHaveLength(4);
    expect(parseFields(block, '--input')).toMatchObject({ ok: true });
  });

  it('shows valid options and types', () => {
    const options = /## Types[\s\S]*?## Values/.exec(text)?.[0] ?? '';
    const types = [...options.matchAll(/`((?:string|number|integer|boolean|object)[^`]*)`/g)].map(
      ([, type = '']) => type.replaceAll('\\|', '|'),
    );
    expect(types.length).toBeGreaterThan(12);
    for (const type of types) expect(parseFields([`a:${type}`], '--input')).toMatchObject({ ok: true });
  });

  it('describes a spec file', () => {
    const rows = [...text.matchAll(/^\| `([^`]+)` +\| `(\{.*\})` +\|$/gm)];
    expect(rows).toHaveLength(3);
    for (const [, field = '', spec = ''] of rows) {
      expect(parseFields([field.replaceAll('\\|', '|')], '--input')).toEqual({
        ok: true,
        value: [JSON.parse(spec) as Field],
      });
    }
  });
});
