import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bins, repository, run, scratch, succeeded } from '../e2e/support.ts';
import { nextProgram } from './next-program.ts';
import { oldProgram } from './old-program.ts';
import { bytesOf, createWith, git, identity, resultOf } from './scenario.ts';

// Projects of 0.3.0, edited, are upgraded by a simulated later version, whose templates differ (next-program.ts).

const root = scratch();
const mine = 'a line of the author';
let next = '';
let made = '';

beforeAll(async () => {
  next = nextProgram(join(root, 'next'));
  made = join(root, 'made');
  await createWith(oldProgram('0.3.0').create, made, ['--platform', 'generic'], null);
});

/** A copy of the project, with files that its author wrote. */
function project(edits: (place: Place) => void = () => {}): Place {
  const directory = join(scratch(), 'project');
  cpSync(made, directory, { recursive: true });
  const place = new Place(directory);
  edits(place);
  return place;
}

/** The same, in a repository without uncommitted changes. */
async function committed(edits?: (place: Place) => void): Promise<Place> {
  const place = project(edits);
  await git(place.directory, 'init', '--quiet');
  await git(place.directory, 'add', '--all');
  await git(place.directory, 'commit', '--quiet', '--message', 'before');
  return place;
}

class Place {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  at(path: string): string {
    return join(this.directory, path);
  }

  /** One character per byte. */
  bytes(path: string): string {
    return readFileSync(this.at(path), 'latin1');
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text, 'latin1');
  }

  change(path: string, edit: (bytes: string) => string): void {
    const before = this.bytes(path);
    const after = edit(before);
    expect(after, path).not.toBe(before);
    this.write(path, after);
  }

  upgrade(...flags: readonly string[]) {
    const args = [next, 'upgrade', '--no-install', '--json', ...flags];
    return run(process.execPath, args, { cwd: this.directory });
  }

  /** The upgrade's description of one file. */
  async upgraded(path: string) {
    const { files } = resultOf(await this.upgrade());
    return files.find((file) => file.path === path);
  }

  async error(...flags: readonly string[]) {
    const ran = await this.upgrade(...flags);
    expect(ran.stderr).toBe('');
    return { ...JSON.parse(ran.stdout).error, status: ran.status };
  }
}

/** Runs printed commands of git. */
function paste(place: Place, lines: readonly string[]): void {
  for (const line of lines.filter((one) => one.startsWith('git ')))
    execFileSync('sh', ['-c', line], { cwd: place.directory, env: { ...process.env, ...identity } });
}

const typesIn = (p: Place) => JSON.parse(p.bytes('package.json')).devDependencies['@types/node'];
const windows = (text: string) => text.replaceAll('\n', '\r\n');
const mark = '\xef\xbb\xbf';
/** Adds the author's line where no version of the README differs. */
const withAuthorLine = (readme: string) => readme.replace('\n| Category ', `\n${mine}$&`);

describe('an upgrade', () => {
  it('of an unedited project replaces, adds and removes, and its lines undo it to the byte', async () => {
    const place = await committed();
    const before = bytesOf(place.directory);
    const ran = await place.upgrade();
    const { files, undo } = JSON.parse(ran.stdout);
    const kinds = Object.fromEntries(
      files.map((file: { path: string; kind: string }) => [file.path, file.kind]),
    );
    expect(kinds).toMatchObject({
      'README.md': 'replaced',
      'tsconfig.json': 'replaced',
      'src/tools/index.ts': 'replaced',
      'package.json': 'merged',
      'CLAUDE.md': 'removed',
      'NOTES.md': 'new',
    });
    expect(Object.values(kinds)).not.toContain('conflict');
    expect(place.bytes('NOTES.md')).toBe('Notes of the next version.\n');
    expect(JSON.parse(place.bytes('market-mcp.json')).template).toBe('0.9.0');
    expect(typesIn(place)).toBeUndefined(); // no longer needed
    expect(undo.at(-1)).toBe('npm install');
    paste(place, undo);
    expect(bytesOf(place.directory)).toEqual(before);
  });

  it('writes what a dry run shows, which writes nothing and needs no repository', async () => {
    const place = project((p) => p.change('README.md', (text) => `${text}\n${mine}\n`));
    const before = bytesOf(place.directory);
    const dry = JSON.parse((await place.upgrade('--dry-run')).stdout);
    expect(bytesOf(place.directory)).toEqual(before);
    const refused = await place.error();
    expect(refused).toMatchObject({ status: 2, code: 'NO_REPOSITORY' });
    expect(bytesOf(place.directory)).toEqual(before);
    paste(place, refused.hint.split('Run: ')[1].split(', then: '));
    resultOf(await place.upgrade());
    rmSync(place.at('.git'), { recursive: true });
    const again = project((p) => p.change('README.md', (text) => `${text}\n${mine}\n`));
    writeFileSync(again.at('x.patch'), dry.diff);
    execFileSync('patch', ['-p1', '--quiet', '--input', 'x.patch'], { cwd: again.directory });
    for (const path of [
      'README.md',
      'tsconfig.json',
      'package.json',
      'market-mcp.json',
      'src/tools/index.ts',
    ])
      expect(again.bytes(path), path).toBe(place.bytes(path));
  });

  it('advises to finish a merge or a rebase, and not to commit the markers', async () => {
    const place = await committed();
    const env = { ...process.env, ...identity, GIT_EDITOR: 'true' };
    const sh = (command: string) =>
      execFileSync('sh', ['-c', command], { cwd: place.directory, env, stdio: 'pipe' });
    sh(
      'git checkout --quiet -b other && echo theirs > README.md && git commit --quiet --all --message theirs',
    );
    sh('git checkout --quiet - && echo ours > README.md && git commit --quiet --all --message ours');
    for (const command of ['merge', 'rebase']) {
      expect(() => sh(`git ${command} other`)).toThrow();
      const refused = await place.error();
      expect(refused).toMatchObject({ status: 2, code: 'NOT_COMMITTED' });
      expect(refused.hint).toContain(`git ${command} --continue`);
      expect(refused.hint).toContain(`git ${command} --abort`);
      expect(refused.hint).not.toContain('git add --all');
      sh(`git ${command} --abort`);
    }
    expect((await place.upgrade('--dry-run')).status).toBe(0);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'advises how to use the repository of another user (skipped without root)',
    async () => {
      const place = await committed();
      execFileSync('chown', ['-R', '4711', place.directory]);
      const { status, code, hint } = await place.error();
      execFileSync('chown', ['-R', '0', place.directory]);
      expect([status, code]).toEqual([2, 'NO_REPOSITORY']);
      expect(hint).toContain(`git config --global --add safe.directory ${place.directory}`);
      expect(hint).not.toContain('git init');
    },
  );

  it('refuses uncommitted changes, and names commands that help', async () => {
    const place = await committed();
    place.write('mine.txt', mine);
    const before = bytesOf(place.directory);
    const refused = await place.error();
    expect(refused).toMatchObject({ status: 2, code: 'NOT_COMMITTED' });
    expect(refused.message).toContain('mine.txt');
    expect(bytesOf(place.directory)).toEqual(before);
    paste(place, refused.hint.split('Run: ')[1].split(', then: '));
    resultOf(await place.upgrade());
  });

  it('with conflicts marks them, waits for its author, and can be undone to the byte', async () => {
    const place = await committed((p) => {
      p.change('tsconfig.json', (text) => windows(text.replace('"es2023"', '"es2025"')));
      p.change('package.json', (text) => text.replace('"market-mcp dev"', '"my dev"'));
    });
    const before = bytesOf(place.directory);
    const first = await place.error();
    expect(first).toMatchObject({ status: 1, code: 'UPGRADE_CONFLICTS' });
    expect(first.details.join('\n')).toMatch(/^package\.json: .* line 13\ntsconfig\.json: .* line 3$/);
    expect(place.bytes('tsconfig.json')).toContain(
      windows(
        '<<<<<<< yours\n    "target": "es2025",\n=======\n    "target": "es2024",\n>>>>>>> create-market-mcp-0.9.0\n',
      ),
    );
    expect(place.bytes('package.json')).toContain(
      '<<<<<<< yours\n    "dev": "my dev",\n=======\n    "dev": "market-mcp dev --next",\n>>>>>>> create-market-mcp-0.9.0\n',
    );
    const waiting = bytesOf(place.directory);
    expect(await place.error()).toMatchObject({ status: 1, code: 'UPGRADE_CONFLICTS' });
    expect(await place.error('--dry-run')).toMatchObject({ status: 1, code: 'UPGRADE_CONFLICTS' });
    expect(bytesOf(place.directory)).toEqual(waiting);
    paste(place, first.undo);
    expect(bytesOf(place.directory)).toEqual(before);

    await place.error();
    for (const path of ['tsconfig.json', 'package.json'])
      place.change(path, (text) =>
        text.replace(/<<<<<<< yours\r?\n([\s\S]*?)=======[\s\S]*?>>>>>>> [^\n]*\n/, '$1'),
      );
    const resolved = bytesOf(place.directory);
    const second = JSON.parse((await place.upgrade()).stdout);
    expect(second).toMatchObject({ ok: true, from: '0.9.0', to: '0.9.0', files: [], undo: [] });
    expect(bytesOf(place.directory)).toEqual(resolved);
  });

  it('writes the list of tools again, in its order, after its imports were sorted and a file renamed', async () => {
    const place = await committed((p) => {
      renameSync(p.at('src/tools/get-volume.ts'), p.at('src/tools/a-volume.ts'));
      p.change('src/tools/index.ts', (text) => {
        const [first, second] = [...text.matchAll(/^import \w+ from.*\n/gm)].map(([line]) => line);
        const renamed = second?.replace('get-volume', 'a-volume');
        return text.replace(`${first}${second}`, `${renamed}${first}`);
      });
    });
    expect(await place.upgraded('src/tools/index.ts')).toMatchObject({ kind: 'overruled' });
    const list = place.bytes('src/tools/index.ts');
    expect(list).toMatch(/^\/\/ Written by the program\./);
    expect([...list.matchAll(/from '\.\/(.*)\.ts'/g)].map(([, file]) => file)).toEqual([
      'get-price',
      'a-volume',
    ]);
    expect(list).toMatch(/getPrice,\n {2}aVolume,/);
  });

  it('keeps line ends, a byte order mark, modes and bytes that are not UTF-8', async () => {
    const latin = 'Gr\xfc\xdfe \xc3';
    const place = await committed((p) => {
      p.change('README.md', (text) => `${mark}${windows(withAuthorLine(text))}`);
      p.change('tsconfig.json', (text) => `${mark}${windows(text)}`);
      p.change('AGENTS.md', (text) => `${text}\n${latin}\n`);
      p.change('package.json', (text) => `${mark}${text.replace('"private"', `"author": "${latin}", $&`)}`);
      p.change('market-mcp.json', (text) => `${mark}${windows(text)}`);
      chmodSync(p.at('README.md'), 0o700);
      chmodSync(p.at('AGENTS.md'), 0o600);
    });
    expect(resultOf(await place.upgrade()).details).toEqual([]);
    for (const path of ['README.md', 'tsconfig.json', 'package.json', 'market-mcp.json'])
      expect(place.bytes(path), path).toMatch(/^\xef\xbb\xbf[^\xef]/);
    for (const path of ['README.md', 'tsconfig.json', 'market-mcp.json'])
      expect(place.bytes(path)).not.toMatch(/[^\r]\n/);
    expect(place.bytes('README.md')).toContain(`A server of MCP tools.\r\n`);
    expect(place.bytes('README.md')).toContain(mine);
    expect(place.bytes('AGENTS.md')).toMatch(/^# For agents and their people\n[\s\S]*\nGr\xfc\xdfe \xc3\n$/);
    expect(place.bytes('package.json')).toContain(`"author": "${latin}",\n`);
    expect(statSync(place.at('README.md')).mode & 0o777).toBe(0o700);
    expect(statSync(place.at('AGENTS.md')).mode & 0o777).toBe(0o600);
  });

  it('keeps what its author deleted, rewrote, encoded, linked, put at a new path or still imports', async () => {
    const utf16 = Buffer.from('\ufeffmine\n', 'utf16le').toString('latin1');
    const place = await committed((p) => {
      for (const path of ['Dockerfile', '.gitignore']) rmSync(p.at(path));
      p.write('README.md', `# Mine\n\n${`${mine}\n`.repeat(20)}`);
      p.write('tsconfig.json', utf16);
      p.write('NOTES.md', mine);
      renameSync(p.at('AGENTS.md'), p.at('rules.md'));
      symlinkSync('rules.md', p.at('AGENTS.md'));
      p.write('src/lib/own.ts', "import type { Dirent } from '@types/node';\nexport type Own = Dirent;\n");
    });
    const before = ['README.md', 'tsconfig.json', 'NOTES.md', 'rules.md'].map((path) => [
      path,
      place.bytes(path),
    ]);
    const { files } = resultOf(await place.upgrade());
    expect(files).toEqual(
      expect.arrayContaining([
        { path: 'Dockerfile', kind: 'kept', why: 'deleted' },
        { path: '.gitignore', kind: 'kept', why: 'deleted' },
        ...['README.md', 'tsconfig.json'].map((path) => ({
          ...{ path, kind: 'kept', why: 'rewritten' },
          proposal: `${path}.create-market-mcp-0.9.0`,
        })),
        expect.objectContaining({ path: 'NOTES.md', kind: 'kept', why: 'own' }),
        expect.objectContaining({ path: 'AGENTS.md', kind: 'kept', why: 'own' }),
      ]),
    );
    for (const [path = '', bytes] of before) expect([path, place.bytes(path)]).toEqual([path, bytes]);
    for (const path of ['Dockerfile', '.gitignore']) expect(existsSync(place.at(path)), path).toBe(false);
    expect(place.bytes('README.md.create-market-mcp-0.9.0')).toContain('A server of MCP tools.');
    expect(JSON.parse(place.bytes('market-mcp.json')).files).not.toHaveProperty('NOTES.md');
    expect(typesIn(place)).toMatch(/^\d/);
  });

  it('names the line of an import that the runtime has renamed, until it is changed', async () => {
    const own =
      "import {\n  httpSource,\n  basic as login,\n} from 'market-mcp-runtime/source';\nexport { httpSource, login };\n";
    const place = await committed((p) => p.write('src/lib/own.ts', own));
    const line = 'src/lib/own.ts:3: basic of market-mcp-runtime/source is now called basicAuth';
    expect(await place.error()).toMatchObject({ status: 1, details: [line] });
    expect(await place.error()).toMatchObject({ status: 1, details: [line], undo: [] });
    place.change('src/lib/own.ts', (text) => text.replace('basic', 'basicAuth'));
    expect((await place.upgrade()).status).toBe(0);
  });

  it.each([
    [
      'ignores',
      (p: Place) => p.write('.git/info/exclude', 'tsconfig.json\n'),
      'git rm --quiet --cached tsconfig.json && git commit --quiet --message x',
      'tsconfig.json: git ignores it (.git/info/exclude, line 1: tsconfig.json)',
    ],
    [
      'was told not to follow',
      () => {},
      'git update-index --assume-unchanged tsconfig.json && echo >> tsconfig.json',
      'tsconfig.json: git does not follow its changes',
    ],
    [
      'finds in another repository',
      () => {},
      'git rm -r --quiet --cached src/tools && cd src/tools && git init --quiet && git add . && git commit --quiet --message x && cd ../.. && git add src/tools 2>&1 && git commit --quiet --message x',
      'src/tools/index.ts: it is in another repository',
    ],
  ])('stops by name at a file that git %s', async (_, edit, command, detail) => {
    const place = await committed();
    edit(place);
    execFileSync('sh', ['-c', command], { cwd: place.directory, env: { ...process.env, ...identity } });
    const before = bytesOf(place.directory);
    expect(await place.error()).toMatchObject({ status: 2, code: 'NOT_RESTORABLE', details: [detail] });
    expect(bytesOf(place.directory)).toEqual(before);
  });
});

describe('a program that the repository names', () => {
  const ran = (place: Place) => existsSync(place.at('../ran'));
  /** Settings that make git write `../ran`. */
  const settings = (touch: string): readonly (readonly [string, string])[] => [
    ['core.fsmonitor', `${touch}; echo`],
    ['core.hooksPath', 'hooks'],
    ...['one', 'two'].flatMap((name): (readonly [string, string])[] => [
      [`filter.${name}.clean`, `${touch}; cat`],
      [`filter.${name}.smudge`, `${touch}; cat`],
      [`filter.${name}.required`, 'true'],
      [`merge.${name}.driver`, touch],
      [`diff.${name}.textconv`, touch],
    ]),
    ['filter.two.process', touch],
  ];
  const attributes = '*.md filter=one merge=one diff=one\n* filter=two merge=two diff=two\n';
  const hooks = ['post-index-change', 'pre-commit', 'post-checkout', 'fsmonitor-watchman', 'post-merge'];

  function plant(place: Place, configuration: string): void {
    const touch = `touch ${place.at('../ran')}`;
    for (const [name, value] of settings(touch))
      execFileSync('git', ['config', '--file', configuration, name, value], { cwd: place.directory });
    for (const hook of hooks) {
      place.write(`hooks/${hook}`, `#!/bin/sh\n${touch}\n`);
      chmodSync(place.at(`hooks/${hook}`), 0o755);
    }
  }

  it('does not run: filters, drivers, hooks, a file monitor', async () => {
    const place = await committed((p) => {
      p.write('.gitattributes', attributes);
      p.write('.gitignore', 'hooks/\n');
      p.change('README.md', withAuthorLine);
      p.change('AGENTS.md', (text) => text.replace(/^# .*/, `# ${mine}`));
    });
    plant(place, '.git/config');
    // Only the content says whether they have changed.
    for (const path of ['README.md', 'AGENTS.md', 'tsconfig.json'])
      writeFileSync(place.at(path), readFileSync(place.at(path)));
    const { files } = resultOf(await place.upgrade());
    expect(files).toContainEqual(expect.objectContaining({ path: 'README.md', kind: 'merged' }));
    expect(files).toContainEqual(expect.objectContaining({ path: 'AGENTS.md', kind: 'conflict' }));
    await run(process.execPath, [next, 'doctor'], { cwd: place.directory });
    expect(ran(place)).toBe(false);
    // What was planted works.
    await run('git', ['status'], { cwd: place.directory });
    expect(ran(place)).toBe(true);
  });

  it('does not run with variables that select another repository', async () => {
    const place = await committed();
    const other = await committed((p) => p.write('.gitattributes', attributes));
    plant(other, '.git/config');
    const env = { GIT_DIR: other.at('.git'), GIT_WORK_TREE: other.directory };
    const args = [next, 'upgrade', '--no-install', '--json'];
    await succeeded(run(process.execPath, args, { cwd: place.directory, env }));
    expect(ran(other)).toBe(false);
  });
});

it('of this version refuses a project of a later one, and one without an archive', async () => {
  const place = await committed();
  resultOf(await place.upgrade());
  const market = (...flags: readonly string[]) =>
    run(process.execPath, [bins.market, 'upgrade', '--json', ...flags], { cwd: place.directory });
  expect(JSON.parse((await market()).stdout).error.code).toBe('NEWER_PROJECT');
  place.change('market-mcp.json', (text) => text.replace('"0.9.0"', '"0.2.0"'));
  expect(JSON.parse((await market('--dry-run')).stdout).error).toMatchObject({
    code: 'UNKNOWN_VERSION',
    hint: expect.stringContaining('0.3.0'),
  });
  expect(existsSync(join(repository, 'releases/0.3.0.br'))).toBe(true);
});
