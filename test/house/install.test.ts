import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createTar } from 'nanotar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repository, run, serveHere } from '../e2e/support.ts';

const root = mkdtempSync(join(tmpdir(), 'market-mcp-install-'));
const cwd = join(root, 'clone');
/** The versions of the package `one` that the registry has, and what it was asked. */
const published = ['1.0.0'];
const asked: (string | undefined)[] = [];
let url: string;

const registry = createServer((request, response) => {
  asked.push(request.url);
  const [, version] = /-(\d\.\d\.\d)\.tgz$/.exec(request.url ?? '') ?? [];
  if (version !== undefined) return response.end(archive(version));
  const versions = published.map((one) => [
    one,
    {
      name: 'one',
      version: one,
      dist: { tarball: `${url}/one/-/one-${one}.tgz`, integrity: integrity(one) },
    },
  ]);
  response.setHeader('content-type', 'application/json');
  return response.end(
    JSON.stringify({ name: 'one', 'dist-tags': { latest: '1.0.0' }, versions: Object.fromEntries(versions) }),
  );
});

function archive(version: string): Buffer {
  const data = JSON.stringify({ name: 'one', version });
  return gzipSync(createTar([{ name: 'package/package.json', data }], { attrs: { mtime: 0 } }));
}

function integrity(version: string): string {
  return `sha512-${createHash('sha512').update(archive(version)).digest('base64')}`;
}

beforeAll(async () => {
  url = await serveHere(registry);
  mkdirSync(join(cwd, 'packages/part'), { recursive: true });
  cpSync(join(repository, 'scripts/install.js'), join(cwd, 'scripts/install.js'));
  writeFileSync(join(cwd, 'packages/part/package.json'), JSON.stringify({ name: 'part', version: '1.0.0' }));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Installs a clone whose lock file names this version. */
async function install(version: string, cache = 'cache') {
  const workspaces = ['packages/*'];
  const manifest = { name: 'clone', type: 'module', workspaces, devDependencies: { one: version } };
  const packages = {
    '': { name: 'clone', workspaces, devDependencies: { one: version } },
    'node_modules/one': { version, integrity: integrity(version), dev: true },
    'node_modules/part': { resolved: 'packages/part', link: true },
    'packages/part': { name: 'part', version: '1.0.0' },
  };
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(cwd, 'package-lock.json'),
    JSON.stringify({ name: 'clone', lockfileVersion: 3, packages }),
  );
  asked.length = 0;
  const env = {
    PATH: process.env.PATH,
    npm_config_registry: `${url}/`,
    npm_config_cache: join(root, cache),
    npm_config_audit: 'false',
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  };
  return run(process.execPath, ['scripts/install.js'], { cwd, env });
}

const installed = () => JSON.parse(readFileSync(join(cwd, 'node_modules/one/package.json'), 'utf8')).version;

it('asks the registry about no package whose metadata npm has cached', async () => {
  expect(await install('1.0.0')).toMatchObject({ status: 0 });
  expect(asked).toContain('/one');
  expect(await install('1.0.0')).toMatchObject({ status: 0 });
  expect(asked).not.toContain('/one');
  expect(installed()).toBe('1.0.0');
});

it('asks the registry where the cached metadata is older than the lock file', async () => {
  published.push('1.0.1');
  expect(await install('1.0.1')).toMatchObject({ status: 0 });
  expect(asked).toContain('/one');
  expect(installed()).toBe('1.0.1');
});

it('ends with 1 and what npm says where a version does not exist', async () => {
  const { status, stderr } = await install('1.0.2', 'other');
  expect(status).toBe(1);
  expect(stderr).toContain('No matching version found for one@1.0.2');
});
