import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runContract } from '../../packages/contract/src/run.ts';
import { planCreation } from '../../src/changes/creation.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { version } from '../../src/plan/package-versions.ts';
import { writeProject } from '../../src/project/write/write.ts';
import { toolSpecOf } from '../../src/tools/tool-spec.ts';
import { Terminal } from '../e2e/terminal.ts';
import { isRunning } from '../processes.ts';
import { directory } from '../project/directory.ts';

const root = join(import.meta.dirname, '../..');
const bins = { create: join(root, 'bin/create-market-mcp.js'), market: join(root, 'bin/market-mcp.js') };
const run = (bin: string, ...args: string[]) =>
  spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });

describe('the built programs', () => {
  it.each(Object.values(bins))('%s --version prints the version', (bin) => {
    for (const flag of ['--version', '-V']) {
      expect(run(bin, flag)).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  it.each(['create-market-mcp', 'market-mcp'] as const)(
    '%s --help prints the help of its commands',
    (name) => {
      const bin = join(root, `bin/${name}.js`);
      const help = buildProgram(name, async () => {}).helpInformation();
      for (const flag of ['--help', '-h']) {
        expect(run(bin, flag)).toMatchObject({
          status: 0,
          stdout: expect.stringContaining(help),
          stderr: '',
        });
      }
      if (name === 'market-mcp') expect(run(bin).stdout).toContain(help);
    },
  );

  it.each([60, 140])('print the help at the width of a terminal of %i columns', async (columns) => {
    const terminal = new Terminal(process.execPath, [bins.create, '--help-all'], {
      cwd: directory(),
      columns,
    });
    expect(await terminal.ended).toBe(0);
    const widths = terminal.text.split(/\r?\n/).map((line) => line.length);
    const describing = widths.filter((width) => width > columns - 30);
    expect(describing.length).toBeGreaterThan(10);
  });

  it('stop reading a standard input that never ends', () => {
    const args = ['-c', 'yes | "$0" "$@"', process.execPath, '--max-old-space-size=200', bins.create, 'made'];
    const given = spawnSync('sh', [...args, '--yes', '--spec', '-'], { cwd: directory(), encoding: 'utf8' });
    expect(given).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('standard input: more than 20,000,000 bytes'),
    });
  });

  it('report an invalid spec like a checkout', () => {
    const cwd = directory();
    const wrong = {
      name: 'get_price',
      description: '',
      input: [{ name: 'symbol', type: 'text', items: { type: 'string' } }],
      outputs: [],
    };
    writeFileSync(join(cwd, 'spec.json'), JSON.stringify(wrong));
    const args = [bins.create, 'made', '--spec', 'spec.json', '--yes', '--json'];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    expect(status).toBe(2);
    const expected = toolSpecOf(wrong, 'get_price');
    if (expected.ok) throw new Error('this spec shall be wrong');
    expect(expected.errors.length).toBeGreaterThan(3);
    for (const { message } of expected.errors) expect(stdout).toContain(message);
  });

  it('suggest the intended word after a typing error', () => {
    expect(run(bins.market, 'chek')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Did you mean check?'),
    });
    const { status, stdout } = run(bins.create, '--jsn', '--json');
    expect({ status, error: JSON.parse(stdout).error.code }).toEqual({ status: 2, error: 'BAD_USAGE' });
  });

  it('exit silently when the reader closes the pipe', () => {
    const command = `"${process.execPath}" "${bins.market}" schema spec | head -1`;
    const ran = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(ran).toMatchObject({ stdout: '{\n', stderr: '' });
  });

  it.each([
    ['a closed stdout', '', '1>&-'],
    ['a reader that has gone', 'until [ -e closed ]; do :; done;', '| { exec <&-; : > closed; }'],
    ['a stderr that cannot be written', '', '2>/dev/full'],
  ])('finish their work with %s', (_, first, redirection) => {
    const cwd = directory();
    const command = `"${process.execPath}" "${bins.create}" made --yes --no-install --no-git`;
    spawnSync('sh', ['-c', `{ ${first} ${command}; echo $? > code; } ${redirection}`], { cwd });
    expect(readFileSync(join(cwd, 'code'), 'utf8')).toBe('0\n');
    expect(existsSync(join(cwd, 'made/market-mcp.json'))).toBe(true);
  });

  it.each([[['platforms', '--json']], [['--help']], [['--version']]])(
    '%j tell that a disk is full',
    (args) => {
      const ran = spawnSync('sh', ['-c', '"$@" > /dev/full', 'sh', process.execPath, bins.market, ...args], {
        encoding: 'utf8',
      });
      expect(ran).toMatchObject({ status: 74, stderr: expect.stringContaining('(ENOSPC)') });
      expect(ran.stderr.trim().split('\n')).toHaveLength(1);
    },
  );

  describe.each([
    ['an exception that nobody catches', 'setTimeout(() => { throw new Error("a bug"); })'],
    ['a promise that nobody handles', 'setTimeout(() => Promise.reject(new Error("a bug")))'],
    ['work that ends without a result', ''],
  ])('after an internal error, %s,', (_, breaks) => {
    /** The first access to an author's file throws. */
    const preloaded = `
      import fs from 'node:fs/promises';
      import { syncBuiltinESMExports } from 'node:module';
      fs.stat = () => { ${breaks}; return new Promise(() => {}); };
      syncBuiltinESMExports();`;
    const answer = (DEBUG: string, ...flags: string[]) => {
      const preload = ['--import', `data:text/javascript,${encodeURIComponent(preloaded)}`];
      const args = ['check', 'http://127.0.0.1:9/mcp', '--baseline', 'known.json', ...flags];
      return spawnSync(process.execPath, [...preload, bins.market, ...args], {
        env: { ...process.env, DEBUG },
        encoding: 'utf8',
      });
    };

    it('exit with 70 and ask for a report', () => {
      const { status, stderr } = answer('');
      expect(status).toBe(70);
      expect(stderr).toContain('an error in this program');
      expect(stderr).toContain(
        `DEBUG=1, and report its output together with the command line (version ${version}`,
      );
      expect(stderr).not.toContain('    at ');
    });

    it('print the stack if DEBUG is set, also with --json', () => {
      const { status, stdout } = answer('1', '--json');
      const { error } = JSON.parse(stdout);
      expect({ status, code: error.code }).toEqual({ status: 70, code: 'UNEXPECTED' });
      expect(error.details.join()).toMatch(/\bat .*:\d+/);
    });
  });

  it('keeps function names in stack traces', () => {
    const dist = join(root, 'dist');
    const code = readdirSync(dist).filter((file) => file.endsWith('.cjs'));
    const text = code.map((file) => readFileSync(join(dist, file), 'utf8')).join('');
    for (const { name } of [planCreation, writeProject, runContract])
      expect(text).toMatch(new RegExp(`function ${name}\\(`));
  });

  it.each(['https://127.0.0.1:9/mcp', 'HTTP:/127.0.0.1:9/mcp', 'http://x.invalid/../..', 'localhost:9/mcp'])(
    'take %s for an address, even where a project has that path',
    (target) => {
      const cwd = directory();
      const project = join(cwd, target);
      mkdirSync(project, { recursive: true });
      writeFileSync(join(project, 'market-mcp.json'), '{}');
      const scripts = { build: `touch ${join(cwd, 'built')}` };
      writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts }));
      const ran = spawnSync(process.execPath, [bins.market, 'check', target, '--json'], {
        cwd,
        encoding: 'utf8',
      });
      const { code } = JSON.parse(ran.stdout).error;
      expect([code, ran.status]).toEqual(
        target.startsWith('localhost') ? ['INVALID_INPUT', 2] : ['UNREACHABLE', 3],
      );
      expect(existsSync(join(cwd, 'built'))).toBe(false);
    },
  );

  it('refuse a directory that does not exist', () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && "$@"';
    const ran = spawnSync('sh', ['-c', script, 'sh', process.execPath, bins.market, 'check', '--json'], {
      cwd: directory(),
      encoding: 'utf8',
    });
    expect(ran).toMatchObject({ status: 2, stdout: expect.stringContaining('NO_DIRECTORY') });
  });
});

it.each([
  ['', 'ends the package manager and what it started, and keeps the whole project'],
  ["trap '' TERM INT;", 'ends by force what does not listen'],
])('Ctrl-C while packages are installed: %s %s', async (deafness) => {
  const cwd = directory();
  const bin = directory();
  const npm = join(bin, 'npm');
  writeFileSync(
    npm,
    `#!/bin/sh\n${deafness}\nsleep 1000 &\necho $! > "$PIDS/sleep"\necho $$ > "$PIDS/npm"\ntouch "$PIDS/started"\nwait\n`,
  );
  chmodSync(npm, 0o755);
  const child = spawn(process.execPath, [bins.create, 'tool', '--yes', '--no-git'], {
    cwd,
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      PIDS: bin,
      npm_config_user_agent: 'npm/10',
    },
    stdio: 'ignore',
  });
  await vi.waitUntil(() => existsSync(join(bin, 'started')), { timeout: 60_000 });
  child.kill('SIGINT');
  const [exitCode] = await once(child, 'exit');
  expect(exitCode).toBe(130);
  expect(existsSync(join(cwd, 'tool/market-mcp.json'))).toBe(true);
  for (const name of ['sleep', 'npm']) {
    const pid = readFileSync(join(bin, name), 'utf8').trim();
    await expect.poll(() => isRunning(pid)).toBe(false);
  }
});
