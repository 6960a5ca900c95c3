import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bins, create, run, scratch, succeeded } from '../e2e/support.ts';
import { installTools } from '../registry/registry.ts';
import { oldProgram } from './old-program.ts';
import { bytesOf, createWith, git, identity, resultOf, upgrade } from './scenario.ts';

// A project that is a member of a workspace, whose lock file is at the root: created, examined, upgraded and restored.

const managers = {
  npm: {
    files: { 'package.json': '{"name":"root","private":true,"workspaces":["servers/*"]}' },
    install: ['npm', 'install', '--no-audit', '--no-fund'],
    frozen: ['npm', 'ci', '--no-audit', '--no-fund'],
    lockFile: 'package-lock.json',
  },
  pnpm: {
    files: {
      'package.json': '{"name":"root","private":true}',
      'pnpm-workspace.yaml': 'packages:\n  - servers/*\n',
    },
    install: ['pnpm', 'install'],
    frozen: ['pnpm', 'install', '--frozen-lockfile'],
    lockFile: 'pnpm-lock.yaml',
  },
} as const;
const lockFiles = Object.values(managers).map(({ lockFile }) => lockFile);

let env: { readonly [name: string]: string };
beforeAll(async () => {
  const tools = await installTools();
  env = { PATH: [join(tools, '.bin'), process.env.PATH].join(delimiter) };
});

describe.each(Object.entries(managers))(
  'in a workspace of %s',
  (name, { files, install, frozen, lockFile }) => {
    const root = scratch();
    const project = join(root, 'servers/gas');
    const runAt = (cwd: string, [program = '', ...args]: readonly string[]) =>
      succeeded(run(program, args, { cwd, env }));

    beforeAll(async () => {
      for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
      writeFileSync(join(root, '.gitignore'), 'node_modules\n');
      mkdirSync(join(root, 'servers'));
      await git(root, 'init', '--quiet');
      await runAt(root, install);
      await succeeded(create(['servers/gas', '--yes', '--no-git', '--no-check'], { cwd: root, env }));
      await git(root, 'add', '--all');
      await git(root, 'commit', '--quiet', '--message', 'before');
    });

    it('the lock file of the root has the packages of the project, and there is no second one', async () => {
      for (const file of lockFiles) expect(existsSync(join(project, file)), file).toBe(false);
      expect(readFileSync(join(root, lockFile), 'utf8')).toContain('servers/gas');
      await runAt(root, frozen);
    });

    it('the image needs no lock file, and the workflow compares the one of the root', () => {
      const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');
      expect(dockerfile).not.toContain(lockFile);
      expect(dockerfile).toMatch(new RegExp(`^COPY package\\.json \\./$[\\s\\S]*^RUN ${name} install`, 'm'));
      expect(dockerfile).not.toMatch(/npm ci| --frozen-lockfile/);
      expect(readFileSync(join(project, '.github/workflows/ci.yml'), 'utf8')).toContain(
        ` ../../${lockFile} `,
      );
    });

    it('doctor finds the packages and the lock file at the root, and names an ignored lock file', async () => {
      const doctor = async () => {
        const { stdout } = await run(process.execPath, [bins.market, 'doctor', '--json'], {
          cwd: project,
          env,
        });
        return JSON.parse(stdout);
      };
      expect(await doctor()).toMatchObject({
        packageManager: { name, lockFile: `../../${lockFile}`, packagesInstalled: true },
        problems: [],
      });
      await git(root, 'rm', '--quiet', '--cached', lockFile);
      writeFileSync(join(root, '.gitignore'), `node_modules\n${lockFile}\n`);
      expect(await doctor()).toMatchObject({
        clone: [expect.stringContaining(`git ignores ../../${lockFile}`)],
      });
      await git(root, 'reset', '--quiet', '--hard');
    });

    it('an upgrade needs the lock file of the root committed, updates it, and its undo restores it', async () => {
      const old = join(root, 'servers/old');
      await createWith(oldProgram('0.3.0').create, old, ['--platform', 'generic'], null);
      await runAt(root, install);
      await git(root, 'add', '--all');
      await git(root, 'commit', '--quiet', '--message', 'old');
      const before = bytesOf(old);
      const lock = join(root, lockFile);
      const locked = readFileSync(lock, 'utf8');

      writeFileSync(lock, `${locked}\n`);
      const refused = await upgrade(old);
      expect(refused.status).toBe(2);
      const { error } = JSON.parse(refused.stdout);
      expect(error).toMatchObject({ code: 'NOT_COMMITTED', message: expect.stringContaining(lockFile) });
      writeFileSync(lock, locked);

      const upgraded = await run(process.execPath, [bins.market, 'upgrade', '--json'], { cwd: old, env });
      const { undo } = resultOf(upgraded);
      expect(readFileSync(lock, 'utf8')).not.toBe(locked);
      for (const file of lockFiles) expect(existsSync(join(old, file)), file).toBe(false);
      await runAt(root, frozen);
      expect(undo[0]).toContain(` ../../${lockFile}`);
      for (const line of undo.filter((command) => command.startsWith('git ')))
        execFileSync('sh', ['-c', line], { cwd: old, env: { ...process.env, ...identity } });
      expect(bytesOf(old)).toEqual(before);
      expect(readFileSync(lock, 'utf8')).toBe(locked);
    });
  },
);
