import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Flags } from '../../../src/questions/read-flags.ts';
import type { ToolQuestionAnswers } from '../../../src/questions/tool-questions.ts';
import { directory, tree } from '../../project/directory.ts';
import { add, index, project, put, remove, rename, specOf } from './project.ts';

describe('add-tool refuses, and writes nothing', () => {
  it.each<[string, Flags<ToolQuestionAnswers>, string]>([
    ['a tool that is there', { tool: 'get_gas_price', output: ['x:number'] }, 'TOOL_EXISTS'],
    ['one that differs by dashes', { tool: 'get-gas-price' }, 'TOOL_EXISTS'],
    ['one that differs by case', { tool: 'GET_gas_Price' }, 'TOOL_EXISTS'],
    ['one in other words of the same file', { tool: 'getGasPrice' }, 'TOOL_EXISTS'],
    ['the file of a helper', { tool: 'my_helper' }, 'TOOL_EXISTS'],
    ['the file of a test', { tool: 'tested' }, 'TOOL_EXISTS'],
    ['the name of a tool in a file of another name', { tool: 'renamed' }, 'TOOL_EXISTS'],
    ['the list of tools', { tool: 'index' }, 'INVALID_INPUT'],
    ['a device', { tool: 'con' }, 'INVALID_INPUT'],
    ['a path', { tool: '../evil' }, 'INVALID_INPUT'],
    ['a path below', { tool: 'a/b' }, 'INVALID_INPUT'],
    ['no name', { tool: '' }, 'INVALID_INPUT'],
    ['a look-alike', { tool: 'pаy' }, 'INVALID_INPUT'],
    ['a name and a spec', { tool: 'a', spec: 'x.json' }, 'INVALID_INPUT'],
    ['a spec that is not there', { spec: 'none.json' }, 'NOT_READABLE'],
    ['a field that is none', { tool: 'a', output: ['x:strng'] }, 'INVALID_INPUT'],
  ])('%s', async (_, flags, code) => {
    const root = project();
    put(root, 'src/tools/My_Helper.ts', 'export const one = 1;\n');
    put(root, 'test/tools/tested.test.ts', '');
    put(root, 'src/tools/odd.ts', "export default defineTool({ name: 'renamed' });\n");
    const before = tree(root);
    const { exitCode, stdout, stderr } = await add(root, flags, { json: true });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' });
    expect(JSON.parse(stdout).error.code).toBe(code);
    expect(tree(root)).toEqual(before);
  });

  it('all tools of a spec if one is invalid', async () => {
    const root = project();
    const before = tree(root);
    const { stderr } = await add(root, { spec: specOf('get_a', 'get_gas_price', 'get_b') });
    expect(stderr).toContain('get_gas_price already exists: get_gas_price in src/tools/get-gas-price.ts');
    expect(tree(root)).toEqual(before);
  });

  it.each(['src/tools', 'test/tools', 'src'])('%s that is a link', async (place) => {
    const [root, elsewhere] = [project(), directory()];
    renameSync(join(root, place), join(elsewhere, 'moved'));
    symlinkSync(join(elsewhere, 'moved'), join(root, place));
    const before = tree(elsewhere);
    const { exitCode, stderr } = await add(root, { tool: 'get_fee' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('is a link');
    expect(tree(elsewhere)).toEqual(before);
  });

  it('to run outside of a project, or in a project of another generator', async () => {
    const nowhere = directory();
    expect((await add(nowhere, { tool: 'a' })).stderr).toMatch(
      /there is no market-mcp.json in .*create-market-mcp/s,
    );
    put(nowhere, 'package.json', '{}');
    put(nowhere, 'src/tools/index.ts', 'export const tools = [];');
    const { exitCode, stderr } = await add(join(nowhere, 'src/tools'), { tool: 'a' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`the project in ${nowhere} was not created by this program`);
    expect(Object.keys(tree(nowhere))).toEqual(['package.json', 'src/tools/index.ts']);
  });

  it.each([
    ['is damaged', '{"schema":1', 'MANIFEST_DAMAGED'],
    ['names an unknown profile', undefined, 'PROFILE_DAMAGED'],
  ])('a project whose manifest %s', async (_, content, code) => {
    const root = project();
    const file = join(root, 'market-mcp.json');
    const misnamed = readFileSync(file, 'utf8').replace(/"profile": "\w+"/, '"profile": "nowhere"');
    writeFileSync(file, content ?? misnamed);
    const { exitCode, stdout } = await add(root, { tool: 'get_fee' }, { json: true });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.code).toBe(code);
  });

  it('a project without a list of tools', async () => {
    const root = project();
    rmSync(join(root, index));
    expect((await add(root, { tool: 'get_fee' })).stderr).toContain('cannot be read (ENOENT)');
  });
});

it.each<[string, (root: string) => ReturnType<typeof add>, string]>([
  ['add-tool', (root) => add(root, {}, { yes: false }), '[name], --description <text>, --output <field>'],
  ['remove-tool', (root) => remove(root, ['get_fee'], { yes: false }), '--yes'],
  ['rename-tool', (root) => rename(root, 'get_fee', 'get_price', { yes: false }), '--yes'],
])('%s does not guess if nobody can be asked, and writes nothing', async (_, change, named) => {
  const root = project();
  await add(root, { tool: 'get_fee' });
  const before = tree(root);
  expect(await change(root)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(named) });
  expect(tree(root)).toEqual(before);
});
