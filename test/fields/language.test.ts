import { describe, expect, it } from 'vitest';
import { formatFields, parseFields } from '../../src/fields/language.ts';
import fc from '../fast-check.ts';
import { fields } from './arbitraries.ts';

const read = (...texts: string[]) => {
  const result = parseFields(texts, '--input');
  return result.ok
    ? result.value
    : result.errors.map(({ where, message, hint }) => `${where}: ${message}. ${hint}`);
};

describe('the field language', () => {
  it('parses its own output', () => {
    fc.assert(
      fc.property(fields(3), (given) => {
        expect(parseFields(formatFields(given), '--input')).toEqual({ ok: true, value: given });
      }),
    );
  });

  it.each([
    ['symbol:string=BTC Trading pair', { type: 'string', default: 'BTC', description: 'Trading pair' }],
    ['symbol:string="BTC USD" Pair', { type: 'string', default: 'BTC USD', description: 'Pair' }],
    ['symbol:integer(1..100)=10', { type: 'integer', minimum: 1, maximum: 100, default: 10 }],
    ['symbol:number(-1.5..)', { type: 'number', minimum: -1.5 }],
    ['symbol:string(buy|sell)', { type: 'string', enum: ['buy', 'sell'] }],
    ['symbol:string(base, ethereum)', { type: 'string', enum: ['base', 'ethereum'] }],
    ['symbol:string(a,b , c, examples=a)', { type: 'string', enum: ['a', 'b', 'c'], examples: ['a'] }],
    ['symbol:string(a, b, nullable)', { type: 'string', enum: ['a', 'b'], nullable: true }],
    ['symbol:integer(5, 10, 1..10)', { type: 'integer', enum: [5, 10], minimum: 1, maximum: 10 }],
    ['symbol:integer(5|10|20)', { type: 'integer', enum: [5, 10, 20] }],
    ['symbol:string(examples=a|"b c")', { type: 'string', examples: ['a', 'b c'] }],
    ['symbol:string(format=date-time)', { type: 'string', format: 'date-time' }],
    ['symbol:string(pattern=/^[A-Z]{3}$/)', { type: 'string', pattern: '^[A-Z]{3}$' }],
    ['symbol:number|null Price', { type: 'number', nullable: true, description: 'Price' }],
    ['symbol:string[]=a,b', { type: 'array', items: { type: 'string' }, default: ['a', 'b'] }],
    ['symbol:number[][]', { type: 'array', items: { type: 'array', items: { type: 'number' } } }],
    ['symbol:string(nullable)[]', { type: 'array', items: { type: 'string', nullable: true } }],
    ['symbol:boolean=false', { type: 'boolean', default: false }],
    ['symbol:object={"a":1}', { type: 'object', default: { a: 1 } }],
  ])('%s', (text, shape) => {
    expect(read(text)).toEqual([{ name: 'symbol', required: true, ...shape }]);
  });

  it('marks optional fields', () => {
    expect(read('limit?:integer')).toEqual([{ name: 'limit', type: 'integer' }]);
  });

  it('nests by paths, with implied objects', () => {
    const expected = [
      {
        name: 'quote',
        required: true,
        type: 'object',
        fields: [{ name: 'bid', required: true, type: 'number' }],
      },
      {
        name: 'rows',
        required: true,
        type: 'array',
        items: {
          type: 'object',
          fields: [{ name: 'at', required: true, type: 'object', fields: [{ name: 'x', type: 'number' }] }],
        },
      },
    ];
    expect(read('quote.bid:number', 'rows[].at.x?:number')).toEqual(expected);
    expect(read('quote.bid:number', 'rows[].at.x?:number', 'rows:object[]', 'quote:object')).toEqual(
      expected,
    );
  });

  it.each([
    [['a:int'], 'Did you mean integer?'],
    [['a:strng'], 'Did you mean string?'],
    [['a:date'], 'Did you mean string(format=date)?'],
    [[':number'], 'expected a name'],
    [['a'], 'Write a name, a colon and a type'],
    [['a b:string'], 'a name must not contain spaces'],
    [['a:string = x'], 'directly after the type'],
    [['a:string(date-time)'], 'format=date-time'],
    [['gas price:number'], 'a name must not contain spaces (after "gas"). Write gasPrice or gas_price.'],
    [['gas  oracle price?:number'], 'Write gasOraclePrice or gas_oracle_price.'],
    [['n: integer Number'], 'expected the type directly after the colon (after "n:"). Write n:integer.'],
    [['n:'], 'expected a type (after "n:"). Write one of: string, number, integer, boolean, object.'],
    [
      ['n:integer=five'],
      '"five" is not an integer (after "n:integer=five"). Write a whole number such as 10.',
    ],
    [['a:string[](enum=x|y)'], 'enum does not apply to type array'],
    [['a:string[](enum=x|y)'], 'It applies to the items. Put it before [], such as string(enum=…)[].'],
    [['a:string(1..2)'], 'min does not apply to type string'],
    [['a:integer(1..10)=11'], 'expected to be <= 10'],
    [['a:integer(10..1)'], 'between 10 and 1'],
    [['a:integer=1.5'], '1.5'],
    [['a:string(a|b)=c'], 'does not match its field'],
    [['a:string(pattern=/(/)'], 'not a valid regular expression'],
    [['a:string(foo=1)'], '"foo" is not an option'],
    [['a:string(a|b'], 'expected )'],
    [['a:string(format=a, format=b)'], 'given twice'],
    [['a:string=[x'], 'in quotes: '],
    [['a:string|number'], 'a(a|b)'.slice(1)],
    [['tags[]:string'], 'Write tags:string[]'],
    [['a:string', 'a:number'], 'declared twice'],
    [['a:string', 'a.b:number'], 'Declare it as a:object'],
    [['a[].b:number', 'a:object'], 'a is a list in another declaration. Write a:object[].'],
    [['a[].b:number', 'a.c:string'], 'a is a list in another declaration. Write a[].c.'],
    [['a:object[]', 'a.c:string'], 'a is a list in another declaration. Write a[].c.'],
    [['x."my a"[][].b:number', 'x."my a".c.d:string'], 'Write x."my a"[][].c.d.'],
    [
      ['a.b:number', 'a[].c:string'],
      'a is one object in another declaration. Write a.c, or a[] in the other one, too.',
    ],
    [['a:integer(1-5)'], '"1-5" is not a range (after "a:integer(1-5"). Write 1..5 for a range.'],
    [['a:number(-1.5 – 2, examples=1)'], 'Write -1.5..2 for a range.'],
    [['a:integer(1 to 5)'], 'Write 1..5 for a range.'],
    [['a:integer(1...5)'], 'Write 1..5 for a range.'],
    [['a:integer(-3-)'], 'Write -3.. for a range.'],
    [['a:string(1-5)'], '"1-5" is not a complete option'],
    [['__proto__:string'], 'Use another name, such as proto'],
    [['a:string\u001b'], 'a:string\\u001b'],
  ])('refuses %j with the correct form', (texts, part) => {
    expect(String(read(...texts))).toContain(part);
  });

  it('takes a negative number before a comma for an allowed value, not for a range', () => {
    expect(read('a:integer(-5, 5)')).toEqual([{ name: 'a', required: true, type: 'integer', enum: [-5, 5] }]);
  });

  it('lists every error at once', () => {
    expect(read('a:int', 'ok:string', 'b:flot')).toHaveLength(2);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'ab.:?[]()|="{}, 1/\\\n') })), (texts) => {
        parseFields(texts, '--input');
      }),
      { numRuns: 500 },
    );
  });
});
