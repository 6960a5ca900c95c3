import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bins, run, scratch } from '../e2e/support.ts';
import { seed } from '../random.ts';
import type { Edit } from './edits.ts';
import { oldProgram } from './old-program.ts';
import { bytesOf, oldProject, resultOf, upgrade } from './scenario.ts';

it('0.2.0, which is installed in the project, does not continue an upgrade of this version', async () => {
  const version = '0.2.0';
  const root = scratch();
  const everyLine: Edit = {
    name: '.env.example: every line',
    make: (p) => p.change('.env.example', (text) => text.replaceAll('\n', ' mine\n')),
  };
  const { project } = await oldProject({ root, version, index: 0, seed, chosen: [everyLine] });
  expect(resultOf(await upgrade(project.directory)).details).toHaveLength(1);
  const before = bytesOf(project.directory);
  for (const flag of ['--continue', '--abort']) {
    const args = [oldProgram(version).market, 'upgrade', flag, '--json'];
    const ran = await run(process.execPath, args, { cwd: project.directory });
    expect(ran.status).toBe(2);
    expect(JSON.parse(ran.stderr).error.code).toBe('NO_UPGRADE');
    expect(bytesOf(project.directory)).toEqual(before);
  }
});

it('a copy without archives says where a newer program comes from, and doctor prints no command that fails', async () => {
  const root = scratch();
  const { project } = await oldProject({ root, version: '0.2.0', index: 0, seed, chosen: [] });
  const copy = join(root, 'copy');
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(bins.market, '../..', part), join(copy, part), {
      recursive: true,
      filter: (from) => !from.endsWith('dist/releases'),
    });
  }
  const market = (...args: string[]) =>
    run(process.execPath, [join(copy, 'bin/market-mcp.js'), ...args, '--json'], { cwd: project.directory });
  const source = 'comes from a newer clone of create-market-mcp';
  expect(JSON.parse((await market('upgrade')).stderr).error.hint).toContain(source);
  const { problems } = JSON.parse((await market('doctor')).stdout);
  expect(problems).toContainEqual(expect.stringMatching(/^the runtime is of version 0\.2\.0$/));
  expect(problems).toContainEqual(expect.stringContaining(source));
  expect(resultOf(await upgrade(project.directory)).details).toEqual([]);
  expect(JSON.parse((await upgrade(project.directory, '--force')).stdout).newer).toContain(source);
});
