import { describe, expect, it } from 'vitest';
import { mergePackage } from '../../../src/changes/upgrade/merge-package.ts';

const base = {
  name: 'gas',
  version: '1.0.0',
  scripts: { build: 'tsc', dev: 'old dev', token: 'old token' },
  dependencies: { ajv: '8.20.0' },
  devDependencies: { typebox: '1.4.3', typescript: '7.0.2' },
};
const theirs = {
  name: 'gas',
  version: '1.0.0',
  scripts: { build: 'tsc', call: 'new call', dev: 'new dev', token: 'new token' },
  dependencies: { ajv: '8.21.0', jose: '6.2.17' },
  devDependencies: { typescript: '7.0.3' },
};

function merged(
  ours: object,
  used: readonly string[] = [],
  print = (value: object) => `${JSON.stringify(value, null, 2)}\n`,
) {
  const sides = mergePackage(print(base), print(ours), print(theirs), new Set(used));
  return { ...sides, value: sides.ours === sides.theirs ? JSON.parse(sides.ours) : null };
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

  it('gives both values of a script that both sides changed', () => {
    const { ours, theirs, value } = merged({ ...base, scripts: { ...base.scripts, dev: 'my dev' } });
    expect(value).toBe(null);
    expect(JSON.parse(ours).scripts.dev).toBe('my dev');
    expect(ours.replace('my dev', 'new dev')).toBe(theirs);
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
    expect(merged(base, [], print).ours).toMatch(/^\{\n\t"name"/);
    const inline = '{"name": "gas",   "scripts": {}}';
    const same = mergePackage('{"scripts": {"a": "1"}}', inline, '{"scripts": {"a": "1"}}');
    expect(same).toEqual({ ours: inline, theirs: inline });
  });

  it.each(['{"name":', '[]'])('%s is refused', (ours) => {
    const merge = () => mergePackage('{}', ours, '{}');
    expect(merge).toThrow(SyntaxError);
  });
});
