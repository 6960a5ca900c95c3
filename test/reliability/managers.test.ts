import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageManagerCommands } from '../../src/plan/package-manager-commands.ts';
import { version as ownVersion } from '../../src/plan/package-versions.ts';
import { buildImage } from '../e2e/dockerfile.ts';
import {
  bins,
  type CreateResult,
  create,
  passedSelfCheck,
  run,
  scratch,
  succeeded,
  tree,
} from '../e2e/support.ts';
import { randomFrom, seed } from '../random.ts';
import { git, makeOldProject } from '../upgrade/scenario.ts';
import { record } from './figures.ts';
import { commandDirectory, installToolchain, toolFile } from './toolchain.ts';

const managers = [
  { title: 'npm', name: 'npm', script: null },
  { title: 'pnpm', name: 'pnpm', script: toolFile('pnpm', 'bin/pnpm.mjs') },
  { title: 'Yarn classic', name: 'yarn', script: toolFile('yarn-classic', 'bin/yarn.js') },
  { title: 'Yarn berry', name: 'yarn', script: toolFile('yarn-berry', 'bin/yarn.js') },
  { title: 'Bun install', name: 'bun', script: toolFile('bun', 'bin/bun') },
] as const;

/** Packages of a default project, some of which only others need. */
const needed = ['create-market-mcp', 'market-mcp-runtime', 'typescript', 'undici-types'];

const root = scratch();
beforeAll(installToolchain);

/** A PATH with one package manager. */
function pathTo(place: string, name: string, script: string | null): string {
  const own = script === null ? [] : [commandDirectory(join(root, 'bin', place), name, script)];
  return [...own, process.env.PATH].join(delimiter);
}

it.each(managers)(
  '$title installs, builds and self-checks a generated project',
  async ({ title, name, script }) => {
    const place = title.toLowerCase().replace(' ', '-');
    const options = { cwd: root, env: { PATH: pathTo(place, name, script) } };
    const { stdout: version } = await run(name, ['--version'], options);

    const created = await succeeded(
      create([place, '--yes', '--json', '--no-git', '--package-manager', name], options),
    );
    const { directory, packages, selfCheck }: CreateResult = JSON.parse(created.stdout);
    expect(selfCheck).toMatchObject(passedSelfCheck);
    expect(existsSync(join(directory, 'node_modules/market-mcp-runtime'))).toBe(true);
    const lock = readFileSync(join(directory, packageManagerCommands[name].lockFile), 'utf8');
    expect(packages?.map((entry) => entry.replace(/@[^@]+$/, ''))).toEqual(expect.arrayContaining(needed));
    for (const entry of packages ?? []) {
      const [, packageName = '', version = ''] = /^(.+)@(.+)$/.exec(entry) ?? [];
      expect(lock, entry).toMatch(
        new RegExp(`${packageName}[\\s\\S]{0,400}${version.replaceAll('.', '\\.')}`),
      );
    }

    await succeeded(run(name, ['run', 'test'], { ...options, cwd: directory }));
    record(place, { version, passed: selfCheck?.passed });

    const { packageManager } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    expect(packageManager).toBe(name === 'yarn' ? `yarn@${version.trim()}` : undefined);
    for (const file of secretFiles) writeFileSync(join(directory, file), `SESSION_SECRET=${secret}\n`);
    // As under umask 077.
    chmodSync(join(directory, 'package.json'), 0o600);
    const stages = join(root, `${place}-stages`);
    mkdirSync(stages);
    const prefix = join(stages, 'global');
    const image = await buildImage(directory, stages, { ...options.env, npm_config_prefix: prefix });
    const runtime = realpathSync(join(image, 'node_modules/market-mcp-runtime'));
    expect(runtime.startsWith(realpathSync(image))).toBe(true);
    const files = [...tree(runtime).keys()];
    expect(files).toContain('dist/serve.js');
    expect(files.filter((path) => /\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expectProduction(image);
  },
);

const secret = 'a-secret-that-stays-here';
const secretFiles = ['.env', '.env.local', '.env.production', 'src/.env.production.local'];

/** Expects the compiled server and what it needs, readable by any user; no checker, token signer, vendored package or secret. */
function expectProduction(image: string): void {
  const entries = readdirSync(image, { recursive: true, withFileTypes: true });
  const unreadable = entries.filter(
    (entry) => !entry.isSymbolicLink() && (statSync(join(entry.parentPath, entry.name)).mode & 0o4) === 0,
  );
  expect(unreadable.map(({ name }) => name)).toEqual([]);
  const paths = [...tree(image)];
  const places = new Set(paths.map(([path]) => /^(node_modules|dist\/src|[^/]+)/.exec(path)?.[1]));
  expect([...places].toSorted()).toEqual(['dist/src', 'node_modules', 'package.json']);
  for (const [path, text] of paths) {
    expect(path).not.toMatch(/node_modules\/create-market-mcp\/|(^|\/)vendor\/|\.tgz$|(^|\/)\.env/);
    expect(text.includes(secret), path).toBe(false);
    if (path !== 'package.json' && !/package-lock|\.lock|\.map$/.test(path))
      expect(/urn:local-platform|gate\.no-token|runContract/.test(text), path).toBe(false);
  }
}

it('git and npm ignore .env files except the example', async () => {
  const cwd = join(root, 'npm');
  const ran = async (file: string, ...args: string[]) => (await run(file, args, { cwd })).stdout;
  await ran('git', 'init', '--quiet');
  const known = await ran('git', 'ls-files', '--others', '--exclude-standard');
  const packed = await ran('npm', 'pack', '--dry-run', '--json', '--ignore-scripts');
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(packed);
  for (const paths of [known.split('\n'), files.map(({ path }) => path)])
    expect(paths.filter((path) => /(^|\/)\.env/.test(path))).toEqual(['.env.example']);
});

describe.each(managers.filter(({ name }) => name !== 'yarn'))('$title', ({ name, script }) => {
  it('upgrades a project of an earlier version in CI, including its lock file', async () => {
    const directory = join(scratch(), 'project');
    const flags = ['--package-manager', name];
    await makeOldProject({ directory, version: '0.4.0', flags, random: randomFrom(seed) });
    const options = { cwd: directory, env: { PATH: pathTo(name, name, script), CI: '1' } };
    await succeeded(run(name, ['install'], options));
    const lockFile = join(directory, packageManagerCommands[name].lockFile);
    const before = readFileSync(lockFile, 'utf8');
    await git(directory, 'add', '--all');
    await git(directory, 'commit', '--quiet', '--message', 'the lock file');

    const args = [bins.market, 'upgrade', '--no-check', '--json'];
    await succeeded(run(process.execPath, args, options));
    const after = readFileSync(lockFile, 'utf8');
    const packed = `create-market-mcp-${ownVersion}`;
    expect(before).not.toContain(packed);
    expect(after).toContain(packed);
    const [install = '', ...frozen] = packageManagerCommands[name].frozenInstall.split(' ');
    await succeeded(run(install, frozen, options));
    await succeeded(run(name, ['run', 'test'], options));
  });
});
