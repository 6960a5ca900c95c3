import { describe, expect, it } from 'vitest';
import { planToolsIndex, toolsIndexContext } from '../../src/plan/plan-tools-index.ts';
import fc from '../fast-check.ts';

const identifierOf = (file: string) => toolsIndexContext([file]).tools[0]?.identifier;

describe('the list of tools', () => {
  it('keeps the order of the files', () => {
    const { tools } = planToolsIndex(['b', 'a-c', 'a']).context as ReturnType<typeof toolsIndexContext>;
    expect(tools.map(({ module }) => module)).toEqual(['./b.ts', './a-c.ts', './a.ts']);
  });

  it.each([
    ['get-gas-price', 'getGasPrice'],
    ['class', 'toolClass'],
    ['default', 'toolDefault'],
    ['tools', 'toolTools'],
    ['a--b--', 'aB'],
    ['2nd', 'tool2nd'],
    ['größe', 'grE'],
    ['ü', 'tool'],
  ])('imports %s as %s', (file, identifier) => {
    expect(identifierOf(file)).toBe(identifier);
  });

  it('gives each import a unique identifier', () => {
    const files = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'B', '-', '_', '1'), minLength: 1 }));
    fc.assert(
      fc.property(files, (names) => {
        const identifiers = toolsIndexContext(names).tools.map(({ identifier }) => identifier);
        expect(new Set(identifiers).size).toBe(names.length);
        for (const identifier of identifiers) expect(identifier).toMatch(/^[A-Za-z][A-Za-z0-9]*$/);
      }),
    );
  });
});
