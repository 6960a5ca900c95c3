import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { bounds, isReadable, schemasIn } from '../../../packages/contract/src/json/walk.ts';
import { context, generic } from '../../../packages/contract/src/platforms/all.ts';
import { inspectToolList } from '../../../packages/contract/src/rules/inspect.ts';
import { staticRules } from '../../../packages/contract/src/static-rules.ts';
import { edited, good } from '../../broken/edited.ts';
import fc from '../../fast-check.ts';

const { propertyKeys, values } = {
  propertyKeys: fc.constantFrom('name', 'description', 'inputSchema', 'outputSchema', '_meta'),
  values: fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom(
        'type',
        'properties',
        'required',
        'items',
        '$ref',
        'enum',
        'default',
        'allOf',
        '$schema',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('#', 'object', 'array'),
        fc.dictionary(
          fc.string(),
          fc.dictionary(fc.constantFrom('type', 'default', 'items'), fc.jsonValue()),
        ),
      ),
    ),
  ),
};

describe('inspectTools', () => {
  it('never throws for any list', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), fc.dictionary(propertyKeys, values))), (tools) => {
        const results = inspectToolList(tools, context);
        expect(results).toHaveLength(staticRules.length);
      }),
      { numRuns: 100 },
    );
  });

  it('reports elements over the limits and inspects the others', () => {
    const cyclic: Record<string, unknown> = { name: 'cyclic' };
    cyclic.inputSchema = cyclic;
    const endless = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const failed = inspectToolList([...good, cyclic, endless], context).filter(
      ({ status }) => status === 'fail',
    );
    expect(failed).toMatchObject([
      {
        id: 'tool.readable',
        problems: [{ tool: 'cyclic' }, { actual: 'a value that is cyclic or too deep' }],
      },
    ]);
  });

  it('judges only the given tools, in comparison with the others', () => {
    const [tool] = good;
    const broken = { ...tool, description: '' };
    const failedBeside = (other: object) =>
      inspectToolList(good, context, [other])
        .filter(({ status }) => status === 'fail')
        .map(({ id }) => id);
    expect(failedBeside({ ...broken, name: 'another' })).toEqual([]);
    expect(failedBeside(broken)).toEqual(['tool.name-unique']);
  });

  it('reports tool, path and fix', () => {
    const results = inspectToolList(edited({ 'outputSchema.properties.price.type': 'number' }), generic);
    const problems = results.find(({ id }) => id === 'output.holds-empty')?.problems;
    const cases = ['output.holds-empty', 'output.holds-failure'];
    expect(problems).toEqual(
      cases.map((part) => ({
        tool: 'get_price',
        case: part,
        path: 'outputSchema.properties.price',
        expected: 'a field that can be empty',
        actual: 'required, but allows neither null nor an empty list',
        fix: 'Add "null" to outputSchema.properties.price.type, or remove the field from required.',
      })),
    );
  });

  it('takes the levels of platform facts from the profile', () => {
    const tools = edited({ 'outputSchema.$id': 'https://example.com/price' });
    const weigh = (profile: typeof generic) =>
      inspectToolList(tools, profile).find(({ id }) => id === 'schema.no-id')?.level;
    expect(weigh(context)).toBe('must');
    expect(weigh(generic)).toBe('should');
    expect(weigh({ ...context, rules: { facts: 'off', overrides: {} } })).toBeUndefined();
    expect(weigh({ ...context, rules: { facts: 'off', overrides: { 'schema.no-id': 'must' } } })).toBe(
      'must',
    );
  });
});

describe('injected data', () => {
  const given = { description: 'The data of the wallet.', examples: [] };

  it.each<JsonObject>([
    { portfolio: { ...given, type: 'object', default: {} } },
    { walletAddresses: { ...given, type: 'array', items: { type: 'string' }, default: [] } },
    { address: { ...given, type: 'string', examples: ['0x1'] } },
    { address: { ...given, type: ['string', 'null'], default: null } },
  ])('is accepted by %j', (properties) => {
    for (const requirement of ['wallet', 'hyperliquid', 'polymarket']) {
      const tools = edited({
        '_meta.contextRequirements': [requirement],
        'inputSchema.properties': properties,
        'inputSchema.required': Object.keys(properties),
      });
      const rules = inspectToolList(tools, context).filter(({ id }) => /^meta\.(references|sense)$/.test(id));
      expect(rules.map(({ problems }) => problems)).toEqual([[], []]);
    }
  });
});

describe('an inputSchema with a dialect in $schema', () => {
  const dialect = 'https://json-schema.org/draft/2020-12/schema';
  const verdicts = (change: object) => {
    const tools = good.map((tool) => ({ ...tool, inputSchema: Object.assign({}, tool.inputSchema, change) }));
    return inspectToolList(tools, context).filter(({ status }) => status !== 'pass');
  };

  it('fails no rule: the marketplace compiles outputSchemas only', () => {
    expect(verdicts({ $schema: dialect })).toEqual([]);
  });

  it('is judged by its contents', () => {
    const wrong = { symbol: { type: 'string', description: 'Ticker.', default: 5 } };
    expect(verdicts({ $schema: dialect, properties: wrong, required: [] }).map(({ id }) => id)).toContain(
      'input.default',
    );
    expect(verdicts({ $schema: dialect, type: 'wrong' }).map(({ id }) => id)).toContain('input.compiles');
    expect(verdicts({ $schema: 'https://example.com/mine' }).map(({ id }) => id)).toContain('input.dialect');
  });
});

it('every schema inside another has a place, and no property that has the name of a keyword', () => {
  const schema = {
    properties: { items: { type: 'string' }, list: { items: [{ $ref: '#/definitions/x' }] } },
    definitions: { x: { anyOf: [{ not: {} }] } },
  };
  expect([...schemasIn(schema, 'root')].map(({ path }) => path)).toEqual([
    'root',
    'root.properties.items',
    'root.properties.list',
    'root.properties.list.items[0]',
    'root.definitions.x',
    'root.definitions.x.anyOf[0]',
    'root.definitions.x.anyOf[0].not',
  ]);
});

it('isReadable limits levels and values', () => {
  const nest = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => [inner], 0);
  expect(isReadable(nest(bounds.levels))).toBe(true);
  expect(isReadable(nest(bounds.levels + 1))).toBe(false);
  expect(isReadable(Array.from({ length: bounds.values + 1 }))).toBe(false);
});
