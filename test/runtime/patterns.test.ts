import { RE2JS } from 're2js';
import { describe, expect, test, vi } from 'vitest';
import { lengths } from '../../packages/contract/src/json/pattern.ts';
import { needsBacktracking } from '../../packages/contract/src/json/pattern-tree.ts';
import type { Json, Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { linearMatcher, matchPatternsBy } from '../../packages/runtime/src/server/pattern-matcher.ts';
import { compileTool } from '../../packages/runtime/src/server/schema.ts';
import { maxBacktracked } from '../../packages/runtime/src/server/schema-compiler.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import fc from '../fast-check.ts';
import patterns from '../fixtures/patterns.json' with { type: 'json' };
import { echo, textTool } from './tools.ts';

matchPatternsBy(RE2JS);

const megabyte = 2 ** 20;
const linear = patterns.filter((pattern) => linearMatcher(pattern) !== null);

/** Texts unchanged, truncated, joined, and with inserted characters of all kinds. */
const variants = (texts: fc.Arbitrary<string>) => {
  const odd = fc.constantFrom(
    '',
    '\n',
    '\r',
    '\u2028',
    '\u00a0',
    '\ufeff',
    '😀',
    '\ud83d',
    '\ude00',
    'é',
    'ſ',
    '-',
    '\0',
  );
  const any = fc.string({ unit: 'binary', maxLength: 8 });
  return fc
    .tuple(texts, fc.nat(20), odd, any)
    .map(([text, at, character, other]) => [
      text,
      text.slice(0, at) + character + text.slice(at),
      text.slice(at),
      other,
      character,
    ]);
};

function tool(value: object): Tool {
  return {
    ...textTool('get_it', (_, { found }) => found({ text: 'x' })),
    inputSchema: { type: 'object', properties: { value }, required: [] },
  };
}

describe('patterns match as in RegExp', () => {
  test.each(linear)('%s', (pattern) => {
    const [ours, theirs] = [linearMatcher(pattern), new RegExp(pattern, 'u')];
    fc.assert(
      fc.property(variants(fc.stringMatching(theirs)), (texts) => {
        for (const text of texts) expect(ours?.test(text), JSON.stringify(text)).toBe(theirs.test(text));
      }),
      { numRuns: 15 },
    );
  });

  test('for random patterns', () => {
    const atom = fc.constantFrom(
      ...[
        'a',
        'b',
        '.',
        '^',
        '$',
        '\\b',
        '\\B',
        '\\d',
        '\\D',
        '\\w',
        '\\W',
        '\\s',
        '\\S',
        '\\/',
        '\\-',
        '-',
        ' ',
      ],
      ...[
        '[ab]',
        '[^ab]',
        '[]',
        '[^]',
        '[a-c-]',
        '[-a]',
        '[^-\\]]',
        '[(?=]',
        '[\\b\\0]',
        '[\\s\\S]',
        '[^\\s-]',
        '[\\W_]',
        '[\\S]',
        '[^\\S ]',
        '[(?<a>]',
        '[(?i.$]',
      ],
      ...[
        '\\u0061',
        '\\u{1F600}',
        '\\ud83d\\ude00',
        '\\ud83d',
        '[\\ud83d\\ude00-\\u{1f64f}]',
        '😀',
        '\\x62',
        '\\cJ',
        '\\t',
      ],
      ...[
        '\\p{Lu}',
        '\\P{Letter}',
        '\\P{Any}',
        '[\\P{Any}]',
        '[^\\p{L}]',
        '[\\p{Lu}-]',
        '[[:alpha]',
        '\\^',
        '\\{',
        '\\}',
        '\\\\',
      ],
    );
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => {
      const group = fc
        .tuple(fc.constantFrom('(', '(?:', '(?<n>', '(?<$é>'), tie('pattern'))
        .map(([open, inside]) => `${open}${inside})`);
      const part = fc.oneof({ weight: 6, arbitrary: atom }, { weight: 1, arbitrary: group });
      const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '{0}');
      const sequence = fc
        .array(
          fc.tuple(part, repeat).map((pair) => pair.join('')),
          { maxLength: 4 },
        )
        .map((all) => all.join(''));
      return { pattern: fc.array(sequence, { minLength: 1, maxLength: 2 }).map((all) => all.join('|')) };
    });
    const text = fc.array(fc.constantFrom(...'abcA_-/ ^{}\\]\n\r\u2028\u00a0\b\0\té😀', '\ud83d', '\ude00'), {
      maxLength: 7,
    });
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (source, texts) => {
        const theirs = regularOf(source);
        fc.pre(theirs !== null);
        const ours = linearMatcher(source);
        expect(ours === null).toBe(needsBacktracking(source));
        for (const characters of texts) {
          const one = characters.join('');
          if (ours) expect(ours.test(one), JSON.stringify(one)).toBe(theirs?.test(one));
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each(['.', '[.]', '\\s', '[^\\s]', '\\S', '[\\S]', '\\w', '[^\\w]', '\\p{scx=Grek}', '[^\\P{ASCII}]'])(
    'for every character: %s',
    (pattern) => {
      const [ours, theirs] = [linearMatcher(pattern), new RegExp(pattern, 'u')];
      const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
      expect(characters.filter((one) => ours?.test(one) !== theirs.test(one))).toEqual([]);
    },
  );

  test('except those that need backtracking, which the contract code also detects', () => {
    expect(patterns.filter(needsBacktracking)).toEqual(
      patterns.filter((pattern) => !linear.includes(pattern)),
    );
    for (const pattern of ['a{1000}', '(a{100}){10}', '(?:a{2,}){400}'])
      expect(linearMatcher(pattern)).not.toBeNull();
    for (const pattern of ['a{1001}', '(a{100}){11}', 'a{2,1001}', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>']) {
      expect(linearMatcher(pattern)).toBeNull();
      expect(needsBacktracking(pattern)).toBe(true);
    }
  });
});

function regularOf(source: string): RegExp | null {
  try {
    return new RegExp(source, 'u');
  } catch {
    return null;
  }
}

describe('a call', () => {
  // A backtracking engine would not finish any of these within a test run.
  test.each([
    ['^(a+)+$', 'a'.repeat(megabyte)],
    ['^(\\w+\\s?)*$', 'a'.repeat(megabyte)],
    ['^(a|a)*$', 'a'.repeat(megabyte)],
    ['^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$', `a@${'.'.repeat(megabyte)}@`],
    ['\\s+$', `${' '.repeat(megabyte)}x`],
  ])('with a megabyte against %s is answered', async (pattern, text) => {
    const { isError } = await callTool(tool({ type: 'string', pattern }), { value: `${text}!` });
    expect(isError).toBe(true);
    const names = tool({ type: 'object', patternProperties: { [pattern]: { type: 'null' } } });
    expect((await callTool(names, { value: { [`${text.slice(-50_000)}!`]: 1 } })).isError).toBeUndefined();
  });

  test.each([
    ['[ab]*a[ab]{1000}$', 'a'.repeat(1_200), true],
    ['\\p{L}.{10}\\p{N}$', `${'a'.repeat(80_000)}01234567891`, true],
    ['^[A-Z0-9]+(-[A-Z0-9]+)*$', 'AB-'.repeat(100_000).slice(0, -1), false],
  ])(
    'with %s is limited by the length of all texts and the size of the program',
    async (pattern, text, isLimited) => {
      const matched = { type: 'string', pattern };
      const fetchResponse = async (schema: object, value: Json) => {
        const { structuredContent } = await callTool(tool(schema), { value });
        return structuredContent?.message ?? 'valid';
      };
      const list = { type: 'array', items: matched };
      const expected = isLimited ? 'arguments: takes too many steps to be compared with its schema' : 'valid';
      expect(await fetchResponse(matched, text)).toBe('valid');
      expect(await fetchResponse(matched, text.slice(0, -1) + text)).toBe(expected);
      expect(await fetchResponse(list, [text])).toBe('valid');
      expect(await fetchResponse(list, [text, text])).toBe(expected);
    },
  );

  test('with a megabyte that is not a url is answered', async () => {
    const { isError } = await callTool(tool({ type: 'string', format: 'url' }), {
      value: `http://${'a:'.repeat(megabyte / 2)}@`,
    });
    expect(isError).toBe(true);
  });

  test('is matched by backtracking up to its maxLength only', async () => {
    const bounded = tool({ type: 'string', pattern: '^(?=a)(a+)+$', maxLength: 3 });
    expect((await callTool(bounded, { value: 'aaa' })).isError).toBeUndefined();
    expect((await callTool(bounded, { value: `${'a'.repeat(megabyte)}!` })).isError).toBe(true);
    const wide = tool({ type: 'string', pattern: '^(?!x).{3}$', maxLength: 3 });
    expect((await callTool(wide, { value: '😀😀😀' })).isError).toBeUndefined();
  });
});

describe('a server refuses a pattern that needs backtracking', () => {
  test.each([{ maxLength: undefined }, { maxLength: 1_001 }])('with maxLength $maxLength', (bound) => {
    const list = { type: 'array', items: { type: 'string', pattern: '^(?=b)', ...bound } };
    expect(() => compileTool(tool(list))).toThrow(
      'Tool get_it: its inputSchema does not compile: #/properties/value/items/pattern: "^(?=b)" has lookaround, a backreference or too many repetitions. Only a pattern with a maxLength of 1000 or less may have these.',
    );
  });

  test('at the length up to which the generator lets it match', () => {
    expect(lengths[0]).toBe(maxBacktracked);
  });

  test('in patternProperties', () => {
    const value = { type: 'object', patternProperties: { '^(?=b)': { type: 'string' } } };
    expect(() => compileTool(tool(value))).toThrow('patternProperties: "^(?=b)" has lookaround');
  });
});

describe('the library that matches patterns is loaded', () => {
  const code = { type: 'string', pattern: '^[a-z]+$' };
  const input = (properties: Json) => ({
    ...echo,
    inputSchema: { type: 'object', properties } as Tool['inputSchema'],
  });

  test.each([
    ['not for a tool without a pattern', input({ pattern: { type: 'string' } }), false],
    ['for a pattern of an argument', input({ code }), true],
    ['for one of its items', input({ codes: { type: 'array', items: code } }), true],
    ['for names of members', input({ by: { type: 'object', patternProperties: { '^x-': code } } }), true],
    ['where a schema cannot be written', input({ next: circular() }), true],
  ])('%s', async (_, tool, isLoaded) => {
    vi.resetModules();
    const fresh = await import('../../packages/runtime/src/server/pattern-matcher.ts');
    await fresh.loadPatterns([echo, tool]);
    if (isLoaded) expect(fresh.linearMatcher('^a+$')?.test('aa')).toBe(true);
    else expect(() => fresh.linearMatcher('^a+$')).toThrow('is not loaded');
  });
});

function circular(): Json {
  const schema: Record<string, Json> = { type: 'object' };
  schema.properties = { next: schema };
  return schema;
}
