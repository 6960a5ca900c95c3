import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { rules } from '../../packages/contract/src/catalogue.ts';
import { packageManagerCommands } from '../../src/plan/package-manager.ts';
import { repository, run, tree } from '../e2e/support.ts';
import { installTools, type Registry, startRegistry } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'market-mcp-registry-'));
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
/** The files of a release. */
const release = join(root, 'release');
let registry: Registry | undefined;
/** Separate homes, caches and prefixes: Yarn 1 installs the package for `create` globally. */
let env: Record<string, string>;

beforeAll(async () => {
  const tools = await installTools();
  registry = await startRegistry(tools, own('registry'));
  env = isolated(registry.url, tools);
  for (const tarball of await packPublished()) await registry.publish(tarball, env);
});

afterAll(async () => {
  await registry?.stop();
  rmSync(root, { recursive: true, force: true });
});

function own(name: string): string {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Packs this checkout as for publication: the runtime, then the program. */
async function packPublished(): Promise<readonly string[]> {
  const source = own('source');
  const left = new Set(
    ['.git', 'node_modules', 'dist', 'packages/contract/dist', 'packages/runtime/dist', 'demo'].map((name) =>
      join(repository, name),
    ),
  );
  cpSync(repository, source, { recursive: true, filter: (path) => !left.has(path) });
  symlinkSync(join(repository, 'node_modules'), join(source, 'node_modules'), 'dir');
  const packed = await run(process.execPath, ['scripts/pack-release.js', release], { cwd: source });
  expect(packed.status, packed.stderr).toBe(0);
  return ['market-mcp-runtime-', 'create-market-mcp-'].map((start) =>
    join(release, String(readdirSync(release).find((name) => name.startsWith(start)))),
  );
}

function isolated(url: string, tools: string): Record<string, string> {
  const home = own('home');
  const { host } = new URL(url);
  writeFileSync(join(home, '.npmrc'), `registry=${url}\n//${host}/:_authToken=nobody\n`);
  writeFileSync(join(home, '.yarnrc'), `registry "${url}"\n`);
  const managers = own('managers');
  for (const name of ['pnpm', 'yarn']) symlinkSync(join(tools, '.bin', name), join(managers, name));
  // The package `bun` puts its program in place by a script, which has not run.
  const [bun = ''] = readdirSync(join(tools, '@oven'));
  for (const name of ['bun', 'bunx']) symlinkSync(join(tools, '@oven', bun, 'bin/bun'), join(managers, name));
  return {
    PATH: [managers, process.env.PATH].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: own('home/cache'),
    XDG_CONFIG_HOME: own('home/config'),
    XDG_DATA_HOME: own('home/data'),
    XDG_STATE_HOME: own('home/state'),
    PNPM_HOME: own('home/pnpm'),
    YARN_CACHE_FOLDER: own('home/yarn-cache'),
    BUN_INSTALL: own('home/bun'),
    // bunx keeps a package for a day in the temporary directory.
    TMPDIR: own('home/tmp'),
    npm_config_userconfig: join(home, '.npmrc'),
    npm_config_registry: url,
    npm_config_cache: own('home/npm-cache'),
    npm_config_prefix: own('home/prefix'),
    // The package of this test was published a moment ago.
    pnpm_config_minimum_release_age: '0',
  };
}

test('a release lists the packages inside it, with their licences', () => {
  const { components, metadata } = JSON.parse(readFileSync(join(release, 'sbom.cdx.json'), 'utf8'));
  expect(metadata.component).toMatchObject({ version });
  const listed = new Map<string, { readonly licenses?: unknown }>(
    components.map((component: { readonly name: string }) => [component.name, component]),
  );
  const { devDependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  expect(Object.keys(devDependencies).filter((name) => !listed.has(name))).toEqual([]);
  expect(listed.get('ajv')?.licenses).toEqual([{ license: { id: 'MIT' } }]);
  expect(readdirSync(release)).toHaveLength(4);
});

/** The first three words are typed by users. */
const ways = [
  {
    title: 'npx create-market-mcp',
    manager: 'npm',
    command: ['npx', '--yes', 'create-market-mcp', 'my-tool', '--yes'],
  },
  {
    title: 'npm create market-mcp@latest',
    manager: 'npm',
    command: ['npm', 'create', '--yes', 'market-mcp@latest', 'my-tool', '--', '--yes'],
  },
  {
    title: 'pnpm create market-mcp',
    manager: 'pnpm',
    command: ['pnpm', 'create', 'market-mcp', 'my-tool', '--yes'],
  },
  {
    title: 'yarn create market-mcp',
    manager: 'yarn',
    command: ['yarn', 'create', 'market-mcp', 'my-tool', '--yes'],
  },
  {
    title: 'bun create market-mcp',
    manager: 'bun',
    command: ['bun', 'create', 'market-mcp', 'my-tool', '--yes'],
  },
] as const;

const call = { npm: ['npx'], pnpm: ['pnpm', 'exec'], yarn: ['yarn'], bun: ['bunx'] } as const;

describe.sequential.each(ways)('$title', ({ manager, command: [file, ...args] }) => {
  it('creates a project that passes its check, and market-mcp adds a tool in it', async () => {
    const cwd = mkdtempSync(join(root, 'way-'));
    const created = await run(file, args, { cwd, env });
    expect(created.status, created.stdout + created.stderr).toBe(0);
    expect(judgedIn(created.stdout)).toEqual({ rules: rules.length, failed: 0 });
    expect(created.stdout).toContain('To repeat this without questions: npx create-market-mcp my-tool');

    const project = join(cwd, 'my-tool');
    expect(existsSync(join(project, packageManagerCommands[manager].lockFile))).toBe(true);
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect(devDependencies['create-market-mcp']).toBe(version);
    expect(existsSync(join(project, 'vendor'))).toBe(false);
    for (const text of ['README.md', 'Dockerfile', 'AGENTS.md']) {
      expect(readFileSync(join(project, text), 'utf8')).not.toContain('vendor');
    }

    const [program, ...words] = [...call[manager], 'market-mcp', 'add-tool', 'get_fee', '--yes'];
    const added = await run(program, words, { cwd: project, env });
    expect(added.status, added.stdout + added.stderr).toBe(0);
    expect(judgedIn(added.stdout)).toEqual({ rules: rules.length, failed: 0 });
    expect([...tree(join(project, 'src/tools')).keys()]).toContain('get-fee.ts');
  });
});

/** The number of rules that a printed self-check judged or listed as not run. */
function judgedIn(output: string) {
  const [line = ''] = /self-check: .*/.exec(output) ?? [];
  const counts = [...line.matchAll(/\d+/g)].map(Number);
  return { rules: counts.reduce((sum, count) => sum + count, 0), failed: counts[1] ?? 0 };
}
