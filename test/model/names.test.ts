import { describe, expect, it } from 'vitest';
import {
  freeToolName,
  parseDirectory,
  parseFieldName,
  parseProjectName,
  parseToolName,
  suggestProjectName,
  suggestToolName,
  toolFile,
} from '../../src/model/names.ts';
import fc from '../fast-check.ts';

const hintOf = (result: ReturnType<typeof parseToolName>) =>
  result.ok ? 'accepted' : result.errors[0]?.hint;

describe('a tool name', () => {
  it.each([
    'get_gas_price',
    'getPrice',
    'a',
    'constructor',
    'x'.repeat(64),
    'A-1_b',
    '2fa_code',
    '__version',
    '-',
    '0',
  ])('%s is taken', (name) => {
    expect(parseToolName(name)).toEqual({ ok: true, value: name });
  });

  it.each([
    ['get price', 'Write get_price.'],
    ['../evil', 'Write evil.'],
    ['a/b', 'Write a_b.'],
    ['__proto__', 'Write proto.'],
    ['', 'Write get_price.'],
    ['con', 'Write get_con.'],
    ['LPT1', 'Write get_LPT1.'],
    ['index', 'Write get_index.'],
    ['_index', 'Write get_index.'],
    ['_con', 'Write get_con.'],
    ['ｔｏｏｌ', 'Write tool.'],
    ['größe', 'Write gro_e.'],
    ['x'.repeat(65), `Write ${'x'.repeat(58)}.`],
  ])('%j is refused with a suggestion', (name, hint) => {
    expect(hintOf(parseToolName(name))).toBe(hint);
  });

  it('distinguishes look-alike characters', () => {
    const result = parseToolName('pаy');
    expect(result.ok ? '' : result.errors[0]?.message).toContain('U+0430');
  });

  it('suggests only valid names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => parseToolName(suggestToolName(text)).ok),
    );
  });

  it('becomes a file name', () => {
    expect(toolFile('get_gas_price')).toBe('get-gas-price');
    expect(toolFile('getGasPrice')).toBe('get-gas-price');
    expect(toolFile('__node_version')).toBe('node-version');
    expect(toolFile('2fa_code')).toBe('2fa-code');
    expect(toolFile('-_')).toBe('tool');
  });
});

describe('a field name', () => {
  it.each(['constructor', 'toString', 'a b', '🚀', '*/ `x` ${y}', '"'])('%s is taken', (name) => {
    expect(parseFieldName(name, '--input').ok).toBe(true);
  });

  it.each(['', '  ', '__proto__', 'a\u0000', 'a\nb', 'x'.repeat(129), '\ud800'])('%j is refused', (name) => {
    expect(parseFieldName(name, '--input').ok).toBe(false);
  });
});

describe('a project name', () => {
  it.each(['my-tool', 'a', '0x', 'gas.prices', 'x'.repeat(214)])('%s is taken', (name) => {
    expect(parseProjectName(name, '[directory]').ok).toBe(true);
  });

  it.each([
    ['My Tool!', 'my-tool'],
    ['con', 'my-con'],
    ['nul.txt', 'my-nul-txt'],
    ['node_modules', 'my-node-modules'],
    ['fs', 'my-fs'],
    ['typescript', 'my-typescript'],
    ['-rf', 'rf'],
    ['_x', 'x'],
    ['tool.', 'tool'],
    ['ｔool', 'tool'],
    ['x'.repeat(300), 'x'.repeat(60)],
    ['пай', 'my-tool'],
  ])('%j is refused with a suggestion', (name, suggestion) => {
    const result = parseProjectName(name, '[directory]');
    expect(result.ok ? 'accepted' : result.errors[0]?.hint).toBe(`Write ${suggestion}.`);
  });

  it('suggests only valid names', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (text) => parseProjectName(suggestProjectName(text), '').ok,
      ),
    );
  });

  it('is the last part of a directory', () => {
    expect(parseDirectory('/tmp/some where/my-tool')).toEqual({ ok: true, value: '/tmp/some where/my-tool' });
    expect(parseDirectory('./My Tool').ok).toBe(false);
    expect(parseDirectory('/').ok).toBe(false);
    expect(parseDirectory(' ').ok).toBe(false);
    expect(parseDirectory('tool\u0000').ok).toBe(false);
  });
});

it('a free tool name is one whose file no other tool has', () => {
  const taken = new Set<string>();
  const names = ['getPrice', 'get_price', 'GETPRICE', 'getPrice'].map((name) => freeToolName(name, taken));
  expect(names).toEqual(['getPrice', 'get_price_2', 'GETPRICE', 'getPrice_3']);
});
