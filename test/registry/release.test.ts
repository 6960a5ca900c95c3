import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseTar } from 'nanotar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { bins, copyRepository, repository, run, scratch, succeeded } from '../e2e/support.ts';
import { emptyEnvironment, installTools, type Registry, startRegistry } from './registry.ts';

const root = scratch();
/** A checkout whose versions and owner this test changes. */
const checkout = join(root, 'checkout');
const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
const order = ['market-mcp-contract', 'market-mcp-runtime', 'create-market-mcp'] as const;
const places = ['packages/contract', 'packages/runtime', '.'];
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

beforeAll(() => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: checkout });
  copyRepository(checkout, (path) => !path.startsWith('test/'));
  git('init', '--quiet');
  git('add', '--all');
  symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'));
});

/** The default registry of every release in this file: it contains no package and accepts none. */
const { origin: refusingRegistry, requests } = await startApi(() => ({ status: 404, body: {} }));
/** The environment of a release that must not reach a real registry or sign a statement. */
const isolated = { npm_config_registry: refusingRegistry, ACTIONS_ID_TOKEN_REQUEST_URL: '' };

const release = (args: readonly string[], env = {}) =>
  run(process.execPath, ['scripts/release.js', ...args], { cwd: checkout, env: { ...isolated, ...env } });

/** Every file of a directory but the lent packages: path → hash. */
function stateOf(directory: string): object {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/node_modules|\.git(\/|$)/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.sort().map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}

function edit(path: string, from: string | RegExp, to: string): void {
  const file = join(checkout, path);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(file, text.replace(from, to));
}

describe('the files of a release', () => {
  const out = join(root, 'release');

  // That the same sources give the same bytes is shown by the repeated release below: its packages are "there already".
  it('are packed with their checksums, and leave the checkout as it was', async () => {
    const before = stateOf(checkout);
    await succeeded(release(['pack', out]));
    expect(stateOf(checkout)).toEqual(before);
    const checked = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out }).toString();
    expect(checked.match(/: OK$/gm)).toHaveLength(4);
    expect((await release(['pack', out])).stderr).toContain('is not empty');
  });

  it.each(order)('%s has its licence, its README, its repository, and nothing that was not meant', (name) => {
    const tar = gunzipSync(readFileSync(join(out, `${name}-${version}.tgz`)));
    const files = new Map(parseTar(tar).map((file) => [file.name.replace('package/', ''), file.text]));
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/LICENSES.txt']),
    );
    const tops = new Set([...files.keys()].map((path) => path.split('/')[0]));
    const known = [
      'LICENSE',
      'README.md',
      'package.json',
      'bin',
      'dist',
      'src',
      'alerts.yml',
      'grafana.json',
      'renamed.json',
    ];
    expect([...tops].filter((top) => !known.includes(String(top)))).toEqual([]);
    expect([...files.keys()].filter((path) => /\.tgz$|vendor|node_modules|\.test\./.test(path))).toEqual([]);
    expect(files.get('README.md')).not.toMatch(/<!-- |node <clone>|in a clone/);
    const manifest = JSON.parse(files.get('package.json') ?? '');
    const at = places[order.indexOf(name)];
    expect(manifest).toMatchObject({
      name,
      version,
      license: 'MIT',
      repository: {
        type: 'git',
        url: expect.stringMatching(/^git\+https:\/\/github\.com\/[\w-]+\/create-market-mcp\.git$/),
      },
      homepage: expect.stringMatching(/#readme$/),
      bugs: { url: expect.stringMatching(/\/issues$/) },
    });
    expect(manifest.repository.directory).toBe(at === '.' ? undefined : at);
    expect(manifest).not.toHaveProperty('dependencies');
  });

  it('list the packages in the bundles with their licences, as npm knows them', async () => {
    const { components, dependencies, metadata } = JSON.parse(
      readFileSync(join(out, 'sbom.cdx.json'), 'utf8'),
    );
    expect(metadata.component).toMatchObject({ name: 'create-market-mcp', version });
    // npm's own list has every package that is installed to build: each of ours is among them, with the same licence.
    const npm = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: repository });
    interface Component {
      readonly purl: string;
      readonly licenses: unknown;
    }
    const installed = new Map(
      JSON.parse(npm.stdout).components.map((one: Component) => [one.purl, one.licenses]),
    );
    const bundled = components.filter(({ name }: { name: string }) => !order.includes(name as never));
    for (const { purl, licenses } of bundled as readonly Component[])
      expect([purl, installed.get(purl)]).toEqual([purl, licenses]);
    expect(bundled.length).toBeGreaterThan(40);
    expect(bundled.length).toBeLessThan(installed.size / 2);
    const insideRuntime = dependencies.find(({ ref }: { ref: string }) =>
      ref.includes('market-mcp-runtime'),
    ).dependsOn;
    expect(insideRuntime.map((ref: string) => ref.replace(/^pkg:npm\/|@[\d.]+$/g, ''))).toEqual(
      expect.arrayContaining(['ajv', 'ajv-formats', 'jose', 're2js']),
    );
  });
});

describe('the owner of the repository', () => {
  /** Runs a release of the checkout with an owner, and restores the owner of this repository. */
  async function releaseOf(owner: string, args: readonly string[]) {
    const file = join(checkout, 'package.json');
    const manifest = readFileSync(file, 'utf8');
    edit('package.json', /github\.com\/[\w-]+\//, `github.com/${owner}/`);
    try {
      return await release(args);
    } finally {
      writeFileSync(file, manifest);
    }
  }

  it('is required by ready and publish, and without it no registry gets a request', async () => {
    const message = expect.stringContaining('in place of OWNER-NOT-SET');
    for (const args of [
      ['ready', `v${version}`],
      ['publish', join(root, 'release')],
    ]) {
      const { status, stderr } = await releaseOf('OWNER-NOT-SET', args);
      expect([status, stderr]).toEqual([1, message]);
    }
    expect(requests).toEqual([]);
  });

  it('is accepted by ready, which prints nothing', async () => {
    const { status, stdout, stderr } = await releaseOf('ada', ['ready', `v${version}`]);
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  });

  it('is not enough for ready without the archive of the version before', async () => {
    const archive = join(checkout, 'releases/0.4.0.br');
    renameSync(archive, `${archive}.away`);
    try {
      const { status, stderr } = await releaseOf('ada', ['ready', `v${version}`]);
      expect([status, stderr]).toEqual([1, expect.stringContaining('releases/0.4.0.br is missing')]);
    } finally {
      renameSync(`${archive}.away`, archive);
    }
  });

  it('is accepted by publish, which then sends a request to the registry of the environment', async () => {
    const { status, stderr } = await releaseOf('ada', ['publish', join(root, 'release')]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/npm publish .*market-mcp-contract/)]);
    expect(stderr).toContain('Log in first: npm login');
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toContain('GET /market-mcp-contract');
  });
});

describe('a release', () => {
  let tools = '';
  let registry: Registry | undefined;
  let env: Record<string, string> = {};
  const storage = join(root, 'storage');
  const open = async (denied?: string) => {
    await registry?.stop();
    mkdirSync(storage, { recursive: true });
    registry = await startRegistry(tools, storage, denied);
    env = emptyEnvironment(registry.url, tools, join(root, `home-${denied ?? 'open'}`));
  };
  const rehearse = () => release(['--dry-run', '--registry', registry?.url ?? ''], env);
  const shown = async () => {
    const views = order.map((name) =>
      run('npm', ['view', name, 'versions', '--json', '--prefer-online'], { cwd: root, env }),
    );
    return (await Promise.all(views)).map(({ status, stdout }) =>
      status === 0 ? [JSON.parse(stdout)].flat() : [],
    );
  };
  const said = (stdout: string) => stdout.split('\n').filter((line) => /^[\w-]+@\S+ (is|can)/.test(line));

  beforeAll(async () => {
    tools = await installTools();
  });
  afterAll(() => registry?.stop());

  it('is refused with another tag, with other versions, and for another registry', async () => {
    const ready = await release(['ready', 'v9.9.9']);
    expect([ready.status, ready.stderr]).toEqual([1, expect.stringContaining('tag v9.9.9 is not')]);
    const elsewhere = await release(['--dry-run', '--registry', 'https://registry.example.com/']);
    expect([elsewhere.status, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining('to this machine alone'),
    ]);
  });

  it('without a user at the registry of this machine names the command that makes one', async () => {
    await open('no-package');
    const noUser = join(root, 'home-without-user');
    mkdirSync(noUser);
    const { status, stderr } = await release(['--dry-run', '--registry', registry?.url ?? ''], {
      ...env,
      HOME: noUser,
      npm_config_userconfig: join(noUser, '.npmrc'),
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`Log in first: npm adduser --registry ${registry?.url}`),
    ]);
  });

  it('that broke after the first package is completed by a second run, and a third one changes nothing', async () => {
    await open('market-mcp-runtime');
    const broken = await rehearse();
    expect([broken.status, said(broken.stdout)]).toEqual([
      1,
      [`market-mcp-contract@${version} is published`],
    ]);
    expect(broken.stderr).toMatch(/npm publish .*market-mcp-runtime/);
    await open();
    const second = await succeeded(rehearse());
    expect(said(second.stdout)).toEqual([
      `market-mcp-contract@${version} is there already`,
      ...order.slice(1).map((name) => `${name}@${version} is published`),
      ...order.map((name) => `${name}@${version} can be installed`),
    ]);
    const third = await rehearse();
    expect([third.status, said(third.stdout).slice(0, 3)]).toEqual([
      0,
      order.map((name) => `${name}@${version} is there already`),
    ]);
  });

  it('with other content under the same version publishes nothing', async () => {
    edit('LICENSE', 'MIT License', 'The MIT License');
    const other = await rehearse();
    expect([other.status, said(other.stdout)]).toEqual([1, []]);
    expect(other.stderr).toContain(`market-mcp-contract@${version} is in the registry with other content`);
  });

  it('of the next version is published beside the earlier one', async () => {
    // Its program contains the archive of this version, from which it knows what that wrote into projects.
    execFileSync('git', [...identity, 'commit', '--quiet', '--message', version], { cwd: checkout });
    await succeeded(run(process.execPath, ['scripts/archive-release.js', 'HEAD'], { cwd: checkout }));
    edit('packages/contract/package.json', /"version": "[^"]+"/, '"version": "0.9.0"');
    const uneven = await release(['ready', 'v0.9.0']);
    expect(uneven.stderr).toContain('packages/contract/package.json has another version');
    for (const place of places.slice(1))
      edit(join(place, 'package.json'), /"version": "[^"]+"/, '"version": "0.9.0"');
    const unlocked = await release(['ready', 'v0.9.0']);
    expect(unlocked.stderr).toContain('package-lock.json does not have create-market-mcp 0.9.0');
    await succeeded(rehearse());
    expect(await shown()).toEqual(order.map(() => [version, '0.9.0']));
  });

  it.each([
    ['from the registry', ['npx', '--yes', `create-market-mcp@${version}`]],
    ['with its packages in vendor/', [process.execPath, bins.create]],
  ])('upgrades a project of this version that was made %s to the published next one', async (way, words) => {
    const cwd = mkdtempSync(join(root, 'project-'));
    const project = join(cwd, 'gas');
    const [file = '', ...args] = words;
    await succeeded(run(file, [...args, 'gas', '--yes', '--no-check', '--no-git'], { cwd, env }));
    expect(existsSync(join(project, 'vendor'))).toBe(way.includes('vendor'));
    for (const step of [
      ['init', '--quiet'],
      ['add', '--all'],
      [...identity, 'commit', '--quiet', '--message', 'before'],
    ])
      execFileSync('git', step, { cwd: project });
    const upgrade = ['--yes', '--package', 'create-market-mcp@latest', 'market-mcp', 'upgrade'];
    await succeeded(run('npx', upgrade, { cwd: project, env }));
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect([dependencies['market-mcp-runtime'], devDependencies['create-market-mcp']]).toEqual([
      '0.9.0',
      '0.9.0',
    ]);
    expect(existsSync(join(project, 'vendor'))).toBe(false);
    for (const path of ['README.md', 'Dockerfile', 'package-lock.json'])
      expect([path, readFileSync(join(project, path), 'utf8').includes('vendor')]).toEqual([path, false]);
    expect((await run('npx', ['market-mcp', 'doctor'], { cwd: project, env })).stdout).toContain('0.9.0');
  });
});
