import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import {
  brokenBy,
  type ChangeId,
  changeRules,
  type Party,
} from '../../packages/contract/src/check/change-rules.ts';
import { changesBetween } from '../../packages/contract/src/check/drift.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { fingerprint, withDefinitions } from '../../src/project/manifest/listed.ts';
import fc from '../fast-check.ts';

const tool = {
  name: 'get_price',
  description: 'Returns a price.',
  inputSchema: { type: 'object', properties: { symbol: { type: 'string' } }, required: [] },
  outputSchema: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
};

function input(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { ...tool, inputSchema: { type: 'object', properties, required } };
}

function output(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { ...tool, outputSchema: { type: 'object', properties, required } };
}

describe('drift', () => {
  it('is empty between a list and itself, in any order', () => {
    const other = { ...tool, name: 'other' };
    expect(changesBetween([tool, other], [other, tool])).toEqual([]);
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        (list) => changesBetween(list as Json[], list as Json[]).length === 0,
      ),
    );
  });

  const symbol = { type: 'string' };
  const price = { type: 'number' };
  const listOf = (items: JsonObject | boolean) => ({ list: { type: 'array', items } });
  const closed = (schema: JsonObject) => ({
    ...tool,
    outputSchema: { ...schema, additionalProperties: false },
  });
  const inputSchema: JsonObject = tool.inputSchema;
  const outputSchema: JsonObject = tool.outputSchema;
  const enumOf = (...values: Json[]) => ({ x: { enum: values } });
  const [n, s] = [{ x: { type: 'number' } }, { x: { type: 'string' } }];
  const ns = { x: { type: ['string', 'number'] } };
  const most = (maximum?: number) => ({ x: { type: 'number', ...(maximum !== undefined && { maximum }) } });
  const like = (pattern: string) => ({ x: { type: 'string', pattern } });

  /** For each rule, two versions of a tool between which it is the only change, and whom that breaks by the contract. */
  const cases: readonly (readonly [ChangeId, Json, Json, readonly Party[]])[] = [
    ['tool.text', tool, { ...tool, description: 'Returns the price.' }, []],
    ['tool.text', tool, { ...tool, _meta: { surface: 'both' } }, []],
    ['input.member.new', tool, input({ symbol, market: symbol }), []],
    ['input.member.demanded', tool, input({ symbol, market: symbol }, ['market']), ['caller']],
    ['input.member.gone', tool, input({}), ['caller']],
    ['input.required.added', tool, input({ symbol }, ['symbol']), ['caller']],
    ['input.required.gone', input({ symbol }, ['symbol']), tool, []],
    ['input.type.narrower', input(ns), input(s), ['caller']],
    ['input.type.wider', input(n), input(ns), []],
    ['input.type.wider', input({ x: { type: 'integer' } }), input(n), []],
    ['input.type.other', input(n), input(s), ['caller']],
    ['input.enum.narrower', input(enumOf('a', 'b')), input(enumOf('a')), ['caller']],
    ['input.enum.wider', input(enumOf('a')), input(enumOf('b', 'a')), []],
    ['input.enum.other', input(enumOf('a')), input(enumOf('b')), ['caller']],
    ['input.limit.narrower', input(most(9)), input(most(5)), ['caller']],
    [
      'input.limit.narrower',
      tool,
      { ...tool, inputSchema: { ...inputSchema, additionalProperties: false } },
      ['caller'],
    ],
    ['input.limit.wider', input(most(5)), input(most(9)), []],
    ['input.limit.wider', input(like('^a')), input(s), []],
    ['input.limit.other', input(like('^a')), input(like('^b')), ['caller']],
    ['input.text', tool, input({ symbol: { ...symbol, default: 'BTC' } }), []],
    ['output.member.new', tool, output({ price, volume: price }, ['price']), []],
    [
      'output.member.refused',
      closed(outputSchema),
      closed({ ...outputSchema, properties: { price, volume: price } }),
      ['dispute'],
    ],
    ['output.member.gone', output({ price }), output({}), ['reader']],
    ['output.member.lost', tool, output({}), ['reader', 'dispute']],
    ['output.required.added', output({ price }), tool, []],
    ['output.required.gone', tool, output({ price }), ['reader', 'dispute']],
    ['output.type.narrower', output(ns), output(n), []],
    ['output.type.wider', output(n), output({ x: { type: ['number', 'null'] } }), ['reader', 'dispute']],
    [
      'output.type.wider',
      output(n),
      output({ x: { type: 'number', nullable: true } }),
      ['reader', 'dispute'],
    ],
    ['output.type.other', output(listOf(price)), output(listOf(symbol)), ['reader', 'dispute']],
    ['output.enum.narrower', output(enumOf(1, 2)), output(enumOf(1)), []],
    ['output.enum.wider', output(enumOf(1)), output(enumOf(1, 2)), ['reader', 'dispute']],
    ['output.enum.other', output(enumOf(1)), output(enumOf(2)), ['reader', 'dispute']],
    ['output.limit.narrower', output(listOf(true)), output(listOf(price)), []],
    ['output.limit.wider', output(most(5)), output(most()), ['reader', 'dispute']],
    ['output.limit.other', output(like('^a')), output(like('^b')), ['reader', 'dispute']],
    ['output.text', output({ price }), output({ price: { ...price, description: 'in USD' } }), []],
  ];

  it.each(cases)('says by the rule %s who breaks', (id, before, after, breaksFor) => {
    expect(changesBetween([before], [after])).toMatchObject([
      { tool: 'get_price', rule: id, breaksFor, breaks: breaksFor.length > 0 },
    ]);
  });

  it('reports added and removed tools, and every rule has a case', () => {
    const changes = changesBetween([tool], [{ ...tool, name: 'new' }]);
    expect(changes.map(({ tool, rule, breaksFor }) => [tool, rule, breaksFor])).toEqual([
      ['get_price', 'tool.gone', ['caller', 'dispute']],
      ['new', 'tool.new', []],
    ]);
    const tried = [...cases.map(([id]) => id), 'tool.gone', 'tool.new', 'tool.fingerprint'];
    expect(new Set(tried)).toEqual(new Set(Object.keys(changeRules)));
  });

  it('is described rule by rule in docs/check-reference.md', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/check-reference.md'), 'utf8');
    const rows = Object.entries(changeRules).map(
      ([id, { what, breaks }]) => `| \`${id}\` | ${what} | ${brokenBy(breaks)} |`,
    );
    expect(text).toContain(rows.join('\n'));
  });

  it('agrees with a validator: what breaks nobody refuses no earlier arguments, and loses no dispute', () => {
    // Every value of a small world is judged by both schemas of each case with Ajv, as the marketplace judges.
    const ajv = new Ajv({ strict: false, validateSchema: false });
    const values = [undefined, null, 1, 2, 6, 'a', 'b', 'BTC', [1], ['a'], {}];
    const names = ['x', 'price', 'symbol', 'list'];
    const world = names.flatMap((name) =>
      values.map((value) => (value === undefined ? {} : { [name]: value })),
    );
    const accepts = (schema: unknown) => {
      const validate = ajv.compile(schema as JsonObject);
      return world.map((value) => validate(value));
    };
    for (const [id, before, after, breaks] of cases) {
      const side = id.startsWith('output') ? 'outputSchema' : 'inputSchema';
      const [old, now] = [accepts((before as JsonObject)[side]), accepts((after as JsonObject)[side])];
      const [from, to] = side === 'inputSchema' ? [old, now] : [now, old];
      const declared = side === 'inputSchema' ? before : after; // who sends, sends what is declared
      const members = ((declared as JsonObject)[side] as JsonObject).properties as JsonObject;
      const isRefused = from.some(
        (was, at) => was && to[at] === false && Object.keys(world[at] ?? {}).every((name) => name in members),
      );
      const party = side === 'inputSchema' ? 'caller' : 'dispute';
      if (!breaks.includes(party)) expect([id, isRefused]).toEqual([id, false]);
    }
  });

  it('never throws for any two lists, nor for a list and fingerprints', () => {
    const name = fc.constantFrom('a', 'get_price', '__proto__', 'constructor');
    const schemas = { inputSchema: fc.jsonValue(), outputSchema: fc.jsonValue() };
    const list = fc.array(fc.oneof(fc.jsonValue(), fc.record({ name, ...schemas }))) as fc.Arbitrary<Json[]>;
    const recorded = [{ name: tool.name, fingerprint: fingerprint(tool) }];
    fc.assert(
      fc.property(list, list, (before, after) =>
        [before, withDefinitions([...recorded, ...before], after)].every((earlier) =>
          Array.isArray(changesBetween(earlier, after)),
        ),
      ),
    );
  });
});

describe('a recorded list with fingerprints, as older projects have it', () => {
  const volume = { ...tool, name: 'get_volume' };
  const recorded = [tool, volume].map((definition) => ({
    name: definition.name,
    fingerprint: fingerprint(definition),
  }));

  it('gets the definition of each tool that has not changed, whatever the order of its members', () => {
    const turned = Object.fromEntries(Object.entries(tool).toReversed());
    expect(withDefinitions(recorded, [volume, turned])).toEqual([tool, volume]);
    expect(changesBetween(withDefinitions(recorded, [volume, turned]), [volume, turned])).toEqual([]);
  });

  it('reports changed tools without the effect on callers', () => {
    const current = [
      { ...tool, name: 'new' },
      { ...tool, description: 'Returns another price.' },
    ];
    expect(withDefinitions(recorded, current)).toEqual(recorded);
    const changes = changesBetween(withDefinitions(recorded, current), current);
    expect(changes.map(({ tool, rule, breaks }) => [tool, rule, breaks])).toEqual([
      ['get_price', 'tool.fingerprint', null],
      ['get_volume', 'tool.gone', true],
      ['new', 'tool.new', false],
    ]);
  });

  it('does not report a tool whose definition could not be read when it was recorded', () => {
    const unread = [{ name: tool.name, fingerprint: '' }];
    expect(changesBetween(withDefinitions(unread, [tool]), [tool])).toEqual([]);
  });
});
