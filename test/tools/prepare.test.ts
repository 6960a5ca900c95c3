import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { blankResult } from '../../packages/contract/src/definition/outcomes.ts';
import { clientMismatches as mismatches } from '../../packages/contract/src/json/match.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import { sampleArguments } from '../../packages/contract/src/platforms/sample-arguments.ts';
import { fix } from '../../src/fixes/fix.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { type PreparedTools, prepareTools } from '../../src/import/prepare.ts';
import type { SpecEntry, ToolSpec } from '../../src/model/tool-model.ts';
import { readSpec } from '../../src/tools/read-spec.ts';
import fc from '../fast-check.ts';
import { toolSpec } from '../fields/arbitraries.ts';
import { preparedOf } from '../import/prepared.ts';

const fixtures = new URL('../fixtures/real-tools/', import.meta.url);
const files = readdirSync(fixtures).filter((file) => file.endsWith('.json'));

const prepared = (entries: readonly SpecEntry[], profile = generic) =>
  preparedOf(entries.map(toImportedTool), profile);

const errorsOf = (...entries: readonly SpecEntry[]) => {
  const result = prepareTools(entries.map(toImportedTool), generic);
  return result.ok ? [] : result.errors;
};

/** Asserts what the templates rely on in every prepared tool. */
function expectWhole({ tools }: PreparedTools): void {
  for (const { definition, keyParameter, samples, examples } of tools) {
    const { inputSchema, outputSchema } = definition;
    for (const { answer } of samples) expect(mismatches(outputSchema, answer, '')).toEqual([]);
    for (const { arguments: given, expect: outcome } of examples) {
      expect(mismatches(inputSchema, given, '')).toEqual([]);
      const key = keyParameter === null ? null : (given[keyParameter] ?? null);
      expect(samples.some((sample) => sample.key === key)).toBe(outcome === 'found');
    }
    expect(examples.filter((example) => example.expect === 'found')).toHaveLength(1);
    const test = sampleArguments(inputSchema, generic.smoke);
    const properties = inputSchema.properties as { [name: string]: JsonObject };
    const tested =
      keyParameter === null ? null : (test[keyParameter] ?? properties[keyParameter]?.default ?? null);
    expect(samples.map(({ key }) => key)).toContain(tested);
    const blank = blankResult(outputSchema);
    expect(blank.ok).toBe(true);
    const failure = { ...(blank.ok && blank.result), error: 'X', message: 'y' };
    expect(mismatches(outputSchema, failure, '')).toEqual([]);
    expect(fix({ ...definition }, generic.smoke, '')).toEqual({
      ok: true,
      value: { definition, changes: [] },
    });
  }
}

it('any tool spec becomes a definition that meets every MUST, with matching samples', () => {
  fc.assert(
    fc.property(toolSpec, (spec) => {
      expectWhole(prepared([spec]));
    }),
    { numRuns: 200 },
  );
});

describe('the tools/list of a real server', () => {
  const entriesOf = (file: string) => {
    const spec = readSpec(readFileSync(new URL(file, fixtures), 'utf8'), file);
    return spec.ok ? spec.value : [];
  };

  it.each(files.flatMap((file) => [generic, context].map((profile) => ({ file, profile }))))(
    '$file for $profile.name',
    ({ file, profile }) => {
      const entries = entriesOf(file) as readonly JsonObject[];
      const result = prepared(entries, profile);
      expectWhole(result);
      for (const [i, { definition }] of result.tools.entries()) {
        const given = entries[i] as { [key: string]: JsonObject };
        expect(definition.name).toBe(given.name);
        expect(definition.description).toBe(given.description);
        expect(Object.keys(definition.inputSchema.properties as object)).toEqual(
          Object.keys(given.inputSchema?.properties as object),
        );
        expect(definition._meta).toEqual(given._meta);
      }
    },
  );

  it('all in one project', () => {
    expectWhole(prepared(files.flatMap(entriesOf), context));
  });
});

const price: ToolSpec = {
  name: 'get_price',
  description: 'Returns the latest price of a pair. Use it when one price is enough.',
  input: [
    { name: 'symbol', type: 'string', required: true, examples: ['BTC', 'ETH'] },
    { name: 'side', type: 'string', enum: ['buy', 'sell'] },
  ],
  output: [
    { name: 'symbol', type: 'string', required: true },
    { name: 'price', type: 'number', required: true, minimum: 5 },
  ],
  returns: 'record',
};

describe('the samples of a tool', () => {
  it('are selected by the parameter that names one thing, which the answer repeats', () => {
    const [tool] = prepared([price]).tools;
    expect(tool?.keyParameter).toBe('symbol');
    expect(tool?.samples).toEqual([
      { key: 'BTC', answer: { symbol: 'BTC', price: 5 } },
      { key: 'ETH', answer: { symbol: 'ETH', price: 5 } },
    ]);
    expect(tool?.examples).toEqual([
      { arguments: { symbol: 'BTC' }, expect: 'found' },
      { arguments: { symbol: 'unknown' }, expect: 'empty' },
    ]);
  });

  it('do not repeat an argument that the answer has no field for', () => {
    const url = { name: 'url', type: 'string', required: true } as const;
    const [tool] = prepared([{ ...price, input: [url], output: [{ ...url, format: 'uri' }] }]).tools;
    expect(tool?.samples).toEqual([{ key: 'test', answer: { url: 'https://example.com/' } }]);
  });

  it('never expect an empty result for an allowed value', () => {
    const [tool] = prepared([{ ...price, input: price.input.slice(1) }]).tools;
    expect(tool?.samples.map(({ key }) => key)).toEqual([null, 'buy', 'sell']);
    expect(tool?.examples.filter(({ expect }) => expect === 'empty')).toEqual([]);
  });

  it('contain items and their count if a list is returned', () => {
    const [tool] = prepared([{ ...price, returns: 'list' }]).tools;
    expect(tool?.samples[0]?.answer).toEqual({
      items: [{ symbol: 'sample', price: 5 }],
      count: 1,
    });
  });

  it("include the author's own examples", () => {
    const examples = [
      { arguments: { symbol: 'SOL' }, expect: 'found' },
      { arguments: { symbol: 'ETH' }, expect: 'empty' },
      { arguments: {}, expect: 'fail' },
    ] as const;
    const [tool] = prepared([{ ...price, examples }]).tools;
    expect(tool?.samples.map(({ key }) => key)).toEqual(['SOL', 'BTC']);
    expect(tool?.examples).toEqual(examples);
  });

  it.each([
    [{ arguments: { symbol: 7 }, expect: 'found' }, 'arguments.symbol is 7'],
    [{ arguments: { symbol: 'BTC' }, expect: 'fail' }, 'expects a failure'],
  ] as const)('refuse %j', (example, message) => {
    expect(errorsOf({ ...price, examples: [example] })[0]?.message).toContain(message);
  });

  it('refuse an example that contradicts another', () => {
    const examples = [
      { arguments: { symbol: 'BTC', side: 'buy' }, expect: 'found' },
      { arguments: { symbol: 'BTC', side: 'sell' }, expect: 'empty' },
    ] as const;
    expect(errorsOf({ ...price, examples })[0]?.message).toContain(
      'another call with the same symbol finds data',
    );
  });

  it('ask for examples if a pattern is too complex to generate values', () => {
    const output = [
      { name: 'items', type: 'array', items: { type: 'string', pattern: '^(?=x)\\p{Lu}+$' } },
    ] as const;
    expect(errorsOf({ ...price, output: [{ ...output[0], required: true }] })).toEqual([]);
    const definition = {
      name: 'get_x',
      description: 'Returns x.',
      inputSchema: { type: 'object', properties: {}, required: [] },
      outputSchema: {
        type: 'object',
        properties: {
          rows: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^(?=x)\\p{Lu}+$' } },
          at: {
            type: 'object',
            properties: { p: { type: 'string', pattern: '^\\P{L}(?<=§)$' } },
            required: ['p'],
          },
        },
        required: ['at'],
      },
    };
    const [tool] = prepared([definition]).tools;
    expect(tool?.samples[0]?.answer).toEqual({ at: null });
  });
});

describe('a third-party definition', () => {
  const answering = (outputSchema: JsonObject) => ({
    name: 'get_x',
    description: 'Returns x. Use it when x is asked for.',
    inputSchema: { type: 'object', properties: {}, required: [] },
    outputSchema,
  });

  it.each<[JsonObject, JsonObject]>([
    [{ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } }, { result: {} }],
    [
      {
        type: 'object',
        properties: {
          message: { type: 'string' },
          error: { type: 'string' },
          searchExhausted: { type: 'boolean' },
          noResultsReason: { type: 'string' },
        },
        required: ['message', 'error', 'searchExhausted', 'noResultsReason'],
      },
      { message: 'sample', error: null, searchExhausted: null, noResultsReason: null },
    ],
  ])('%j is answered by %j', (outputSchema, answer) => {
    const result = prepared([answering(outputSchema)]);
    expectWhole(result);
    expect(result.tools[0]?.samples).toEqual([{ key: null, answer }]);
  });
});

describe('several tools', () => {
  it.each(['get_price', 'get-price', 'Get_Price', 'getPrice'])(
    'get_price and %s are not distinguished',
    (name) => {
      const [error] = errorsOf(price, { ...price, name });
      expect(error?.where).toBe(`tools[1] (${name}).name`);
    },
  );

  it('report the errors of all at once', () => {
    const errors = errorsOf(
      { name: 'bad name', description: 'x', input: [{ name: 'a', type: 'strng' }], output: [] },
      { name: 'ok', description: 7, inputSchema: { type: 'array' }, outputSchema: { anyOf: [] } },
      { name: 'half', input: [], outputSchema: {} },
    );
    const said = JSON.stringify(errors);
    for (const part of [
      'bad name',
      'strng',
      'string?',
      'tools[0] (bad name).output',
      'tools[1] (ok).description',
      'inputSchema.type',
      'outputSchema',
      'mixes a ToolSpec',
    ]) {
      expect(said).toContain(part);
    }
  });

  it('give advice that does not stop the command', () => {
    const { advice } = prepared([{ ...price, description: 'Price' }], context);
    expect(advice.map(({ where }) => where)).toEqual([
      'get_price.description',
      'get_price.description',
      'get_price.inputSchema.properties.symbol.description',
      'get_price.outputSchema.properties.symbol.description',
    ]);
    for (const { hint } of advice) expect(hint).not.toBe('');
  });
});
