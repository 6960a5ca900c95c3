import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endRuns, wholeRun } from './kill.ts';
import { asNobody, bins, create, giveToNobody, run, scratch, tree } from './support.ts';

const quick = ['--yes', '--no-install', '--no-git'];
const root = scratch();

function own(name: string): string {
  const directory = join(root, name);
  mkdirSync(directory);
  return directory;
}

describe('killed at any moment', () => {
  it('leaves nothing or everything', async () => {
    const cwd = own('killed');
    const { files, duration } = await wholeRun(cwd);
    const moments = Array.from({ length: 16 }, (_, i) => ({
      from: 'start' as const,
      after: (duration * (i + 1)) / 16,
      signal: 'SIGKILL' as const,
    }));
    expect((await endRuns(cwd, files, moments)).nothing).toBeGreaterThan(0);
  });
});

describe('a directory that is not empty', () => {
  it('is refused with a list of the conflicts, and is unchanged', async () => {
    const cwd = own('occupied');
    writeFileSync(join(cwd, 'package.json'), '{"mine":true}');
    writeFileSync(join(cwd, 'notes.txt'), 'mine');
    const before = tree(cwd);
    const ran = await create(['.', ...quick], { cwd });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain('package.json');
    expect(ran.stderr).toContain('notes.txt');
    expect(tree(cwd)).toEqual(before);
  });

  it('may contain .git, a licence and similar files', async () => {
    const cwd = own('fresh-clone');
    mkdirSync(join(cwd, '.git'));
    writeFileSync(join(cwd, 'LICENSE'), 'mine');
    const ran = await create(['.', ...quick], { cwd });
    expect(ran.status, ran.stderr).toBe(0);
    expect(readFileSync(join(cwd, 'LICENSE'), 'utf8')).toBe('mine');
    expect(existsSync(join(cwd, 'src/main.ts'))).toBe(true);
  });
});

describe('an invalid project name', () => {
  it.each([
    ['My Tool!', 'my-tool'],
    ['con', 'my-con'],
    ['NUL', 'my-nul'],
    ['node_modules', 'my-node-modules'],
    ['pаy', 'U+0430'],
    ['ｔool', 'U+FF54'],
    ['x'.repeat(300), 'at most 214'],
    ['-rf', 'Write rf.'],
  ])('is refused: %j', async (name, reason) => {
    const cwd = own(`name-${Buffer.from(name).toString('hex').slice(0, 60)}`);
    const ran = await create([...quick, '--', name], { cwd });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(reason);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each([
    ['../evil', 'Write evil.'],
    ['a/b', 'Write a_b.'],
    ['..', 'U+002E'],
    ['__proto__', 'Write proto.'],
    ['get price', 'Write get_price.'],
    ['', '--tool ""'],
    ['con', 'Write get_con.'],
  ])('is refused as a tool name: %j', async (tool, reason) => {
    const cwd = own(`tool-${Buffer.from(tool).toString('hex')}-`);
    const ran = await create(['ok', '--tool', tool, ...quick], { cwd });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(reason);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('a target that cannot be written', () => {
  const nobody = asNobody();

  it('a read-only directory', async () => {
    const cwd = own('read-only');
    chmodSync(root, 0o755);
    giveToNobody(cwd);
    chmodSync(cwd, 0o555);
    const ran = await run(process.execPath, [nobody.bins.create, 'tool', ...quick], { cwd, ...nobody.user });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/read-only|permission|not writable|cannot write/i);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('a file at the path', async () => {
    const cwd = own('file');
    writeFileSync(join(cwd, 'tool'), 'mine');
    const ran = await create(['tool', ...quick], { cwd });
    expect(ran.status).toBe(2);
    expect(readFileSync(join(cwd, 'tool'), 'utf8')).toBe('mine');
  });

  it('a parent that is a file', async () => {
    const cwd = own('file-parent');
    writeFileSync(join(cwd, 'file'), 'mine');
    const ran = await create(['file/tool', ...quick], { cwd });
    expect(ran.status).toBe(2);
    expect([...tree(cwd)]).toEqual([['file', 'mine']]);
  });
});

describe('a package manager that fails', () => {
  it('if missing, the project remains and the command to retry is printed', async () => {
    const cwd = own('no-manager');
    const bin = own('bin');
    symlinkSync(process.execPath, join(bin, 'node'));
    const ran = await create(['tool', '--yes', '--no-git', '--package-manager', 'pnpm'], {
      cwd,
      env: { PATH: bin },
    });
    expect(ran.status).toBe(4);
    expect(ran.stderr).toContain('pnpm install');
    expect(existsSync(join(cwd, 'tool/package.json'))).toBe(true);
  });

  it('if offline, the last lines are printed, and --json has one line on stderr', async () => {
    const cwd = own('offline');
    const env = {
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(cwd, 'cache'),
    };
    const ran = await create(['tool', '--yes', '--no-git', '--json'], { cwd, env });
    expect(ran.status).toBe(4);
    expect(ran.stdout).toBe('');
    const { error } = JSON.parse(ran.stderr);
    expect(error).toMatchObject({ code: expect.any(String), hint: expect.stringContaining('npm install') });
    expect(existsSync(join(cwd, 'tool/package.json'))).toBe(true);
  });
});

describe('bad input', () => {
  it('every error of an invalid spec is listed at once', async () => {
    const cwd = own('bad-spec');
    const spec = join(cwd, 'spec.json');
    writeFileSync(
      spec,
      JSON.stringify([
        { name: 'bad name', description: 'x', input: [{ name: 'a', type: 'strng' }], output: [] },
        { name: 'ok', description: 7, inputSchema: { type: 'array' }, outputSchema: { anyOf: [] } },
      ]),
    );
    const ran = await create(['tool', '--spec', spec, ...quick], { cwd });
    expect(ran.status).toBe(2);
    for (const part of ['bad name', 'strng', 'description', 'inputSchema', 'outputSchema']) {
      expect(ran.stderr).toContain(part);
    }
    expect(existsSync(join(cwd, 'tool'))).toBe(false);
  });

  it.each([
    ['--inptu', 'a:string'],
    ['--input', 'a:strng'],
    ['--output', ':number'],
    ['--platform', 'nowhere'],
    ['--package-manager', 'bower'],
    ['--spec', 'missing.json'],
    ['--returns', 'maybe'],
  ])('%s %s is reported with the fix', async (flag, value) => {
    const cwd = own(`flag${flag}`);
    const ran = await create(['tool', flag, value, ...quick], { cwd });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(flag === '--inptu' ? '--input' : value);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('without a terminal, the missing flag is reported instead of a prompt', async () => {
    const cwd = own('no-terminal');
    const ran = await create([], { cwd });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/--yes/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('--dry-run lists the exact files and writes nothing', async () => {
    const cwd = own('dry');
    const dry = await create(['tool', '--dry-run', '--json', '--yes'], { cwd });
    expect(dry.status, dry.stderr).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
    expect((await create(['tool', ...quick], { cwd })).status).toBe(0);
    expect(JSON.parse(dry.stdout).files.toSorted()).toEqual([...tree(join(cwd, 'tool')).keys()]);
  });
});

describe('an old Node', () => {
  it('is reported in a readable message', async () => {
    const cwd = own('old-node');
    const installed = await run('npm', ['install', '--prefix', cwd, 'node@18']);
    expect(installed.status, installed.stderr).toBe(0);
    const old = join(cwd, 'node_modules/node/bin/node');
    const ran = await run(old, [bins.create, 'tool', ...quick], { cwd: dirname(old) });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/Node(\.js)? 20/);
    expect(ran.stderr).not.toContain('    at ');
  });
});
