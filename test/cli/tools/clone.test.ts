import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { bins, run, succeeded } from '../../e2e/support.ts';
import { directory } from '../../project/directory.ts';

function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const identity = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.c',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.c',
};
const ran = (cwd: string, file: string, ...args: string[]) => run(file, args, { cwd, env: identity });
const market = (cwd: string, ...args: string[]) => ran(cwd, process.execPath, bins.market, ...args);
const diagnosed = async (cwd: string): Promise<{ readonly problems: readonly string[] }> =>
  JSON.parse((await market(cwd, 'doctor', '--json')).stdout);

it.each(['vendor', '*.tgz'])(
  'create in a repository that ignores %s reports what a clone will lack, and doctor does until it is added',
  async (pattern) => {
    const root = directory();
    const project = join(root, 'my-tool');
    put(root, '.gitignore', `# mine\n${pattern}\n!my-tool/vendor/other\n`);
    put(project, 'LICENSE', 'mine\n');
    await ran(root, 'git', 'init', '--quiet');
    const flags = ['my-tool', '--yes', '--force', '--no-install', '--json'];
    const created = await succeeded(ran(root, process.execPath, bins.create, ...flags));
    const [problem = ''] = JSON.parse(created.stdout).problems;
    const tarballs = [...new Set(problem.match(/vendor\/[^ ,]+\.tgz/g))];
    expect(tarballs).toHaveLength(2);
    expect(problem).toContain(`git ignores ${tarballs.join(', ')} (../.gitignore, line 2: ${pattern})`);
    const [, command = ''] = /run: git (.*)$/.exec(problem) ?? [];
    expect(command).toBe(`-C my-tool add --force ${tarballs.join(' ')}`);

    const inDoctor = problem.replace(' -C my-tool', '');
    expect((await diagnosed(project)).problems).toContain(inDoctor);
    await ran(root, 'git', ...command.split(' '));
    expect((await diagnosed(project)).problems.join()).not.toContain('git ignores');
  },
);

it('upgrade and doctor report a .gitignore that hides the packages', async () => {
  const root = join(directory(), 'my-tool');
  const flags = ['my-tool', '--yes', '--no-install', '--no-git', '--json'];
  expect((await ran(dirname(root), process.execPath, bins.create, ...flags)).status).toBe(0);
  put(root, '.gitignore', '.local/\n*.tgz\n');
  rmSync(join(root, 'src/platform.ts'));
  for (const args of [['init'], ['add', '--all'], ['commit', '--message', 'x']])
    expect((await ran(root, 'git', ...args)).status).toBe(0);
  const { files, problems } = JSON.parse((await market(root, 'upgrade', '--no-install', '--json')).stdout);
  expect(files).toEqual([{ path: 'src/platform.ts', kind: 'new' }]);
  expect(problems).toEqual([
    expect.stringMatching(
      /git ignores vendor\/create-market-mcp-[^ ]+\.tgz, vendor\/market-mcp-runtime-[^ ]+\.tgz \(\.gitignore, line 2: \*\.tgz\)/,
    ),
  ]);
  expect((await diagnosed(root)).problems).toContain(problems[0]);
});

it('create in a directory that git ignores as a whole reports nothing', async () => {
  const root = directory();
  put(root, '.gitignore', 'demo/\n');
  await ran(root, 'git', 'init', '--quiet');
  const flags = ['demo/my-tool', '--yes', '--no-install', '--json'];
  const created = await succeeded(ran(root, process.execPath, bins.create, ...flags));
  expect(JSON.parse(created.stdout).problems).toEqual([]);
});
