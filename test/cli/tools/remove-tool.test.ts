import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tree } from '../../project/directory.ts';
import { add, project, put, remove, specOf, text } from './project.ts';

describe('remove-tool', () => {
  it('undoes add-tool to the byte, including compiled files', async () => {
    const root = project();
    const before = tree(root);
    await add(root, { spec: specOf('get_a', 'get_b') });
    put(root, 'dist/test/tools/get-a.test.js', '');
    put(root, 'dist/src/tools/get-b.js', '');
    expect(await remove(root, ['get_a', 'get_b'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(tree(root)).toEqual(before);
  });

  it('keeps edited files unless --force is given', async () => {
    const root = project();
    await add(root, { tool: 'get_fee' });
    const path = 'src/tools/get-fee.ts';
    writeFileSync(join(root, path), `${text(root, path)}// mine`);
    const before = tree(root);
    const refused = await remove(root, ['get_fee']);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(`${path} would be lost`);
    expect(tree(root)).toEqual(before);
    expect((await remove(root, ['get_fee'], { force: true })).exitCode).toBe(0);
    expect(tree(root)[path]).toBeUndefined();
  });

  it('ignores changed line ends', async () => {
    const root = project();
    await add(root, { tool: 'get_fee' });
    const path = 'src/tools/get-fee.ts';
    writeFileSync(join(root, path), text(root, path).replaceAll('\n', '\r\n'));
    const { stdout } = await remove(root, ['get_fee'], { dryRun: true });
    execFileSync('git', ['apply', '--check', '-'], { cwd: root, input: stdout });
    expect((await remove(root, ['get_fee'])).exitCode).toBe(0);
  });

  it.each([
    [['get_gas_price'], 'LAST_TOOL'],
    [['get_gas_prize'], 'NO_SUCH_TOOL'],
    [['../../package'], 'NO_SUCH_TOOL'],
    [['index'], 'NO_SUCH_TOOL'],
  ])('refuses %j', async (names, code) => {
    const root = project();
    const before = tree(root);
    const { exitCode, stdout } = await remove(root, names, { json: true, force: true });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.code).toBe(code);
    expect(tree(root)).toEqual(before);
  });
});
