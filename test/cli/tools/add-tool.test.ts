import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { context } from '../../../packages/contract/src/platforms/context.ts';
import { create } from '../../../src/cli/create/command.ts';
import { directory, tree } from '../../project/directory.ts';
import { add, index, listed, namesIn, project, quick, remove, rename, run, specOf, text } from './project.ts';

describe('add-tool', () => {
  it('adds the files, the line in the list and the manifest entries, from any subdirectory, and nothing else', async () => {
    const root = project();
    await listed(root, true);
    const before = tree(root);
    const { exitCode, stdout, stderr } = await add(join(root, 'src/tools'), { tool: 'get_base_fee' });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(
      '✔ src/tools/get-base-fee.ts\n✔ test/tools/get-base-fee.test.ts\n✔ src/tools/index.ts\n',
    );
    expect(stdout).toContain('new get_base_fee');
    expect(stdout).toContain('  1. edit src/tools/get-base-fee.ts  (read() returns sample data');
    expect(stdout).toContain('Refresh Skills');
    const after = tree(root);
    const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
    expect(changed).toEqual([
      'market-mcp.json',
      'src/tools/get-base-fee.ts',
      index,
      'test/tools/get-base-fee.test.ts',
    ]);
    expect(await namesIn(root)).toEqual(['get_gas_price', 'get_base_fee']);
  });

  it('writes the same files as create', async () => {
    const [made, grown] = [directory(), project()];
    const spec = specOf('get_a', 'get_b');
    const switches = { ...quick, install: false, git: false };
    await run(made, false, (output) => create('x', output, { spec, platform: 'context', ...switches }));
    await add(grown, { spec });
    for (const path of ['src/tools/get-a.ts', 'src/tools/get-b.ts', 'test/tools/get-b.test.ts']) {
      expect(text(grown, path)).toBe(text(join(made, 'x'), path));
    }
    const { files } = JSON.parse(text(join(made, 'x'), 'market-mcp.json'));
    expect(JSON.parse(text(grown, 'market-mcp.json')).files).toMatchObject({
      'src/tools/get-a.ts': files['src/tools/get-a.ts'],
    });
  });

  it('prints one JSON object with --json', async () => {
    const root = project();
    await listed(root, true);
    const { stdout } = await add(root, { tool: 'get_fee' }, { json: true });
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      directory: root,
      tools: ['get_fee'],
      unchanged: [],
      files: ['src/tools/get-fee.ts', 'test/tools/get-fee.test.ts', index, 'market-mcp.json'],
      refresh: { refreshNeeded: true, added: ['get_fee'] },
      selfCheck: null,
      undo: expect.stringMatching(/^node .*market-mcp\.js remove-tool get_fee --yes --no-check$/),
    });
  });

  it('changes nothing if the same spec comes again, even if its files were edited', async () => {
    const root = project();
    const spec = specOf('get_a', 'get_b');
    await add(root, { spec });
    writeFileSync(join(root, 'src/tools/get-a.ts'), `${text(root, 'src/tools/get-a.ts')}// mine`);
    const before = tree(root);
    const { exitCode, stdout } = await add(root, { spec });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('nothing to do for get_a, get_b');
    expect(tree(root)).toEqual(before);
  });

  it('adds the new tools of a known spec', async () => {
    const root = project();
    await add(root, { spec: specOf('get_a') });
    const { stdout } = await add(root, { spec: specOf('get_a', 'get_b') }, { json: true });
    expect(JSON.parse(stdout)).toMatchObject({ tools: ['get_b'], unchanged: ['get_a'] });
  });

  it('takes platform hints by flag, and validates them by the profile', async () => {
    const root = project();
    const meta = [
      'surface=both',
      'pricing.executeUsd=0.01',
      'rateLimit.maxRequestsPerMinute=60',
      'latencyClass=fast',
    ];
    expect(await add(root, { tool: 'get_fee', meta })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(text(root, 'src/tools/get-fee.ts')).toContain(
      "surface: 'both',\n    pricing: { executeUsd: '0.01' },",
    );
    const refused = await add(root, {
      tool: 'get_x',
      meta: ['latencyClass=quick', 'rateLimit.maxConcurrency=0'],
    });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('get_x._meta.latencyClass');
    expect(refused.stderr).toContain('get_x._meta.rateLimit.maxConcurrency');
  });

  it('judges a tool together with the existing ones', async () => {
    const root = project();
    const meta = ['rateLimit.recommendedBatchTools=get_gas_price'];
    expect((await add(root, { tool: 'get_a', meta })).exitCode).toBe(0);
    const other = await add(root, { tool: 'get_b', meta: ['rateLimit.recommendedBatchTools=get_none'] });
    expect(other.stderr).toContain('recommendedBatchTools');
  });

  it('uses the profile in the manifest', async () => {
    const root = project();
    const manifest = JSON.parse(text(root, 'market-mcp.json'));
    const profile = JSON.parse(JSON.stringify(context).replace('"instant",', '"quick","instant",'));
    writeFileSync(
      join(root, 'market-mcp.json'),
      JSON.stringify({ ...manifest, answers: { ...manifest.answers, profile } }),
    );
    expect(await add(root, { tool: 'get_x', meta: ['latencyClass=quick'] })).toMatchObject({ exitCode: 0 });
  });
});

const spec = specOf('get_a', 'zz');
it.each<[string, (root: string, dryRun: boolean) => ReturnType<typeof add>]>([
  ['add-tool', (root, dryRun) => add(root, { spec }, { dryRun })],
  ['remove-tool', (root, dryRun) => remove(root, ['get_fee'], { dryRun })],
  ['rename-tool', (root, dryRun) => rename(root, 'get_gas_price', 'get_price', { dryRun })],
])('%s --dry-run prints a diff of exactly the change, and writes nothing', async (_, change) => {
  const [dry, real] = [project(), project()];
  for (const root of [dry, real]) await add(root, { tool: 'get_fee' });
  const before = tree(dry);
  const { stdout } = await change(dry, true);
  expect(tree(dry)).toEqual(before);
  execFileSync('git', ['apply', '-'], { cwd: dry, input: stdout });
  await change(real, false);
  expect(tree(dry)).toEqual(tree(real));
});

it('add-tool --dry-run says that there is nothing to do', async () => {
  const root = project();
  await add(root, { spec });
  expect((await add(root, { spec }, { dryRun: true })).stdout).toBe('nothing to do\n');
});
