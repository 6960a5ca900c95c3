import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runList } from '../../../src/cli/commands/list.ts';
import { bins } from '../../e2e/support.ts';
import { add, listed, project, put, remove, run, text } from './project.ts';

/** All control and direction characters but the line feed. */
const unsafe = /(?!\n)[\p{Cc}\p{Cf}]/u;

describe('an untrusted project', () => {
  it.each([
    ['market-mcp.json', 'a pipe', true],
    ['src/tools/index.ts', 'a device', true],
    ['src/tools/get-gas-price.ts', 'a pipe', false],
    ['src/platform.ts', 'a device', false],
  ])('is refused at once where %s is %s', (path, what, isNamed) => {
    const root = project();
    rmSync(join(root, path));
    if (what === 'a pipe') execFileSync('mkfifo', [join(root, path)]);
    else symlinkSync('/dev/zero', join(root, path));
    const options = { cwd: root, timeout: 120_000, encoding: 'utf8' } as const;
    const ended = spawnSync(process.execPath, [bins.market, 'list'], options);
    expect(ended.signal).toBeNull();
    expect(ended.status, ended.stderr).toBeLessThanOrEqual(2);
    if (isNamed) expect(ended.stderr).toContain(path);
  });

  it('causes no output that a terminal would interpret', async () => {
    const root = project();
    const path = 'src/tools/get-gas-price.ts';
    const source = text(root, path).replace(
      "description: 'Returns",
      "description: 'Returns\u001b]52;c;eA==\u0007\u009b31m\u202e",
    );
    put(root, path, source);
    expect(text(root, path)).toMatch(unsafe);
    const asText = await run(root, false, (output) => runList(output, { markListed: false }));
    const asJson = await run(root, true, (output) => runList(output, { markListed: false }));
    await add(root, { tool: 'get_other' });
    const removal = await remove(root, ['get_gas_price'], { dryRun: true, force: true });
    for (const { stdout, stderr } of [asText, asJson, removal]) expect(stdout + stderr).not.toMatch(unsafe);
    expect((await listed(root)).tools[0].description).toContain('\u202e');
  });

  it('gets a dry run whose JSON contains the exact diff if the printed one cannot be applied', async () => {
    const root = project();
    await add(root, { tool: 'get_other' });
    put(root, 'src/tools/get-gas-price.ts', `${text(root, 'src/tools/get-gas-price.ts')}// \u001b[31m\n`);
    const shown = await remove(root, ['get_gas_price'], { dryRun: true, force: true });
    expect(shown.stdout).toContain('-// \\u{1b}[31m');
    expect(shown.stdout).toContain('Use --json for the exact diff');
    const json = await remove(root, ['get_gas_price'], { dryRun: true, force: true, json: true });
    expect(json.stdout).not.toMatch(unsafe);
    expect(JSON.parse(json.stdout).diff).toContain('-// \u001b[31m\n');
  });
});
