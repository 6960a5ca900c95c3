import { describe, expect, it } from 'vitest';
import { effects } from '../../packages/contract/src/definition/effect.ts';
import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import { placeholderComment } from '../../packages/contract/src/definition/placeholder.ts';
import { tryCompile } from '../../packages/contract/src/json/schema.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { fix } from '../../src/fixes/fix.ts';

const good: JsonObject = {
  name: 'get_price',
  title: 'Price of a pair',
  description: 'Returns the price.',
  inputSchema: { type: 'object', properties: { symbol: { type: 'string' } }, required: ['symbol'] },
  outputSchema: {
    type: 'object',
    properties: { price: { type: ['number', 'null'] }, ...signals },
    required: ['price'],
  },
  annotations: effects.reads,
};

function fixed(definition: JsonObject) {
  const result = fix(definition, generic.smoke, 'tool');
  if (!result.ok) return { errors: result.errors.map(({ where }) => where) };
  const { definition: whole, changes } = result.value;
  const again = fix({ ...whole }, generic.smoke, 'tool');
  expect(again).toEqual({ ok: true, value: { definition: whole, changes: [] } });
  return { input: whole.inputSchema, output: whole.outputSchema, changes: changes.map(({ path }) => path) };
}

const withInput = (inputSchema: JsonObject) => fixed({ ...good, inputSchema });
const withParameter = (symbol: JsonObject, required = ['symbol']) =>
  withInput({ type: 'object', properties: { symbol }, required });
const withOutput = (members: JsonObject) =>
  fixed({ ...good, outputSchema: { ...(good.outputSchema as JsonObject), ...members } });
const withField = (price: JsonObject) => withOutput({ properties: { price, ...signals } });
const fieldOf = (result: ReturnType<typeof fixed>) =>
  (result.output as JsonObject & { properties: JsonObject }).properties.price;
const parameterOf = (result: ReturnType<typeof fixed>) =>
  (result.input as JsonObject & { properties: JsonObject }).properties.symbol;

it('a definition that meets the contract is unchanged', () => {
  expect(fixed(good)).toEqual({ input: good.inputSchema, output: good.outputSchema, changes: [] });
});

describe('a definition as a whole', () => {
  it('loses execution, which MCP defines, and members that nobody does, each with its reason', () => {
    const given = { ...good, execution: { taskSupport: 'optional' }, version: 2 };
    expect(fixed(given).changes).toEqual(['execution', 'version']);
    const result = fix(given, generic.smoke, 'tool');
    const reasons = result.ok && result.value.changes.map(({ path, why }) => ({ path, why }));
    expect(reasons).toEqual([
      { path: 'execution', why: expect.stringContaining('MCP 2025-11-25') },
      { path: 'version', why: expect.stringContaining('nor MCP defines') },
    ]);
  });

  it('keeps the members that MCP adds for people and clients', () => {
    const display = {
      annotations: { ...effects.acts, title: 'Price' },
      icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png' }],
      _meta: { a: 1 },
    };
    const result = fix({ ...good, ...display }, generic.smoke, 'tool');
    expect(result).toEqual({ ok: true, value: { definition: { ...good, ...display }, changes: [] } });
  });

  it('loses those for which clients would refuse the whole list', () => {
    const given = {
      ...good,
      title: 7,
      annotations: { readOnlyHint: 'yes', own: 1, idempotentHint: true },
      icons: ['x'],
    };
    const result = fix(given, generic.smoke, 'tool');
    expect(result).toMatchObject({
      ok: true,
      value: { definition: { annotations: { idempotentHint: true } } },
    });
    expect(fixed(given).changes).toEqual([
      'title',
      'title',
      'annotations.readOnlyHint',
      'annotations.own',
      'annotations',
      'icons',
    ]);
  });

  it.each<[string, JsonObject | undefined, JsonObject]>([
    ['get_gas_price', undefined, effects.reads],
    ['getGasPrice', { openWorldHint: false }, effects.computes],
    ['gas', { readOnlyHint: true }, effects.reads],
    ['gas', { readOnlyHint: false }, effects.acts],
    ['gas', { destructiveHint: true }, effects.acts],
    ['create_order', undefined, effects.adds],
    ['github_create_issue', { readOnlyHint: false }, effects.adds],
    ['deleteOrder', undefined, effects.changes],
    ['swap_tokens', undefined, effects.acts],
    ['get_swap_fee', undefined, effects.reads],
  ])('%s with the hints %j gets the missing ones, and reports them', (name, annotations, whole) => {
    const { annotations: _, ...rest } = good;
    const result = fix({ ...rest, name, ...(annotations && { annotations }) }, generic.smoke, 'tool');
    expect(result).toMatchObject({ ok: true, value: { definition: { annotations: whole } } });
    expect(result.ok && result.value.changes.map(({ path }) => path)).toEqual(['annotations']);
  });

  it.each([
    ['get_gas_price', undefined, 'Get gas price'],
    ['getGasPrice', undefined, 'Get gas price'],
    ['get-NFT-floor', undefined, 'Get NFT floor'],
    ['get_price', 'Price of a coin', 'Price of a coin'],
  ])('%s with the title %j of its annotations gets a title, and reports it', (name, own, title) => {
    const { title: _, ...rest } = good;
    const annotations = { ...effects.reads, ...(own !== undefined && { title: own }) };
    const result = fix({ ...rest, name, annotations }, generic.smoke, 'tool');
    expect(result).toMatchObject({
      ok: true,
      value: { definition: { title }, changes: [{ path: 'title' }] },
    });
  });

  it.each([
    [{ name: undefined }, 'tool.name'],
    [{ name: 'a b' }, 'tool.name'],
    [{ description: ' ' }, 'tool.description'],
    [{ outputSchema: undefined }, 'tool.outputSchema'],
    [{ inputSchema: 'x' }, 'tool.inputSchema'],
    [{ _meta: 1 }, 'tool._meta'],
  ])('%j is an error', (members, where) => {
    const given = Object.entries({ ...good, ...members }).filter(([, value]) => value !== undefined);
    expect(fixed(Object.fromEntries(given) as JsonObject).errors).toEqual([where]);
  });

  it('is added if there is none', () => {
    const { inputSchema: _, ...rest } = good;
    expect(fixed(rest)).toMatchObject({
      input: { type: 'object', properties: {}, required: [] },
      changes: ['inputSchema'],
    });
  });
});

describe('an inputSchema', () => {
  it.each<[JsonObject, readonly string[]]>([
    [{}, ['inputSchema.type', 'inputSchema.properties', 'inputSchema.required']],
    [{ type: 'object' }, ['inputSchema.properties', 'inputSchema.required']],
    [{ type: ['object', 'null'], properties: {}, required: [] }, ['inputSchema.type']],
    [
      { type: 'object', properties: {}, required: [], $schema: 'x', $id: 'y' },
      ['inputSchema.$schema', 'inputSchema.$id'],
    ],
  ])('%j is fixed', (schema, changes) => {
    expect(withInput(schema)).toEqual({
      input: { type: 'object', properties: {}, required: [] },
      output: good.outputSchema,
      changes,
    });
  });

  it.each<[JsonObject, string]>([
    [{ type: 'array' }, 'tool.inputSchema.type'],
    [{ type: 'object', properties: { a: {} }, required: ['b'] }, 'tool.inputSchema.required'],
    [{ type: 'object', properties: [] }, 'tool.inputSchema'],
    [{ type: 'object', properties: { a: { $ref: 'https://x/y' } } }, 'tool.inputSchema.properties.a.$ref'],
    [{ type: 'object', properties: { a: { $ref: '#/definitions/b' } } }, 'tool.inputSchema'],
    [{ type: 'object', properties: { a: { type: 'strng' } } }, 'tool.inputSchema'],
    [JSON.parse('{"type":"object","properties":{"__proto__":{}}}'), 'tool.inputSchema.properties.__proto__'],
  ])('%j is an error', (schema, where) => {
    expect(withInput(schema).errors).toEqual([where]);
  });

  it('names its required parameters in a list', () => {
    const result = withInput({
      type: 'object',
      properties: { a: { type: 'string', required: true }, b: { type: 'string', required: false } },
    });
    expect(result.input).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['a'],
    });
  });

  it('makes a nullable parameter optional', () => {
    const result = withParameter({ type: ['string', 'null'], enum: ['a', null], default: null });
    expect(result.input).toEqual({
      type: 'object',
      properties: { symbol: { type: 'string', enum: ['a'] } },
      required: [],
    });
    expect(withParameter({ type: 'string', nullable: true }).input?.required).toEqual([]);
  });

  it('makes a required union of a type and null an optional parameter of that type', () => {
    const union = { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'A pair', default: null };
    const { input, changes } = withParameter(union);
    const symbol = { type: 'string', description: 'A pair' };
    expect(input).toEqual({ type: 'object', properties: { symbol }, required: [] });
    expect(changes).toContain('inputSchema.properties.symbol');
    expect(parameterOf(withParameter(union, []))).toEqual(union);
    const several = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] };
    expect(withParameter(several).input?.required).toEqual(['symbol']);
  });

  it('keeps the references inside such a union', () => {
    const children = { type: 'array', items: { $ref: '#/properties/symbol/anyOf/1' } };
    const tree = { type: ['object', 'null'], properties: { children } };
    expect(parameterOf(withParameter({ anyOf: [{ type: 'null' }, tree] }))).toEqual({
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/properties/symbol' } } },
    });
  });

  it.each<[JsonObject, JsonObject]>([
    [{ type: 'number', minimum: 5 }, { examples: [5] }],
    [{ type: 'string', pattern: '^[A-Z]{3}-\\d+$' }, { examples: [expect.stringMatching(/^[A-Z]{3}-\d+$/)] }],
    [{ type: 'string', minLength: 10 }, { examples: [expect.stringMatching(/.{10}/)] }],
    [{ type: 'string', format: 'uri' }, { examples: ['https://example.com/'] }],
    [{ type: 'integer', multipleOf: 7 }, { examples: [7] }],
    [{ type: ['string', 'number'] }, { examples: ['sample'] }],
  ])('%j gets a marked placeholder if it is required', (parameter, added) => {
    const result = withParameter(parameter);
    expect(parameterOf(result)).toEqual({ ...parameter, ...added, $comment: placeholderComment });
    expect(result.changes).toEqual(['inputSchema.properties.symbol.examples']);
    expect(withParameter(parameter, [])).toMatchObject({ changes: [] });
  });

  it.each<JsonObject>([
    { type: 'string' },
    { type: 'string', pattern: '^[A-Z]{3}$', default: 'BTC' },
    { type: 'string', pattern: '^[A-Z]{3}$', examples: ['BTC'] },
    { type: 'integer', enum: [3, 4] },
  ])('%j gets no invented value', (parameter) => {
    expect(withParameter(parameter)).toMatchObject({ changes: [] });
  });

  it.each<[JsonObject, JsonObject, string]>([
    [{ type: 'string', format: 'date-time', default: 'now' }, { type: 'string', default: 'now' }, 'format'],
    [{ type: 'number', default: '5' }, { type: 'number' }, 'default'],
    [{ type: 'string', default: null }, { type: 'string' }, 'default'],
    [{ type: 'number', examples: ['5'] }, { type: 'number' }, 'examples'],
    [{ type: 'number', examples: ['5', 6] }, { type: 'number', examples: [6] }, 'examples'],
    [
      { type: 'object', properties: { a: { type: 'string', default: 1 } } },
      { type: 'object', properties: { a: { type: 'string' } } },
      'properties.a.default',
    ],
  ])('%j loses keywords that contradict its own values', (parameter, expected, at) => {
    const result = withParameter(parameter);
    expect(parameterOf(result)).toEqual(expected);
    expect(result.changes).toEqual([`inputSchema.properties.symbol.${at}`]);
  });

  const address: JsonObject = {
    type: 'object',
    properties: { zip: { type: 'string', pattern: '^\\d{4}$' } },
    required: ['zip'],
  };
  it.each<[string, JsonObject, JsonObject]>([
    ['a member of another', { $ref: '#/properties/value/properties/zip' }, { $comment: placeholderComment }],
    ['another parameter', { $ref: '#/properties/value', description: 'Where from' }, { type: 'object' }],
    ['another in a union', { allOf: [{ $ref: '#/properties/value' }, { required: ['zip'] }] }, {}],
    ['an item by its position', { $ref: '#/properties/pair/items/0' }, { type: 'string' }],
  ])('has written out what a required parameter refers to: %s', (_, symbol, members) => {
    const pair: JsonObject = {
      type: 'array',
      items: [{ type: 'string', pattern: '^a+$' }, { $ref: '#/properties/pair/items/0' }],
    };
    const result = withInput({
      type: 'object',
      properties: { value: address, pair, symbol },
      required: ['symbol'],
    });
    expect(result.changes).toContain('inputSchema');
    expect(JSON.stringify(result.input)).not.toContain('$ref');
    expect(parameterOf(result)).toMatchObject(members);
  });

  it('keeps the references of a parameter that contains itself', () => {
    const properties = {
      name: { type: 'string' },
      children: { type: 'array', items: { $ref: '#/properties/symbol' } },
    };
    const tree = { type: 'object', properties, required: ['name'] };
    expect(withParameter(tree).changes).not.toContain('inputSchema');
    const again = withInput({
      type: 'object',
      properties: { symbol: tree, other: { $ref: '#/properties/symbol' } },
      required: ['other'],
    });
    const other = { items: { $ref: '#/properties/other' } };
    expect((again.input as { properties: JsonObject }).properties.other).toMatchObject({
      type: 'object',
      properties: { children: other },
    });
  });

  it.each(['#/properties/none', '#/properties/%zz'])(
    'is refused if a reference leads nowhere: %s',
    ($ref) => {
      expect(withParameter({ $ref }).errors).toEqual(['tool.inputSchema']);
    },
  );

  it('is refused if no value for the submission test is known', () => {
    const result = withParameter({ type: 'string', pattern: '^\\p{Lu}(?<=x)$' });
    expect(result.errors).toEqual(['tool.inputSchema.properties.symbol']);
  });
});

describe('an outputSchema', () => {
  it('gets the signals', () => {
    const result = withOutput({ properties: { price: { type: ['number', 'null'] } } });
    expect(result).toMatchObject({ output: good.outputSchema, changes: ['outputSchema.properties'] });
  });

  it.each<[JsonObject, JsonObject]>([
    [{ type: 'number' }, { type: ['number', 'null'] }],
    [{ type: 'number', nullable: true }, { type: ['number', 'null'] }],
    [
      { type: 'string', enum: ['a', 'b'] },
      { type: ['string', 'null'], enum: ['a', 'b', null] },
    ],
    [{ const: 'a' }, { enum: ['a', null] }],
    [
      { type: 'array', items: { type: 'string' } },
      { type: 'array', items: { type: 'string' } },
    ],
    [
      { type: 'array', minItems: 1 },
      { type: ['array', 'null'], minItems: 1 },
    ],
    [
      { type: 'object', properties: { a: { type: 'number' } } },
      { type: 'object', properties: { a: { type: 'number' } } },
    ],
    [
      { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      { type: ['object', 'null'], properties: { a: { type: 'number' } }, required: ['a'] },
    ],
    [
      { description: 'x', anyOf: [{ type: 'number' }, { type: 'string' }] },
      { description: 'x', anyOf: [{ anyOf: [{ type: 'number' }, { type: 'string' }] }, { type: 'null' }] },
    ],
    [
      { type: 'array', items: [{ type: 'number' }, { type: 'number' }] },
      { type: 'array', items: { type: 'number' } },
    ],
    [
      { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false },
      { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] }, maxItems: 2 },
    ],
    [{ type: 'object', unevaluatedProperties: false }, { type: 'object' }],
  ])('%j can be empty as %j', (given, expected) => {
    expect(fieldOf(withField(given))).toEqual(expected);
  });

  it('follows references into its own definitions', () => {
    const result = withOutput({
      properties: { price: { $ref: '#/definitions/p' }, ...signals },
      definitions: { p: { type: 'number' } },
    });
    expect(fieldOf(result)).toEqual({ type: ['number', 'null'] });
    expect(result.output).not.toHaveProperty('definitions');
    expect(result.changes).toContain('outputSchema.definitions');
  });

  it('writes a definition out at each place, with what is beside the reference', () => {
    const result = withOutput({
      properties: {
        last: { $ref: '#/$defs/Price', description: 'Last' },
        low: { $ref: '#/$defs/Price', minimum: 1 },
        'a/b': { type: 'object', properties: { deep: { $ref: '#/$defs/Alias' } } },
        ...signals,
      },
      required: [],
      $defs: {
        Price: { type: 'number', minimum: 0, description: 'A price' },
        Alias: { $ref: '#/$defs/Price' },
      },
    });
    const whole = { type: 'number', minimum: 0, description: 'A price' };
    expect((result.output as JsonObject).properties).toEqual({
      last: { ...whole, description: 'Last' },
      low: { allOf: [whole, { minimum: 1 }] },
      'a/b': { type: 'object', properties: { deep: whole } },
      ...signals,
    });
  });

  it('turns a definition that contains itself into a reference to its place', () => {
    const Node: JsonObject & { properties: JsonObject } = {
      type: 'object',
      properties: { name: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } },
    };
    const properties = { 'a/b': { $ref: '#/$defs/Node' }, ...signals };
    const result = withOutput({ properties, required: [], $defs: { Node } });
    const next = { anyOf: [{ $ref: '#/properties/a~1b' }, { type: 'null' }] };
    const written = { ...Node, properties: { ...Node.properties, next } };
    expect((result.output as JsonObject).properties).toEqual({ 'a/b': written, ...signals });
    const compiled = tryCompile(result.output as JsonObject);
    expect(compiled.ok && compiled.validate({ 'a/b': { next: { next: null } } })).toBe(true);
    expect(compiled.ok && compiled.validate({ 'a/b': { next: { next: 5 } } })).toBe(false);
  });

  it('keeps a recursive union valid that null is added to', () => {
    const of: JsonObject = { $ref: '#/$defs/Expr' };
    const Expr: JsonObject = { anyOf: [{ type: 'string' }, { type: 'object', properties: { of } }] };
    const result = withOutput({
      properties: { expr: { $ref: '#/$defs/Expr' }, ...signals },
      required: ['expr'],
      $defs: { Expr },
    });
    const compiled = tryCompile(result.output as JsonObject);
    const accepts = (expr: Json) => compiled.ok && compiled.validate({ expr });
    expect([accepts(null), accepts({ of: { of: 'a' } }), accepts({ of: { of: 5 } })]).toEqual([
      true,
      true,
      false,
    ]);
    expect(JSON.stringify(result.output)).toContain('"#/properties/expr/anyOf/0"');
  });

  it('is an error if its definitions become too large where they are written out', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `L${i}`,
        {
          type: 'object',
          properties: { a: { $ref: `#/$defs/L${i + 1}` }, b: { $ref: `#/$defs/L${i + 1}` } },
        },
      ]),
    );
    const properties = { top: { $ref: '#/$defs/L0' }, ...signals };
    const result = withOutput({ properties, required: [], $defs: { ...$defs, L12: { type: 'string' } } });
    expect(result).toEqual({ errors: ['tool.outputSchema.$defs'] });
  });

  it('puts a map at its root into the property result, with its references', () => {
    const result = fixed({
      ...good,
      outputSchema: {
        type: 'object',
        additionalProperties: { $ref: '#/$defs/Rate' },
        properties: { base: { type: 'string' }, again: { $ref: '#/properties/base' }, all: { $ref: '#' } },
        $defs: { Rate: { type: 'number' } },
      },
    });
    expect(result.output).toMatchObject({
      type: 'object',
      properties: {
        result: {
          type: 'object',
          additionalProperties: { type: 'number' },
          properties: {
            again: { $ref: '#/properties/result/properties/base' },
            all: { $ref: '#/properties/result' },
          },
        },
      },
      required: ['result'],
    });
    expect(result.changes).toEqual(expect.arrayContaining(['outputSchema', 'outputSchema.$defs']));
  });

  it('keeps additionalProperties that allow everything', () => {
    expect(withOutput({ additionalProperties: {} }).output).toMatchObject({ additionalProperties: true });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['message', { type: 'string' }, { type: ['string', 'null'] }],
    ['error', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    ['noResultsReason', { type: 'string' }, { type: ['string', 'null'] }],
    ['searchExhausted', { type: 'boolean' }, { type: ['boolean', 'null'] }],
  ])('keeps a required %s of its author and allows it to be empty', (name, given, expected) => {
    const result = withOutput({ properties: { ...signals, [name]: given }, required: [name] });
    expect(result.output).toEqual({
      type: 'object',
      properties: { ...signals, [name]: expected },
      required: [name],
    });
  });

  it.each(['maxProperties', 'propertyNames'])('loses a %s that forbids the signals', (keyword) => {
    const result = withOutput({ [keyword]: keyword === 'maxProperties' ? 1 : { enum: ['price'] } });
    expect(result).toMatchObject({ output: good.outputSchema, changes: [`outputSchema.${keyword}`] });
  });

  it.each<[JsonObject, string]>([
    [{ type: 'array' }, 'tool.outputSchema.type'],
    [{ anyOf: [{ type: 'object' }] }, 'tool.outputSchema.anyOf'],
    [{ required: ['prise'] }, 'tool.outputSchema.required'],
    [
      { properties: { ...signals, error: { type: 'object' } }, required: [] },
      'tool.outputSchema.properties.error',
    ],
    [
      { properties: { ...signals, message: { type: 'string', format: 'uri' } }, required: [] },
      'tool.outputSchema.properties.message',
    ],
    [
      { properties: { ...signals, message: { type: 'string', enum: ['a'] } }, required: [] },
      'tool.outputSchema.properties.message',
    ],
    [{ patternProperties: { '^error$': { type: 'number' } } }, 'tool.outputSchema.properties.error'],
  ])('%j is an error', (members, where) => {
    expect(withOutput(members).errors).toEqual([where]);
  });
});

it('a definition over the limits is refused with the limits', () => {
  const values = Array.from({ length: 20_001 }, (_, index) => `v${index}`);
  const inputSchema = { type: 'object', properties: { one: { type: 'string', enum: values } }, required: [] };
  const result = fix({ ...good, inputSchema }, generic.smoke, 'tools[0]');
  expect(result).toMatchObject({ ok: false });
  expect(JSON.stringify(result)).toContain(
    'is too large: a definition has at most 20000 values and 100 levels',
  );
});
