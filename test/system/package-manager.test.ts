import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lockedPackages } from '../../src/project/package/locked.ts';
import { detectPackageManager, packageManagerOf } from '../../src/system/detect.ts';
import { install } from '../../src/system/package-manager.ts';
import { directory } from '../project/directory.ts';
import { startRegistry } from './registry.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the package manager', () => {
  it('is the one that runs the program', () => {
    const agents = {
      pnpm: 'pnpm/10.1.0 npm/? node/v20.0.0 linux x64',
      bun: 'bun/1.4.5 npm/? node/v26.3.0 linux x64',
    };
    for (const [name, agent] of Object.entries(agents)) {
      expect(detectPackageManager(directory(), { npm_config_user_agent: agent })).toBe(name);
    }
  });

  it('is the one of the nearest lock file above', () => {
    const root = directory();
    writeFileSync(join(root, 'yarn.lock'), '');
    mkdirSync(join(root, 'packages/a'), { recursive: true });
    expect(detectPackageManager(join(root, 'packages/a/new'), {})).toBe('yarn');
    writeFileSync(join(root, 'packages/pnpm-lock.yaml'), '');
    expect(detectPackageManager(join(root, 'packages/a/new'), {})).toBe('pnpm');
    writeFileSync(join(root, 'packages/a/bun.lock'), '');
    expect(detectPackageManager(join(root, 'packages/a/new'), {})).toBe('bun');
  });

  it('is, in a project, the one of its lock file, or of its manifest, whatever runs the program', () => {
    const project = directory();
    const env = { npm_config_user_agent: 'npm/10.8.2 node/v20.20.0' };
    const answers = { name: 'x', packageManager: 'yarn', profile: 'generic', tools: [] };
    const manifest = { schema: 3, template: '0.3.0', platform: 'generic', answers, files: {} };
    writeFileSync(join(project, 'market-mcp.json'), JSON.stringify(manifest));
    expect(detectPackageManager(project, env)).toBe('yarn');
    writeFileSync(join(project, 'pnpm-lock.yaml'), '');
    expect(detectPackageManager(project, env)).toBe('pnpm');
    mkdirSync(join(project, 'src'));
    expect(packageManagerOf(join(project, 'src')).run).toBe('pnpm run');
    writeFileSync(join(project, 'package-lock.json'), '');
    writeFileSync(join(project, 'yarn.lock'), '');
    expect(detectPackageManager(project, { npm_config_user_agent: 'yarn/4.0.0' })).toBe('yarn');
    rmSync(join(project, 'pnpm-lock.yaml'));
    rmSync(join(project, 'package-lock.json'));
    rmSync(join(project, 'yarn.lock'));
    writeFileSync(join(project, 'market-mcp.json'), '{');
    expect(detectPackageManager(project, env)).toBe('npm');
  });

  it('is npm by default', () => {
    expect(detectPackageManager(directory(), { npm_config_user_agent: 'cnpm/9.4' })).toBe('npm');
  });
});

describe('an install', () => {
  it.each([
    ['NODE_ENV', 'production'],
    ['npm_config_omit', 'dev'],
  ])('installs development dependencies even with %s=%s', async (variable, value) => {
    const root = directory();
    mkdirSync(join(root, 'local'));
    writeFileSync(join(root, 'local/package.json'), '{"name":"local","version":"1.0.0"}');
    writeFileSync(join(root, 'package.json'), '{"devDependencies":{"local":"file:local"}}');
    vi.stubEnv(variable, value);
    await install('npm', root, () => {});
    const { name } = JSON.parse(readFileSync(join(root, 'node_modules/local/package.json'), 'utf8'));
    expect(name).toBe('local');
  });

  it('uses cached metadata, and requests it again if it is too old', async () => {
    const registry = await startRegistry('known');
    const root = directory();
    const want = (version: string) =>
      writeFileSync(join(root, 'package.json'), JSON.stringify({ dependencies: { known: version } }));
    const installed = async () => {
      await install('npm', root, () => {});
      return JSON.parse(readFileSync(join(root, 'node_modules/known/package.json'), 'utf8')).version;
    };
    vi.stubEnv('npm_config_registry', registry.url);
    vi.stubEnv('npm_config_cache', directory());
    registry.publish('1.0.0');
    want('1.0.0');
    expect(await installed()).toBe('1.0.0');
    const asked = registry.asked();
    for (const made of ['node_modules', 'package-lock.json']) rmSync(join(root, made), { recursive: true });
    expect(await installed()).toBe('1.0.0');
    expect(registry.asked()).toBe(asked);
    registry.publish('2.0.0');
    want('2.0.0');
    expect(await installed()).toBe('2.0.0');
    expect(registry.asked()).toBeGreaterThan(asked);
  });

  it('takes what the registry has where it differs from what the program knows', async () => {
    const registry = await startRegistry('ky');
    const { version, integrity } = lockedPackages.ky ?? expect.fail();
    registry.publish(version);
    const root = directory();
    writeFileSync(join(root, 'package.json'), JSON.stringify({ dependencies: { ky: version } }));
    vi.stubEnv('npm_config_registry', registry.url);
    vi.stubEnv('npm_config_cache', directory());
    await install('npm', root, () => {});
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    expect(lock.packages['node_modules/ky']).toMatchObject({
      version,
      integrity: expect.not.stringMatching(`${integrity}`),
    });
    expect(JSON.parse(readFileSync(join(root, 'node_modules/ky/package.json'), 'utf8'))).toEqual({
      name: 'ky',
      version,
    });
  });

  it('prints the last lines and the command to retry if it fails', async () => {
    const root = directory();
    writeFileSync(join(root, 'package.json'), '{"dependencies":{"x":"file:nowhere.tgz"}}');
    const error = await install('npm', root, () => {}).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toMatchObject({
      code: 'INSTALL_FAILED',
      hint: `All files are written. To continue, run in ${root}: npm install`,
      details: expect.arrayContaining([expect.stringContaining('ENOENT')]),
    });
    expect(readdirSync(root)).toEqual(['package.json']);
  });

  it('reports a missing package manager', async () => {
    const { PATH } = process.env;
    process.env.PATH = directory();
    const error = await install('pnpm', directory(), () => {}).catch((error: unknown) => error);
    process.env.PATH = PATH;
    expect(error).toMatchObject({ code: 'PACKAGE_MANAGER_MISSING', message: 'pnpm is not installed' });
  });
});
