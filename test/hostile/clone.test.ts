import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { market } from '../cli/sinks.ts';
import { bins, create, run, scratch, succeeded, tree } from '../e2e/support.ts';

// A project that its author made on purpose to harm whoever clones it. Nothing outside of it may change or be printed.

const root = scratch();
const secret = 'CANARY_OUTSIDE';
const victim = 'victim/secret.txt';
const outside = {
  [victim]: `${secret}=1\n`,
  'victim/a-to-b/report.md': 'x\n',
  'victim/src/tools/get-fee.js': 'x\n',
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let made = '';
beforeAll(async () => {
  made = join(root, 'made');
  await succeeded(create(['made', '--yes', '--no-install', '--no-git'], { cwd: root }));
  const flags = ['--description', 'Returns a fee.', '--output', 'fee:number A fee', '--yes', '--no-check'];
  const added = await market(made, ['add-tool', 'get_fee', ...flags]);
  expect(added.exitCode, added.stderr).toBe(0);
  // An upgrade has something to write.
  rmSync(join(made, 'src/platform.ts'));
});

interface Clone {
  readonly directory: string;
  /** The directory that contains the project and what is outside of it. */
  readonly around: string;
  write(path: string, text: string): void;
  link(path: string, target: string): void;
  manifest(change: (manifest: Manifest) => void): void;
}

interface Manifest {
  template: string;
  files: { [path: string]: { sha256: string; owner: string } };
  answers: { [name: string]: unknown };
}

function clone(): Clone {
  const around = scratch();
  const directory = join(around, 'project');
  cpSync(made, directory, { recursive: true });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  for (const [path, text] of Object.entries(outside)) write(join('..', path), text);
  return {
    directory,
    around,
    write,
    link(path, target) {
      rmSync(join(directory, path), { recursive: true, force: true });
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      symlinkSync(target, join(directory, path));
    },
    manifest(change) {
      const manifest = JSON.parse(readFileSync(join(directory, 'market-mcp.json'), 'utf8'));
      change(manifest);
      write('market-mcp.json', JSON.stringify(manifest));
    },
  };
}

/** Makes git write a file outside of the project wherever a setting of the repository or a hook can make it do so. */
function plantPrograms({ around, directory, write }: Clone, place: string): void {
  const touch = `touch ${join(around, 'victim/ran')}`;
  const config = (name: string, value: string) =>
    execFileSync('git', ['config', '--file', `${place}/config`, name, value], { cwd: directory });
  config('core.fsmonitor', `${touch}; echo`);
  for (const name of ['clean', 'smudge', 'process']) config(`filter.x.${name}`, `${touch}; cat`);
  write('.gitattributes', '* filter=x\n');
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'pre-commit']) {
    write(`${place}/hooks/${hook}`, `#!/bin/sh\n${touch}\n`);
    chmodSync(join(directory, `${place}/hooks/${hook}`), 0o755);
  }
}

const plants: { readonly [name: string]: (clone: Clone) => void } = {
  'a repository whose settings name programs': (c) => {
    execFileSync('git', ['init', '--quiet'], { cwd: c.directory });
    plantPrograms(c, '.git');
  },
  'a bare repository around its files': (c) => {
    execFileSync('git', ['init', '--quiet', '--bare', 'bare'], { cwd: c.directory });
    for (const part of ['HEAD', 'config', 'objects', 'refs'])
      renameSync(join(c.directory, 'bare', part), join(c.directory, part));
    rmSync(join(c.directory, 'bare'), { recursive: true });
    for (const [name, value] of [
      ['core.bare', 'false'],
      ['core.worktree', c.directory],
    ] as const)
      execFileSync('git', ['config', '--file', 'config', name, value], { cwd: c.directory });
    plantPrograms(c, '.');
  },
  'a repository of its files elsewhere in it': (c) => {
    execFileSync('git', ['init', '--quiet', '--separate-git-dir', 'data'], { cwd: c.directory });
    plantPrograms(c, 'data');
  },
  'a manifest with a file outside': (c) =>
    c.manifest(({ files }) => {
      files['../victim/secret.txt'] = { sha256: sha256(outside[victim] ?? ''), owner: 'generated' };
    }),
  'a manifest with an edited file outside': (c) =>
    c.manifest(({ files }) => {
      files['src/../../victim/secret.txt'] = { sha256: sha256(''), owner: 'generated' };
    }),
  'a manifest with an absolute path': (c) =>
    c.manifest(({ files }) => {
      files[join(c.around, victim)] = { sha256: sha256(outside[victim] ?? ''), owner: 'generated' };
    }),
  'a manifest with a file behind a link': (c) => {
    c.link('near', '../victim');
    c.manifest(({ files }) => {
      files['near/secret.txt'] = { sha256: sha256(outside[victim] ?? ''), owner: 'generated' };
    });
  },
  'a manifest whose version is a path': (c) =>
    c.manifest((manifest) => {
      manifest.template = '../../../victim/a';
    }),
  'a manifest that is a link': (c) => c.link('market-mcp.json', '../victim/secret.txt'),
  'a README that is a link': (c) => c.link('README.md', '../victim/secret.txt'),
  'a package.json that is a link': (c) => c.link('package.json', '../victim/secret.txt'),
  'a lock file that is a link': (c) => c.link('package-lock.json', '../victim/secret.txt'),
  'a list of tools that is a link': (c) => c.link('src/tools/index.ts', '../../../victim/secret.txt'),
  'a platform that is a link': (c) => c.link('src/platform.ts', '../../victim/secret.txt'),
  'variables that are a link': (c) => c.link('.env', '../victim/secret.txt'),
  'linked sources': (c) => c.link('src/server', '../../victim'),
  'a linked output of the compiler': (c) => c.link('dist', '../victim'),
};

/** What a victim runs. */
const commands: readonly (readonly string[])[] = [
  ['doctor'],
  ['upgrade', '--dry-run'],
  ['add-tool', 'get_new', '--description', 'Returns it.', '--output', 'it:number It', '--yes', '--dry-run'],
  ['rename-tool', 'get_fee', 'get_tip', '--yes', '--no-check'],
  ['rename-tool', 'get_tip', 'get_fee', '--yes', '--no-check'],
  ['remove-tool', 'get_fee', '--yes', '--no-check', '--force'],
  ['upgrade', '--no-install'],
  ['list', '--mark-listed'],
  ['deploy', 'add', 'docker', 'compose'],
  ['listing', '--endpoint', 'https://tools.example.com/mcp', '--registry-name', 'io.github.acme/project'],
  ['new', '.', '--yes', '--force', '--overwrite', '--no-install'],
  ['new', 'inner', '--yes', '--no-install'],
];

describe('a project that was made to harm', () => {
  it.each(Object.entries(plants))('with %s changes and reveals nothing outside', async (_, harm) => {
    const hostile = clone();
    harm(hostile);
    for (const args of commands) {
      const ran = await market(hostile.directory, args);
      expect(ran.exitCode, `${args.join(' ')}: ${ran.stderr}`).toBeLessThan(70);
      expect(ran.stdout + ran.stderr, args.join(' ')).not.toContain(secret);
      expectUntouched(hostile, args);
    }
  });

  it('that names a package manager does not choose its program', async () => {
    const { directory, write } = clone();
    write('yarn.lock', '');
    write('.yarnrc.yml', 'yarnPath: ./evil.cjs\n');
    const programs = join(directory, '../programs');
    write('../programs/yarn', '#!/bin/sh\nif [ -e .yarnrc.yml ]; then echo chosen; else echo 1.22.22; fi\n');
    chmodSync(join(programs, 'yarn'), 0o755);
    const env = { PATH: `${programs}:${process.env.PATH}` };
    const { stdout } = await run(process.execPath, [bins.market, 'doctor'], { cwd: directory, env });
    expect(stdout).toContain('yarn 1.22.22');
  });

  it('prints no control characters of its files', async () => {
    const { directory, write } = clone();
    write('package.json', JSON.stringify({ engines: { node: '\u001b]0;x\u0007' } }));
    const { stdout } = await run(process.execPath, [bins.market, 'doctor'], { cwd: directory });
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('\u0007');
  });
});

/** Nothing outside of the project has changed, and nothing of it was copied into the project. */
function expectUntouched({ around, directory }: Clone, args: readonly string[]): void {
  const all = [...tree(around)];
  const now = all.filter(([path]) => !path.startsWith('project/'));
  expect(Object.fromEntries(now), args.join(' ')).toEqual(outside);
  const copies = [...tree(directory)].filter(([, text]) => text.includes(secret));
  expect(
    copies.map(([path]) => path),
    args.join(' '),
  ).toEqual([]);
}
