import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planUpgrade } from '../../../src/changes/upgrade/plan-upgrade.ts';
import { apiDocuments } from '../../import/api-documents.ts';
import { created } from '../../project/created.ts';
import { directory, tree } from '../../project/directory.ts';
import { add, index, namesIn, project, put, remove, rename, run, specOf, text } from './project.ts';

const [old, next] = ['src/tools/get-gas-price.ts', 'src/tools/get-fee.ts'];

/** The files without package.json and its hash: its description lists the tools as they were at creation. */
function comparable(root: string) {
  const { 'package.json': _, ...files } = tree(root);
  const { 'package.json': _hash, ...recorded } = JSON.parse(files['market-mcp.json'] ?? '').files;
  const manifest = JSON.parse(files['market-mcp.json'] ?? '');
  return { ...files, 'market-mcp.json': { ...manifest, files: recorded } };
}

describe('rename-tool', () => {
  it('gives the project that a creation with the new name gives', async () => {
    const described = { description: ['Returns the fee of a chain, in gwei.'], title: 'Fee' };
    const [root, other] = [
      await created({ tool: 'get_gas_price', ...described }),
      await created({ tool: 'get_fee', ...described }),
    ];
    const ran = await rename(root, 'get_gas_price', 'get_fee');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).toContain(`✔ ${old} → ${next}`);
    expect(ran.stdout).toMatch(/sees that get_gas_price was removed and get_fee was added/);
    expect(ran.stdout).not.toContain('is still in');
    expect(comparable(root)).toEqual(comparable(other));
    expect((await planUpgrade(root)).change).toBe(null);
  });

  it('keeps the place in the list, and can be undone to the byte, including compiled files', async () => {
    const root = project();
    await add(root, { spec: specOf('get_a', 'get_b', 'get_c') });
    const before = tree(root);
    put(root, 'dist/src/tools/get-a.js', '');
    put(root, 'dist/test/tools/get-a.test.js', '');
    expect((await rename(root, 'get_a', 'lastBlock')).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'lastBlock', 'get_b', 'get_c']);
    expect(Object.keys(tree(join(root, 'dist')))).toEqual([]);
    expect((await rename(root, 'lastBlock', 'get_a')).exitCode).toBe(0);
    expect(tree(root)).toEqual(before);
  });

  it('names with --json what it moves', async () => {
    const { stdout } = await rename(project(), 'get_gas_price', 'get_fee', { dryRun: true, json: true });
    expect(JSON.parse(stdout)).toMatchObject({
      renamed: { from: 'get_gas_price', to: 'get_fee' },
      moved: { [old]: next, 'test/tools/get-gas-price.test.ts': 'test/tools/get-fee.test.ts' },
    });
  });

  it('keeps every other byte of edited files, in any encoding, and they still count as edited', async () => {
    const root = project();
    const tool = text(root, old)
      .replaceAll('\n', '\r\n')
      .replace("name: 'get_gas_price'", 'name\t: "get_gas_price"');
    const bytes = Buffer.concat([Buffer.from('// 5 \xa3 get_gas_price\r\n', 'latin1'), Buffer.from(tool)]);
    writeFileSync(join(root, old), bytes);
    chmodSync(join(root, old), 0o755);
    const mine =
      "export { default } from '../tools/get-gas-price.ts';\nimport('../tools/get-gas-price.js');\n// 🚀\xa3";
    put(root, 'src/lib/mine.ts', mine);
    const ran = await rename(root, 'get_gas_price', 'get_fee');
    expect(ran.stdout).toContain(`get_gas_price is still in ${next}: `);
    const expected = bytes.toString('latin1').replace('"get_gas_price"', '"get_fee"');
    const renamed = readFileSync(join(root, next)).toString('latin1');
    expect(renamed).toBe(expected.replace("console.error('get_gas_price'", "console.error('get_fee'"));
    expect(statSync(join(root, next)).mode & 0o777).toBe(0o755);
    expect(text(root, 'src/lib/mine.ts')).toBe(mine.replaceAll('get-gas-price', 'get-fee'));
    expect(JSON.parse(text(root, 'market-mcp.json')).files).not.toHaveProperty('src/lib/mine.ts');
    await add(root, { tool: 'other' });
    expect((await remove(root, ['get_fee'])).stderr).toContain(`${next} would be lost`);
  });

  it.each([
    ['a constant', "const id = 'mine';\nexport default defineTool({ name: id });\n"],
    ['a shorthand', 'const name = `mine`;\nexport default defineTool({ name });\n'],
    [
      'another literal before it',
      "const a = ['mine'];\nexport default defineTool({ description: 'mine', name: 'mine' });\n",
    ],
  ])('finds a name that is written as %s, in a subdirectory', async (_, source) => {
    const root = project();
    put(root, 'src/tools/below/odd.ts', source);
    expect((await rename(root, 'mine', 'yours')).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'yours']);
    expect(Object.keys(tree(join(root, 'src/tools/below')))).toEqual(['yours.ts']);
    expect(text(root, index)).toContain("'./below/yours.ts'");
    expect(text(root, 'src/tools/below/yours.ts').split('mine')).toHaveLength(
      source.split('mine').length - 1,
    );
  });

  it('leaves the file if only the writing of the name changes', async () => {
    const root = project();
    expect((await rename(root, 'get_gas_price', 'getGasPrice')).exitCode).toBe(0);
    expect(await namesIn(root)).toEqual(['getGasPrice']);
    expect(text(root, old)).toContain("name: 'getGasPrice'");
  });

  it('keeps recordings and requests of a tool that calls an API', async () => {
    const [gas] = apiDocuments;
    if (!gas) throw new Error('no document');
    const document = join(directory(), gas.file);
    writeFileSync(document, gas.text);
    const root = await created({ fromOpenapi: document, operation: [gas.operation] });
    const [before] = await namesIn(root);
    const recordings = tree(join(root, 'test/recordings'));
    expect((await rename(root, before, 'get_fee')).exitCode).toBe(0);
    expect(tree(join(root, 'test/recordings'))).toEqual(recordings);
    expect(text(root, 'README.md')).toContain('src/tools/get-fee.ts');
    expect((await planUpgrade(root)).change).toBe(null);
  });

  it('names a document that it cannot change', async () => {
    const root = project();
    put(root, 'README.md', text(root, 'README.md').replaceAll('call get_gas_price', 'ask get_gas_price!'));
    const { exitCode, stdout } = await rename(root, 'get_gas_price', 'get_fee');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('README.md: was left as you edited it (replace get_gas_price by get_fee there)');
    expect(text(root, 'README.md')).toContain('ask get_gas_price!');
  });

  it('reports a removal and an addition to what the marketplace last read', async () => {
    const root = project();
    const { runList: list } = await import('../../../src/cli/commands/list.ts');
    await run(root, true, (output) => list(output, { markListed: true }));
    const { stdout } = await rename(root, 'get_gas_price', 'get_fee', { json: true });
    expect(JSON.parse(stdout).refresh).toEqual({
      refreshNeeded: true,
      added: ['get_fee'],
      changed: [],
      removed: ['get_gas_price'],
    });
  });

  it.each([
    ['get_gas_prize', 'get_fee', 'NO_SUCH_TOOL', 'Did you mean get_gas_price?'],
    ['get_gas_price', 'get_gas_price', 'SAME_NAME', 'already called get_gas_price'],
    ['get_gas_price', 'GET_gas_price', 'SAME_NAME', 'differ only in case'],
    ['get_gas_price', 'other', 'TOOL_EXISTS', 'other in src/tools/other.ts'],
    ['get_gas_price', 'OTHER', 'TOOL_EXISTS', 'other in src/tools/other.ts'],
    ['get_gas_price', 'my_helper', 'TOOL_EXISTS', 'src/tools/My_Helper.ts'],
    ['get_gas_price', 'tested', 'TOOL_EXISTS', 'test/tools/tested.test.ts'],
    ['below', 'taken', 'TOOL_EXISTS', 'src/tools/fees/taken.ts'],
    ['get_gas_price', '../evil', 'INVALID_INPUT', '<new>'],
    ['get_gas_price', 'con', 'INVALID_INPUT', '<new>'],
    ['get_gas_price', '', 'INVALID_INPUT', 'has no name'],
    ['computed', 'get_fee', 'NAME_NOT_FOUND', 'src/tools/computed.ts does not contain'],
    ['joined', 'get_fee', 'NAME_NOT_FOUND', 'src/tools/joined.ts does not contain'],
  ])('refuses %s → %s with %s, and writes nothing', async (from, to, code, words) => {
    const root = project();
    await add(root, { tool: 'other' });
    put(root, 'src/tools/My_Helper.ts', 'export const one = 1;\n');
    put(root, 'test/tools/tested.test.ts', '');
    put(root, 'src/tools/computed.ts', 'export default defineTool({ name: `${process.argv}` });\n');
    put(root, 'src/tools/joined.ts', "export default defineTool({ name: 'joi' + 'ned' });\n");
    put(root, 'src/tools/fees/below.ts', "export default defineTool({ name: 'below' });\n");
    put(root, 'src/tools/fees/taken.ts', '');
    const before = tree(root);
    const { exitCode, stdout, stderr } = await rename(root, from, to, { json: true });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' });
    expect(JSON.parse(stdout).error.code).toBe(code);
    expect(JSON.stringify(JSON.parse(stdout).error)).toContain(words);
    expect(tree(root)).toEqual(before);
  });

  it('refuses an edited list of tools', async () => {
    const root = project();
    writeFileSync(join(root, index), `${text(root, index)}export const more = 1;\n`);
    const before = tree(root);
    expect((await rename(root, 'get_gas_price', 'get_fee')).stderr).toContain('was edited by hand');
    expect(tree(root)).toEqual(before);
  });
});
