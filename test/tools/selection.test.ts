import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { toImportedTool } from '../../src/import/imported-tool.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { selectTools, type ToolSelection } from '../../src/tools/selection.ts';
import { preparedOf } from '../import/prepared.ts';

const tool = (name: string, members: JsonObject = {}): JsonObject => ({
  name,
  description: `Returns ${name}. Use it when ${name} is asked for.`,
  inputSchema: { type: 'object' },
  ...members,
});
const outputSchema = { type: 'object', properties: { a: { type: 'number' } } };
const list = [tool('get_a', { outputSchema }), tool('get_b'), tool('get_c', { outputSchema })];

function selected(selection: Partial<ToolSelection>) {
  const result = selectTools(list, { only: [], except: [], ...selection });
  if (!result.ok) return { errors: result.errors };
  const { entries, changes } = result.value;
  return { names: entries.map(({ name }) => name), changes, entries };
}

describe('a selection from a list of tools', () => {
  it.each([
    [{}, ['get_a', 'get_b', 'get_c'], []],
    [{ only: ['get_c', 'get_a'] }, ['get_a', 'get_c'], [['get_b', 'not named by --only']]],
    [{ except: ['get_b'] }, ['get_a', 'get_c'], [['get_b', 'excluded by --except']]],
    [
      { only: ['get_a', 'get_b'], except: ['get_b'] },
      ['get_a'],
      [
        ['get_b', 'excluded by --except'],
        ['get_c', 'not named by --only'],
      ],
    ],
  ])('%j selects %j and gives the reason for the others', (selection, names, left) => {
    const result = selected(selection);
    expect(result.names).toEqual(names);
    expect(result.changes?.map((change) => [change.tool, change.why])).toEqual(left);
  });

  it.each<[Partial<ToolSelection>, string, string]>([
    [{ only: ['get_x'] }, '--only', 'Did you mean get_a?'],
    [{ except: ['nothing_like_it'] }, '--except', 'The list contains get_a, get_b or get_c.'],
    [{ except: ['get_a', 'get_b', 'get_c'] }, '--except', 'Keep at least one'],
    [{ output: [] }, '--output', '--only <tool>'],
    [{ only: ['get_a'], output: [] }, '--output', 'Remove --output'],
  ])('%j is refused', (selection, where, hint) => {
    const [error] = selected(selection).errors ?? [];
    expect(error).toMatchObject({ where, hint: expect.stringContaining(hint) });
  });

  it('gives each tool without an output the text of its answer, and says so of each', () => {
    const spec = { name: 'get_d', description: 'Returns d. Use it when d is asked for.', input: [] };
    const given = [...list, tool('get_n', { outputSchema: null }), spec];
    const { entries, changes } = unwrap(
      selectTools(given, { only: [], except: ['get_c'], outputText: true }),
    );
    const text = { tool: 'get_b', path: 'outputSchema', what: 'became one text, result' };
    expect(changes).toMatchObject([
      { tool: 'get_c', why: 'excluded by --except' },
      { ...text, why: 'the file does not say what the tool returns' },
      { ...text, tool: 'get_n' },
      { ...text, tool: 'get_d' },
    ]);
    const { tools } = preparedOf(entries.map(toImportedTool), generic);
    const outputs = tools.map(({ definition }) => definition.outputSchema);
    const resultSchema = { type: ['string', 'null'], description: 'What the tool answers, as text.' };
    expect(outputs[0]?.properties).toMatchObject({ a: { type: 'number' } });
    for (const output of outputs.slice(1))
      expect(output).toMatchObject({ properties: { result: resultSchema }, required: ['result'] });
  });

  it('gives one tool an output, as a record or a list', () => {
    const output = [{ name: 'price', type: 'number', required: true }] as const;
    for (const returns of ['record', 'list'] as const) {
      const { entries = [] } = selected({ only: ['get_b'], output, returns });
      const [prepared] = preparedOf(entries.map(toImportedTool), generic).tools;
      expect(prepared?.samples[0]?.answer).toEqual(
        returns === 'record' ? { price: 1 } : { items: [{ price: 1 }], count: 1 },
      );
    }
  });
});

describe('a list with invalid tools', () => {
  it('lists the valid ones, and every error of the others', () => {
    const others = [tool('bad_schema', { outputSchema: { type: 'array' } }), tool('get_a', { outputSchema })];
    const result = prepareTools([...list, ...others].map(toImportedTool), generic);
    expect(result).toMatchObject({ ok: false, accepted: ['get_c'] });
    const errors = result.ok ? [] : result.errors.map((error) => `${error.tool} ${error.where}`);
    expect(errors).toEqual([
      'get_b tools[1] (get_b).outputSchema',
      'bad_schema tools[3] (bad_schema).outputSchema.type',
      'get_a tools[4] (get_a).name',
    ]);
  });

  it('suggests how to import a tool without an output', () => {
    const result = prepareTools(list.map(toImportedTool), generic);
    const [error] = result.ok ? [] : result.errors;
    expect(error?.hint).toContain("--only get_b --output '");
  });
});
