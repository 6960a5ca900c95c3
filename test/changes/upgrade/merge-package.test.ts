import { describe, expect, it } from 'vitest';
import { hasMarkers } from '../../../src/changes/upgrade/merge-lines.ts';
import { mergePackage } from '../../../src/changes/upgrade/merge-package.ts';

const base = {
  name: 'gas',
  version: '0.1.0',
  scripts: { build: 'tsc', dev: 'old dev', token: 'old token' },
  dependencies: { ajv: '8.20.0' },
  devDependencies: { typebox: '1.4.3', typescript: '7.0.2' },
};
const theirs = {
  name: 'gas',
  version: '0.1.0',
  scripts: { build: 'tsc', call: 'new call', dev: 'new dev', token: 'new token' },
  dependencies: { ajv: '8.21.0', jose: '6.2.17' },
  devDependencies: { typescript: '7.0.3' },
};

function merged(
  ours: object,
  used: readonly string[] = [],
  print = (value: object) => `${JSON.stringify(value, null, 2)}\n`,
) {
  const { text, conflicts } = mergePackage(print(base), print(ours), print(theirs), {
    label: 'create-market-mcp 9.9.9',
    used: new Set(used),
  });
  return { text, conflicts, value: conflicts.length === 0 ? JSON.parse(text) : null };
}

describe('merging package.json', () => {
  it('updates what the author has not changed, and keeps the rest', () => {
    const ours = {
      version: '3.0.0',
      name: 'gas-prices',
      scripts: { ...base.scripts, lint: 'biome check', constructor: 'x' },
      dependencies: { ...base.dependencies, 'left-pad': '1.3.0' },
      devDependencies: base.devDependencies,
      files: ['a'],
    };
    const { value } = merged(ours);
    expect(value).toEqual({
      version: '3.0.0',
      name: 'gas-prices',
      scripts: { ...theirs.scripts, lint: 'biome check', constructor: 'x' },
      dependencies: { ...theirs.dependencies, 'left-pad': '1.3.0' },
      devDependencies: theirs.devDependencies,
      files: ['a'],
    });
    expect(Object.keys(value)).toEqual(Object.keys(ours));
    expect(Object.keys(value.scripts)).toEqual(['build', 'call', 'dev', 'token', 'lint', 'constructor']);
  });

  it('marks a script that both sides changed', () => {
    const { text, conflicts } = merged({ ...base, scripts: { ...base.scripts, dev: 'my dev' } });
    expect(conflicts).toHaveLength(1);
    expect(hasMarkers(text)).toBe(true);
    expect(text).toContain('<<<<<<< yours\n    "dev": "my dev",\n=======\n    "dev": "new dev",\n>>>>>>>');
  });

  it('does not restore a deleted script', () => {
    const { token: _, ...scripts } = base.scripts;
    expect(merged({ ...base, scripts }).value.scripts).not.toHaveProperty('token');
  });

  it('restores a deleted package that this version needs in another version', () => {
    expect(merged({ ...base, dependencies: {} }).value.dependencies).toEqual(theirs.dependencies);
  });

  it.each([
    ['7.0.1', '7.0.3'],
    ['7.10.0', '7.10.0'],
  ])('takes the newer of two exact versions: %s', (own, result) => {
    const ours = { ...base, devDependencies: { ...base.devDependencies, typescript: own } };
    expect(merged(ours).value.devDependencies.typescript).toBe(result);
  });

  it('keeps a package that the author imports', () => {
    expect(merged(base, ['typebox']).value.devDependencies.typebox).toBe('1.4.3');
    expect(merged(base).value.devDependencies).not.toHaveProperty('typebox');
  });

  it('keeps the indentation, and every byte if nothing changes', () => {
    const print = (value: object) => JSON.stringify(value, null, '\t');
    expect(merged(base, [], print).text).toMatch(/^\{\n\t"name"/);
    const inline = '{"name": "gas",   "scripts": {}}';
    const same = mergePackage('{"scripts": {"a": "1"}}', inline, '{"scripts": {"a": "1"}}', {
      label: 'x',
      used: new Set(),
    });
    expect(same).toEqual({ text: inline, conflicts: [] });
  });

  it.each(['{"name":', '[]'])('%s is refused', (ours) => {
    const merge = () => mergePackage('{}', ours, '{}', { label: 'x', used: new Set() });
    expect(merge).toThrow(SyntaxError);
  });
});
