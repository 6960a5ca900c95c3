import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../packages/contract/src/json/compile.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { readSpec } from '../../src/tools/read-spec.ts';
import { specFileSchema } from '../../src/tools/tool-spec-schema.ts';

const tool = {
  name: 'get_price',
  description: 'Returns a price.',
  input: [],
  output: [{ name: 'price', type: 'number' }],
};
const text = JSON.stringify(tool);

function errorsOf(spec: string): readonly string[] {
  const read = readSpec(spec, 'spec');
  const result = read.ok ? prepareTools(read.value.map(toImportedTool), generic) : read;
  return result.ok
    ? []
    : result.errors.map(({ where, value, message, hint }) => `${where} ${value}: ${message}. ${hint}`);
}

describe('a spec file', () => {
  it.each([
    ['one', text],
    ['a list', `[${text}]`],
    ['under tools', `{"tools":[${text}]}`],
    ['a JSON-RPC answer', `{"jsonrpc":"2.0","id":1,"result":{"tools":[${text}]}}`],
    [
      'YAML',
      'name: get_price\ndescription: Returns a price.\ninput: []\noutput:\n  - name: price\n    type: number\n',
    ],
    ['JSON with tabs', JSON.stringify(tool, null, '\t')],
    ['with a byte order mark', `\ufeff${text}`],
  ])('%s', (_, spec) => {
    expect(readSpec(spec)).toEqual({ ok: true, value: [tool] });
  });

  it.each([
    '{"a":9007199254740992,"b":18446744073709552000}',
    'a: 9007199254740992\nb: 18446744073709552000',
  ])('keeps large integers that are exact: %s', (spec) => {
    expect(readSpec(spec)).toEqual({ ok: true, value: [{ a: 2 ** 53, b: 2 ** 64 }] });
  });

  it.each([
    ['', 'the input is empty'],
    ['[]', 'contains no tool'],
    ['7', 'is not a tool'],
    ['[{}, 7]', 'spec[1] 7: is not a tool'],
    ['{"a":', 'spec:1:'],
    ['{"a":1,"a":2}', 'spec:1:8 undefined: the key "a" is used twice'],
    ['[{"a":{"b":1},\n"\\u0061":2}]', 'spec:2:1'],
    ['a: 1\na: 2', 'spec:2:1 undefined: duplicated mapping key'],
    [
      '[{"a":"9007199254740993",\n"b":9007199254740993}]',
      'spec:2:5 undefined: 9007199254740993 is not exact',
    ],
    ['a:\n  b: [1, -9007199254740993]', 'spec.a.b[1] undefined: -9007199254740993 is not exact'],
    ['a: 0x20000000000001', 'spec.a undefined: 9007199254740993 is not exact'],
    [`a: ${'x'.repeat(500_000)}`, 'are allowed in YAML'],
    ['a: 1\n---\nb: 2', 'a single document'],
    ['a: &x [*x]', 'deeper than'],
    ['a: .inf', 'not a JSON number'],
    ['a: !!binary abcd', 'spec:1:4 undefined: unknown scalar tag'],
    ['{"__proto__":{}}', '__proto__ cannot be a key of an object'],
    ['["\\ud800"]', 'an incomplete character'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1}}', 'an error of the server'],
    [`{"tools":[${text}],"nextCursor":"x"}`, 'the list has more pages'],
    ['['.repeat(100_000), 'nesting exceeded'],
    ['- '.repeat(100_000), 'nesting exceeded'],
    [`${'['.repeat(90)}${']'.repeat(90)}`, 'deeper than'],
    [
      Array.from(
        { length: 8 },
        (_, i) => `a${i}: &a${i} [${`${i === 0 ? 1 : `*a${i - 1}`},`.repeat(9)}]`,
      ).join('\n'),
      'more than 500000 values',
    ],
    [`a: &a 1\nb: [${'*a,'.repeat(101)}]`, 'aliases'],
    ['x'.repeat(5_000_001), 'characters'],
    [JSON.stringify(Array(1_001).fill(tool)), '1001 tools'],
  ])('%.40s is refused', (spec, part) => {
    expect(errorsOf(spec).join('\n')).toContain(part);
  });
});

describe('a tool spec', () => {
  it.each([
    [{ inpt: [] }, 'get_price.inpt []: is not a key of a tool spec. Did you mean input?'],
    [{ output: undefined }, 'get_price.output undefined: is missing. Write a list of fields'],
    [{ output: [] }, 'get_price.output'],
    [{ returns: 'lists' }, 'get_price.returns "lists": is not one of the allowed values. Did you mean list?'],
    [
      { name: 'a b' },
      'a b.name "a b": a tool name contains only letters, digits, _ and -; spaces are not allowed',
    ],
    [
      { input: [{ name: 'a', type: 'strng' }] },
      'get_price.input[0].type "strng": is not one of the allowed values. Did you mean string?',
    ],
    [{ input: [{ name: 'a' }] }, 'get_price.input[0].type undefined: is missing. Write string, number'],
    [{ input: [{ name: 'a', type: 'array' }] }, 'get_price.input[0].items undefined: is missing'],
    [{ input: [{ name: 'a', type: 'string', minimum: 1 }] }, 'get_price.input[0].minimum 1: does not apply'],
    [{ input: [{ name: 'a', type: 'string', requird: true }] }, 'Did you mean required?'],
    [
      {
        input: [
          { name: 'a', type: 'string' },
          { name: 'a', type: 'string' },
        ],
      },
      'get_price.input[1].name "a": this name is used twice',
    ],
    [
      { input: [{ name: 'a', type: 'integer', default: 'x' }] },
      'get_price.input[0].default "x": does not match',
    ],
    [{ input: [{ name: 'a', type: 'string', pattern: '(' }] }, 'not a valid regular expression'],
    [
      { output: [{ name: 'a', type: 'object', fields: [{ name: '', type: 'string' }] }] },
      'get_price.output[0].fields[0].name',
    ],
    [{ output: [{ name: 'error', type: 'object', fields: [] }] }, 'Rename your field error'],
  ])('%j', (members, part) => {
    expect(errorsOf(JSON.stringify({ ...tool, ...members })).join('\n')).toContain(part);
  });

  it('is described by the published schema', () => {
    const validate = compileSchema(specFileSchema);
    for (const spec of [tool, [tool], { tools: [tool] }]) expect(validate(spec)).toBe(true);
    for (const spec of [{}, [], { ...tool, output: [] }, { tools: tool }]) expect(validate(spec)).toBe(false);
  });
});
