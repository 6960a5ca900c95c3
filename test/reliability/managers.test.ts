import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rules } from '../../src/contract/index.ts';
import { type CreateResult, create, idleRules, run, scratch } from '../e2e/support.ts';
import { record } from './figures.ts';
import { commandDirectory, toolFile } from './toolchain.ts';

const managers = [
  { title: 'npm', name: 'npm', script: null },
  { title: 'pnpm', name: 'pnpm', script: toolFile('pnpm', 'bin/pnpm.mjs') },
  { title: 'Yarn classic', name: 'yarn', script: toolFile('yarn-classic', 'bin/yarn.js') },
  { title: 'Yarn berry', name: 'yarn', script: toolFile('yarn-berry', 'bin/yarn.js') },
] as const;

const root = scratch();

describe.each(managers)('$title', ({ title, name, script }) => {
  it('installs, builds and self-checks a generated project', async () => {
    const place = title.toLowerCase().replace(' ', '-');
    const own = script === null ? [] : [commandDirectory(join(root, 'bin', place), name, script)];
    const options = { cwd: root, env: { PATH: [...own, process.env.PATH].join(delimiter) } };
    const { stdout: version } = await run(name, ['--version'], options);

    const created = await create([place, '--yes', '--json', '--no-git', '--package-manager', name], options);
    expect(created.status, created.stderr).toBe(0);
    const { directory, selfCheck }: CreateResult = JSON.parse(created.stdout);
    const judged = {
      passed: rules.length - idleRules.length,
      failed: 0,
      notRun: idleRules.length,
      failures: [],
    };
    expect(selfCheck).toMatchObject(judged);
    expect(existsSync(join(directory, 'node_modules/jose'))).toBe(true);

    const tested = await run(name, ['run', 'test'], { ...options, cwd: directory });
    expect(tested.status, tested.stdout + tested.stderr).toBe(0);
    record(place, { version, passed: selfCheck?.passed });
  });
});
