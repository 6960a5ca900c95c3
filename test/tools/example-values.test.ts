import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { missingExamples, parseExampleValue, withExamples } from '../../src/tools/example-values.ts';
import { preparedOf } from '../import/prepared.ts';

const description = 'Returns x. Use it when x is asked for.';
const list: readonly JsonObject[] = [
  {
    name: 'get_x',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^[A-Z]{3}$' },
        range: { type: 'object', properties: { from: { type: 'integer', minimum: 5 } }, required: ['from'] },
        free: { type: 'string' },
      },
      required: ['code', 'range', 'free'],
    },
    outputSchema: { type: 'object', properties: { x: { type: 'number' } } },
  },
  {
    name: 'get_y',
    description,
    input: [{ name: 'at', type: 'integer' }],
    output: [{ name: 'y', type: 'number' }],
  },
];

function given(...texts: readonly string[]) {
  const values = texts.map((text) => unwrap(parseExampleValue(text, '--example')));
  return withExamples(list, values, '--example');
}

function wantedIn(entries: readonly JsonObject[]): readonly string[] {
  const { tools } = preparedOf(entries.map(toImportedTool), generic);
  return missingExamples(tools).map(({ tool, parameter }) => `${tool}.${parameter}`);
}

describe("the author's examples for a list of tools", () => {
  it("are requested if a required parameter refuses the value of the marketplace's test", () => {
    expect(wantedIn(list)).toEqual(['get_x.code', 'get_x.range']);
  });

  it('replace placeholders', () => {
    const entries = unwrap(given('get_x.code=ABC', 'get_x.range={"from":7}', 'get_y.at=3'));
    expect(wantedIn(entries as readonly JsonObject[])).toEqual([]);
    expect(entries).toMatchObject([
      { inputSchema: { properties: { code: { examples: ['ABC'] }, range: { examples: [{ from: 7 }] } } } },
      { input: [{ examples: [3] }] },
    ]);
  });

  it.each([
    ['get_x.code=abc', 'expected to match pattern', 'Write a valid value'],
    ['get_y.at=three', 'expected type integer', 'Write a valid value'],
    ['get_x.cod=ABC', 'cod is not a parameter of get_x', 'Did you mean code?'],
    ['get_z.code=ABC', 'get_z is not one of the selected tools', 'Did you mean get_x?'],
  ])('are refused as %s', (text, message, hint) => {
    const result = given(text);
    const [error] = result.ok ? [] : result.errors;
    expect(error?.message).toContain(message);
    expect(error?.hint).toContain(hint);
  });

  it.each(['get_x', 'get_x.code', '=5'])('are not written %s', (text) => {
    expect(parseExampleValue(text, '--example')).toMatchObject({ ok: false });
  });
});

it('an example of a parameter that refers to a member of the parameter value is accepted', () => {
  const entry: JsonObject = {
    name: 'get_z',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        value: {
          type: 'object',
          properties: { code: { type: 'string', pattern: '^[A-Z]{3}$' } },
          required: ['code'],
        },
        code: { $ref: '#/properties/value/properties/code' },
      },
      required: ['value', 'code'],
    },
    outputSchema: { type: 'object', properties: { z: { type: 'number' } } },
  };
  const example = (text: string) =>
    withExamples([entry], [{ tool: 'get_z', parameter: 'code', text }], '--example');
  expect(example('NOK').ok).toBe(true);
  expect(example('nok').ok).toBe(false);
  expect(example('{"a":1}')).toMatchObject({ errors: [{ message: expect.stringContaining('type string') }] });
});
