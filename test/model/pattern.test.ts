import { describe, expect, it } from 'vitest';
import { boundFor, patternFlaw } from '../../packages/contract/src/json/pattern.ts';
import { slowness } from '../../packages/contract/src/json/pattern-cost.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { sampleValue, samplingOf } from '../../src/samples/sample-value.ts';

const sampleOf = (pattern: string) => {
  const schema = { type: 'string', pattern };
  return sampleValue(schema, samplingOf(schema));
};

describe('a pattern', () => {
  it.each([
    '^[A-Z]{3}$',
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^0x[0-9a-fA-F]{40}$',
    '^(0x[0-9a-f]{40},?)+$',
    String.raw`^(\d{1,3}\.){3}\d{1,3}$`,
    '^([0-9a-f]{2}){16}$',
    String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$`,
    String.raw`^(?=.*[a-z])(?=.*\d).{8,}$`,
    '^.{1,4096}$',
    '^https://[a-z0-9.-]+/',
    String.raw`^(0|[1-9]\d*)\.(0|[1-9]\d*)(-((0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$`,
    '^(\\p{L}+ )*\\p{L}+$',
    '[\\]|(](?<year>\\d)',
    '^(a+)+',
    '[a-z]+',
    '^(red|green|blue)*$',
  ])('is accepted: %s', (pattern) => {
    expect(patternFlaw(pattern)).toBeUndefined();
    expect(slowness(pattern)).toBeUndefined();
  });

  it.each([
    '^(a+)+$',
    '^(a*)*$',
    '^(a|a)*$',
    '^(a|ab|b)*$',
    String.raw`^(\w+\s?)*$`,
    '^(a?b?)*$',
    '^(.*,)*x$',
    '^([a-z]{2,5})*$',
    '^(a+){10}$',
    '^((a|a){30}b)$',
    '^(?:x(?=(a+)+$))',
    '^(\\p{L}|é)+$',
    String.raw`^(a)(\1|a)*$`,
    `^${'a'.repeat(3_000)}$`,
    '^https://(x+x+)+y$',
    '^(foo|foo)+$',
    'a|(?:^(?:b+)+$)',
  ])('is refused because it may never end: %s', (pattern) => {
    expect(patternFlaw(pattern)?.message).toMatch(
      /^takes twice as long with every few characters$|^is longer/,
    );
  });

  it.each([
    ['[a-z]+x', 1_000],
    ['\\s+$', 1_000],
    ['^[^@]+@[^@]+\\.[^@]+$', 1_000],
    ['^\\s+|\\s+$', 1_000],
    ['[\\]|(]+(?<year>\\d)', 1_000],
    ['^(.*,){3}x$', 100],
    ['[^\\s@]+\\.[^\\s@]+$', 100],
    ['^(?:ab)*c?(?:ab)*$', 1_000],
  ])('%s is fast up to %i characters, and slow on longer texts', (pattern, length) => {
    expect(slowness(pattern)).toContain('takes time that grows with the length');
    expect(slowness(pattern, length)).toBeUndefined();
    expect(patternFlaw(pattern)).toBeUndefined();
  });

  it.each([
    ['^[A-Z]{3}$', undefined, undefined],
    ['[a-z]+x', undefined, undefined],
    ['^(?=.*[a-z])(?=.*\\d).{8,}$', undefined, 1_000],
    ['^(?=.*[a-z])(?=.*\\d).{8,}$', 64, undefined],
    ['^(?!x)[a-z]+\\s*[a-z ]+\\s*$', undefined, 100],
    ['^.{1,4096}$', undefined, 1_000],
    ['^.{1,4096}$', 1_000_000, 1_000],
  ])('%s with maxLength %s needs the limit %s', (pattern, maxLength, bound) => {
    expect(boundFor(pattern, maxLength)).toBe(bound);
  });
});

describe('a definition', () => {
  const evil = { type: 'string', pattern: '^(a+)+$', examples: [`${'a'.repeat(45)}!`] };
  const errorsOf = (input: object, output: object) => {
    const result = prepareTools(
      [
        {
          name: 'get_price',
          description: 'Returns a price.',
          inputSchema: { type: 'object', properties: input, required: Object.keys(input) },
          outputSchema: { type: 'object', properties: output, required: Object.keys(output) },
        } as never,
      ].map(toImportedTool),
      generic,
    );
    return result.ok ? [] : result.errors.map(({ where, message }) => `${where}: ${message}`);
  };

  it('is refused if a pattern may never end, at any place', () => {
    const hazard = expect.stringMatching(/pattern.*: takes twice as long/);
    expect(errorsOf({ text: evil }, { price: { type: 'number' } })).toEqual([hazard]);
    expect(errorsOf({}, { list: { type: 'array', items: evil } })).toEqual([hazard]);
    expect(errorsOf({}, { all: { type: 'object', patternProperties: { '^(a+)+$': {} } } })).toContainEqual(
      expect.stringContaining('patternProperties.^(a+)+$: takes'),
    );
  });

  it('with texts of absurd length is refused if one must be sent, else answered with null', () => {
    const vast = { type: 'string', minLength: 1_000_000_000 };
    expect(errorsOf({ text: vast }, { price: { type: 'number' } })).toEqual([
      expect.stringContaining('get_price.inputSchema.properties.text: the submission test sends this'),
    ]);
    expect(errorsOf({}, { text: vast })).toEqual([]);
  });
});

it('a spec is refused if a pattern may never end, before its values are tested', () => {
  const field = {
    name: 'text',
    type: 'string' as const,
    pattern: '^(a+)+$',
    examples: [`${'a'.repeat(45)}!`],
  };
  const result = prepareTools(
    [
      toImportedTool({
        name: 'get_it',
        description: 'Gets it.',
        input: [field],
        output: [{ name: 'price', type: 'number' }],
      }),
    ],
    generic,
  );
  expect(result.ok ? [] : result.errors.map(({ where }) => where)).toEqual(['get_it.input[0].pattern']);
});

it('a sample of a pattern is none where generating it takes too long', () => {
  expect(sampleOf('^(((){1000}){1000}){1000}$')).toBeUndefined();
  expect(sampleOf('^([a-c]{2}-){3}$')).toMatch(/^([a-c]{2}-){3}$/);
});
