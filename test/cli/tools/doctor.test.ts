import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctor } from '../../../src/cli/commands/doctor.ts';
import { add, index, project, put, remove, run, text } from './project.ts';

/** What doctor says of the tools. */
async function problems(root: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await run(root, true, doctor);
  const { tools, problems, ok } = JSON.parse(stdout);
  expect(problems).toEqual(expect.arrayContaining(tools));
  expect([ok, exitCode]).toEqual(problems.length === 0 ? [true, 0] : [false, 1]);
  return tools;
}

describe('doctor', () => {
  it('finds no difference between the list of tools and the files of a project', async () => {
    const root = project();
    expect(await problems(root)).toEqual([]);
    await add(root, { tool: 'get_fee' });
    await remove(root, ['get_gas_price']);
    put(root, 'src/tools/helper.ts', 'export default 1;\n');
    expect(await problems(root)).toEqual([]);
  });

  it.each(['get-fee', 'below/get-fee'])(
    'names %s, which the list imports and which does not exist',
    async (file) => {
      const root = project();
      await add(root, { tool: 'get_fee' });
      writeFileSync(join(root, index), text(root, index).replace('./get-fee', `./${file}`));
      rmSync(join(root, 'src/tools/get-fee.ts'));
      expect(await problems(root)).toEqual([
        expect.stringContaining(`src/tools/index.ts imports src/tools/${file}.ts, which does not exist`),
      ]);
    },
  );

  it.each(['mine.ts', 'below/mine.ts'])('names the tool in %s that is not in the list', async (file) => {
    const root = project();
    put(root, `src/tools/${file}`, "export default defineTool({ name: 'mine' });\n");
    expect(await problems(root)).toEqual([
      `src/tools/${file} exports a tool that is not in src/tools/index.ts, so it is not served`,
    ]);
  });

  it('names a tool of the manifest that has no file', async () => {
    const root = project();
    const manifest = JSON.parse(text(root, 'market-mcp.json'));
    manifest.answers.tools.push('get_fee');
    writeFileSync(join(root, 'market-mcp.json'), JSON.stringify(manifest));
    expect(await problems(root)).toEqual([
      expect.stringMatching(/^market-mcp.json names the tool get_fee, which has no file/),
    ]);
    put(root, 'src/tools/get-fee.ts', 'const name = `get_${1}`;\nexport default defineTool({ name });\n');
    expect(await problems(root)).toEqual([expect.stringContaining('is not served')]);
  });

  it('says that there is no list of tools', async () => {
    const root = project();
    rmSync(join(root, index));
    expect(await problems(root)).toEqual([expect.stringMatching(/index.ts cannot be read \(ENOENT\)/)]);
  });
});
