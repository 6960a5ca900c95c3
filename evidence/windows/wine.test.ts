import type { ChildProcess } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { shellLine } from '../../packages/contract/src/command/shell.ts';
import { installOnce } from '../../test/e2e/install-once.ts';
import { bins, compile, create, scratch, tree } from '../../test/e2e/support.ts';
import fc from '../../test/fast-check.ts';
import { hasWine, npmProgram, Windows, windowsPath } from './wine.ts';

const wine = await hasWine();
const root = scratch();
const files = ['--yes', '--no-install', '--no-check', '--no-git', '--package-manager', 'npm'];
const market = windowsPath(bins.market);
let windows: Windows;
let project: string;

describe.skipIf(!wine)('on Windows, as Wine has it (skipped where there is no wine)', () => {
  beforeAll(async () => {
    windows = await Windows.boot(root);
    const made = await create(['here', ...files], { cwd: root });
    expect(made.status, made.stderr).toBe(0);
    project = join(root, 'here');
    await lendCompiler(project);
    const built = await compile(project);
    expect(built.status, built.stdout).toBe(0);
  });

  afterAll(() => windows?.end());

  it('creates the same files as on this system; the printed line, pasted into cmd, creates them again', async () => {
    const made = await windows.node([windowsPath(bins.create), 'there', ...files], root);
    expect(made.status, made.stderr).toBe(0);
    const there = join(root, 'there');
    const created = tree(there);
    expect(created.size).toBeGreaterThan(15);
    const line = /^To repeat this without questions: (.+)$/m.exec(made.stdout + made.stderr)?.[1] ?? '';
    rmSync(there, { recursive: true });
    const pasted = await paste([line]);
    expect(pasted.status, pasted.stderr).toBe(0);
    expect(tree(there)).toEqual(created);

    const same = await create(['there', ...files], { cwd: join(root, 'output') });
    expect(same.status, same.stderr).toBe(0);
    expect(created).toEqual(tree(join(root, 'output/there')));
  });

  it('prints arguments that cmd passes on unchanged', async () => {
    const script = join(root, 'arguments.js');
    writeFileSync(script, 'console.log(JSON.stringify(process.argv.slice(2)));');
    // A batch file has the characters of one code page; cmd at a terminal has all.
    const text = fc.string({ unit: 'grapheme-ascii', maxLength: 6 });
    const texts = fc.sample(fc.array(text, { minLength: 1, maxLength: 4 }), 60);
    const own = [['a b', '&', '|', '<', '>', '(', ')', '^', '!', "it's", '', ',', '@x', '-a.b', '\\x y\\z']];
    const lines = [...own, ...texts]
      .map((given) => ({ given, line: shellLine(['node', windowsPath(script), ...given], 'win32') }))
      .filter(({ line }) => !line.endsWith('# for Git Bash'));
    expect(lines.length).toBeGreaterThan(20);
    const { stdout } = await paste(lines.map(({ line }) => line));
    const got = stdout.split('\n').filter((line) => line.startsWith('['));
    expect(got.map((line) => JSON.parse(line))).toEqual(lines.map(({ given }) => given));
  });

  it('checks the server by every rule that Wine lets pass', async () => {
    const { stdout, stderr } = await windows.node([market, 'check', '--no-build', '--json'], project);
    expect(stdout, stderr).toMatch(/^{/);
    const { rules, summary }: CheckReport = JSON.parse(stdout);
    expect(summary.passed, stderr).toBeGreaterThan(220);
    // `fetch` of Node, which the SDK's client uses, ends in UNKNOWN in Wine 8.
    const failed = rules.filter(({ status }) => status === 'fail');
    expect(failed.map(({ id, problems }) => [id, problems[0]?.actual])).toEqual([
      ['discovery.client', 'UNKNOWN'],
    ]);
    const reasons = new Map(
      rules.filter(({ status }) => status === 'not-run').map(({ id, reason }) => [id, reason]),
    );
    expect(reasons.get('process.terminate')).toBe('Windows has no SIGTERM');
    expect(reasons.get('process.terminate-during-call')).toBe('Windows has no SIGTERM');
    const others = [...reasons].filter(([id]) => !id.startsWith('process.'));
    for (const [id, reason] of others) expect(reason, id).toMatch(/UNKNOWN|^no tool/);
    expect(await windows.nodesLeft()).toEqual([]);
  });

  it('adds, renames, lists and removes tools, which the project builds and tests by its own script', async () => {
    const run = async (...args: string[]) => {
      const ran = await windows.node([market, ...args], project);
      expect(ran.status, ran.stdout + ran.stderr).toBe(0);
      return ran.stdout + ran.stderr;
    };
    await run('add-tool', 'get_first', '--yes', '--no-check');
    await run('rename-tool', 'get_first', 'get_second', '--yes', '--no-check');
    expect(await run('list')).toContain('src/tools/get-second.ts');

    const tested = await windows.node([await npmProgram(), 'test'], project);
    expect(tested.status, tested.stdout + tested.stderr).toBe(0);
    expect(tested.stdout).toMatch(/# pass 10\r?\n# fail 0/);

    await run('remove-tool', 'get_second', '--yes', '--no-check');
    expect(await run('list')).toContain('1 tool,');
    const doctor = await windows.node([market, 'doctor'], project);
    expect(doctor.stdout).toContain('nothing to do');
    expect(doctor.stdout + doctor.stderr).toContain('npm is not installed');
  });

  it('restarts the server of dev after a change; none is left when dev is killed', async () => {
    const { child, output } = windows.start(['node', market, 'dev', '--raw-log'], project);
    const starts = () => output('stdout').split('"event":"listening"').length - 1;
    await until(() => starts() === 1, child);
    const tool = join(project, 'src/tools/get-here.ts');
    writeFileSync(tool, `${readFileSync(tool, 'utf8')}\n// changed\n`);
    await until(() => starts() === 2, child);
    child.kill('SIGKILL');
    expect(await windows.nodesLeft()).toEqual([]);
  });

  it('runs a command line for marketplace --exec, and leaves no process', async () => {
    const endpoint = ['--endpoint', 'http://127.0.0.1:9/mcp'];
    const own = `node -e "console.log(6 * 7)"`;
    const ran = await windows.node([market, 'marketplace', ...endpoint, '--exec', own], project);
    expect([ran.status, ran.stdout], ran.stderr).toEqual([0, expect.stringContaining('42')]);
    expect(await windows.nodesLeft()).toEqual([]);
  });
});

/** Runs lines in cmd, in the directory of this test. */
async function paste(lines: readonly string[]) {
  const file = join(root, 'pasted.bat');
  writeFileSync(file, ['@echo off', ...lines, ''].join('\r\n'));
  return windows.batch(file, root);
}

/** Replaces the native compiler, which does not start in Wine 8, by the last one that is JavaScript. */
async function lendCompiler(directory: string): Promise<void> {
  const modules = join(directory, 'node_modules');
  cpSync(inject('sharedModules'), modules, { recursive: true, verbatimSymlinks: true });
  rmSync(join(modules, 'typescript'), { recursive: true });
  const manifest = JSON.stringify({ dependencies: { typescript: '5.9.3' } });
  symlinkSync(
    join(await installOnce('typescript-in-javascript', manifest), 'typescript'),
    join(modules, 'typescript'),
  );
  writeFileSync(join(modules, '.bin/tsc.cmd'), '@node "%~dp0\\..\\typescript\\bin\\tsc" %*\r\n');
  const config = join(directory, 'tsconfig.json');
  writeFileSync(config, readFileSync(config, 'utf8').replace(/.*"singleThreaded".*\n/, ''));
}

/** Waits for a condition while a process runs. */
async function until(holds: () => boolean, child: ChildProcess): Promise<void> {
  while (!holds()) {
    expect(child.exitCode, 'it has ended').toBeNull();
    await setTimeout(100);
  }
}
