import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tree } from '../../project/directory.ts';
import { add, index, namesIn, project, put, remove, specOf, text } from './project.ts';

describe('the list of tools', () => {
  it('includes a tool that its author wrote by hand', async () => {
    const root = project();
    put(
      root,
      'src/tools/mine.ts',
      `${text(root, 'src/tools/get-gas-price.ts')}`.replace("'get_gas_price'", "'mine'"),
    );
    put(root, 'src/tools/helper.ts', 'export default 1;\n');
    expect((await add(root, { tool: 'get_fee' })).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'get_fee', 'mine']);
    const { tools } = JSON.parse(text(root, 'market-mcp.json')).answers;
    expect(tools).toEqual(['get_gas_price', 'get_fee', 'mine']);
  });

  it('keeps tools of subdirectories, and includes new ones', async () => {
    const root = project();
    const named = (name: string) =>
      text(root, 'src/tools/get-gas-price.ts')
        .replace("'get_gas_price'", `'${name}'`)
        .replace("'../server/", "'../../server/");
    put(root, 'src/tools/fees/tip.ts', named('get_tip'));
    put(root, 'src/tools/fees/lib/format.ts', 'export const digits = 2;\n');
    const listed = text(root, index)
      .replace('\nimport getGas', "\nimport feesTip from './fees/tip.ts';\nimport getGas")
      .replace('[\n', '[\n  feesTip,\n');
    writeFileSync(join(root, index), listed);
    put(root, 'src/tools/fees/later.ts', named('get_later'));
    expect((await add(root, { tool: 'get_fee' })).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_tip', 'get_gas_price', 'get_fee', 'get_later']);
    expect((await add(root, { tool: 'get_tip' })).stderr).toContain('several tools are called "get_tip"');
    expect((await remove(root, ['get_fee'])).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_tip', 'get_gas_price', 'get_later']);
    expect((await remove(root, ['get_tip'], { force: true })).exitCode).toBe(0);
    expect(Object.keys(tree(join(root, 'src/tools/fees')))).toEqual(['later.ts', 'lib/format.ts']);
  });

  it('does not leave out a tool whose file is a link', async () => {
    const root = project();
    renameSync(join(root, 'src/tools/get-gas-price.ts'), join(root, 'moved.ts'));
    symlinkSync('../../moved.ts', join(root, 'src/tools/get-gas-price.ts'));
    const before = tree(root);
    expect((await add(root, { tool: 'get_fee' })).stderr).toContain('get-gas-price.ts is a link');
    expect(tree(root)).toEqual(before);
  });

  it("keeps the author's order, whatever the names are", async () => {
    const root = project();
    expect((await add(root, { spec: specOf('zeta', 'alpha', 'mid') })).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'zeta', 'alpha', 'mid']);
    expect((await remove(root, ['zeta'])).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'alpha', 'mid']);
    const { tools } = JSON.parse(text(root, 'market-mcp.json')).answers;
    expect(tools).toEqual(['get_gas_price', 'alpha', 'mid']);
  });

  it('takes a part of a spec, and lists the omitted tools', async () => {
    const root = project();
    const tool = (name: string, members: object) => ({
      name,
      description: `Returns ${name}. Use it when ${name} is asked for.`,
      inputSchema: { type: 'object', properties: {}, required: [] },
      ...members,
    });
    const outputSchema = { type: 'object', properties: { a: { type: 'number' } } };
    const list = {
      tools: [tool('get_a', { outputSchema }), tool('get_b', {}), tool('get_c', { outputSchema })],
    };
    put(root, 'tools.json', JSON.stringify(list));
    const before = tree(root);

    const refused = await add(root, { spec: 'tools.json' }, { json: true });
    expect(refused.exitCode).toBe(2);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: 'INVALID_INPUT',
      hint: expect.stringContaining('--except get_b'),
      taken: ['get_a', 'get_c'],
      refused: [{ tool: 'get_b', message: expect.stringContaining('is missing') }],
    });
    expect(tree(root)).toEqual(before);

    const part = await add(root, { spec: 'tools.json', except: ['get_b'] }, { json: true });
    expect(JSON.parse(part.stdout)).toMatchObject({
      tools: ['get_a', 'get_c'],
      changes: expect.arrayContaining([
        { tool: 'get_b', path: 'tools[1]', what: 'is not imported', why: 'excluded by --except' },
      ]),
    });
    const flags = { spec: 'tools.json', only: ['get_b'], output: ['price:number Price in USD'] };
    expect((await add(root, flags)).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'get_a', 'get_c', 'get_b']);
  });

  it('may be reordered by hand', async () => {
    const root = project();
    await add(root, { tool: 'get_fee' });
    const lines = text(root, index).split('\n');
    const swap = (name: string, other: string) => {
      const [a, b] = [name, other].map((part) => lines.findIndex((line) => line.includes(part)));
      [lines[a ?? 0], lines[b ?? 0]] = [lines[b ?? 0] ?? '', lines[a ?? 0] ?? ''];
    };
    swap('import getGasPrice', 'import getFee');
    swap('  getGasPrice,', '  getFee,');
    writeFileSync(join(root, index), lines.join('\n'));
    expect((await add(root, { tool: 'get_tip' })).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_fee', 'get_gas_price', 'get_tip']);
  });

  it.each([
    ['other quotes, no semicolons', (before: string) => before.replaceAll("'", '"').replaceAll(';', '')],
    ['one line for all', (before: string) => before.replace(/\[\n {2}(\w+),\n\]/, '[$1]')],
    ['no final newline', (before: string) => before.trimEnd()],
  ])('may be formatted with %s', async (_, edit) => {
    const root = project();
    writeFileSync(join(root, index), edit(text(root, index)));
    expect(await add(root, { tool: 'get_fee' })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await namesIn(root)).toEqual(['get_gas_price', 'get_fee']);
  });

  it('keeps its byte order mark and line ends', async () => {
    const [plain, windows] = [project(), project()];
    writeFileSync(join(windows, index), `\ufeff${text(windows, index).replaceAll('\n', '\r\n')}`);
    await add(plain, { tool: 'get_fee' });
    await add(windows, { tool: 'get_fee' });
    expect(text(windows, index)).toBe(`\ufeff${text(plain, index).replaceAll('\n', '\r\n')}`);
  });

  it.each([
    ['a statement', (before: string) => `${before}console.log(tools);\n`, 'console.log(tools);'],
    ['a comment', (before: string) => before.replace('import', '// mine\nimport'), '// mine'],
    [
      'a condition',
      (before: string) => before.replace('  getGasPrice,', '  ...(on ? [getGasPrice] : []),'),
      '...(on',
    ],
    [
      'a tool taken out',
      (before: string) => before.replace(/import getGasPrice.*\n| {2}getGasPrice,\n/g, ''),
      'get-gas-price.ts',
    ],
  ])('is not overwritten if its author added %s', async (_, edit, found) => {
    const root = project();
    writeFileSync(join(root, index), edit(text(root, index)));
    const before = tree(root);
    for (const ran of [await add(root, { tool: 'get_fee' }), await remove(root, ['get_gas_price'])]) {
      expect(ran.exitCode).toBe(2);
      expect(tree(root)).toEqual(before);
    }
    const { stdout } = await add(root, { tool: 'get_fee' }, { json: true });
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'INDEX_EDITED',
      message: expect.stringContaining(found),
    });
  });
});
