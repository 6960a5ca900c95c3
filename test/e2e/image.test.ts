import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLauncher } from '../../src/check/launch.ts';
import { buildImage, commandOf } from './dockerfile.ts';
import { fromRates, ratesDocument } from './rates.ts';
import { create, run, scratch, tree } from './support.ts';

const root = scratch();
const project = join(root, 'made');
const secret = 'a-secret-that-stays-here';
let image: string;

beforeAll(async () => {
  const created = await create(['made', '--yes', '--no-git', '--no-check', '--package-manager', 'npm'], {
    cwd: root,
  });
  expect(created.status, created.stderr).toBe(0);
  for (const file of ['.env', '.env.local', '.env.production', 'src/.env.production.local']) {
    writeFileSync(join(project, file), `SESSION_SECRET=${secret}\n`);
  }
  // As under umask 077.
  chmodSync(join(project, 'package.json'), 0o600);
  for (const name of ['stages', 'empty-cache']) mkdirSync(join(root, name));
  image = await buildImage(project, join(root, 'stages'), { npm_config_cache: join(root, 'empty-cache') });
});

/** The sum of the sizes of all files, in bytes. */
function sizeOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

describe('the image of a generated project, built step by step with an empty cache', () => {
  it('contains the production packages, the compiled server and package.json, nothing else', () => {
    const paths = [...tree(image).keys()];
    const places = new Set(paths.map((path) => /^(node_modules|dist\/src|[^/]+)/.exec(path)?.[1]));
    expect([...places].toSorted()).toEqual(['dist/src', 'node_modules', 'package.json']);
    const { packages } = JSON.parse(readFileSync(join(image, 'node_modules/.package-lock.json'), 'utf8'));
    expect(Object.keys(packages)).toEqual(['node_modules/market-mcp-runtime']);
  });

  it('can be read by any user, whatever the umask of the author', () => {
    const entries = readdirSync(image, { recursive: true, withFileTypes: true });
    const places = entries.filter((entry) => !entry.isSymbolicLink());
    const unreadable = places.filter(
      ({ parentPath, name }) => (statSync(join(parentPath, name)).mode & 0o4) === 0,
    );
    expect(unreadable.map(({ name }) => name)).toEqual([]);
  });

  it('contains no checker, no token signer, no vendored package, no source of the runtime and no secret', () => {
    const files = [...tree(image)];
    expect(files.length).toBeGreaterThan(20);
    for (const [path, text] of files) {
      expect(path).not.toMatch(/create-market-mcp|(^|\/)vendor\/|\.tgz$|(^|\/)\.env/);
      expect(path).not.toMatch(/^node_modules\/market-mcp-runtime\/.*(\.map|(?<!\.d)\.ts)$/);
      if (path === 'package.json' || path.endsWith('.map')) continue;
      expect(text.includes(secret), path).toBe(false);
      expect(/urn:local-platform|gate\.no-token|runContract/.test(text), path).toBe(false);
    }
  });

  it('has 3.6 MB, and 7.5 MB with an API', async () => {
    expect(sizeOf(image)).toBeLessThan(3_600_000);
    writeFileSync(join(root, 'api.json'), JSON.stringify(ratesDocument('https://rates.example')));
    const more = await create(['more', '--yes', '--no-git', ...fromRates], { cwd: root });
    expect(more.status, more.stderr).toBe(0);
    mkdirSync(join(root, 'more-stages'));
    const place = await buildImage(join(root, 'more'), join(root, 'more-stages'), {});
    expect(existsSync(join(place, 'node_modules/ky'))).toBe(true);
    expect(sizeOf(place)).toBeLessThan(7_500_000);
  });

  it('serves requests', async () => {
    const [, ...words] = commandOf(project);
    expect(words.at(-1)).toBe('dist/src/main.js');
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { launch } = createLauncher(
      'dist/src/main.js',
      {
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PLATFORM_ISSUER: 'https://platform.example',
        PLATFORM_AUDIENCE: 'https://tools.example/mcp',
        PLATFORM_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        SESSION_SECRET: 'x'.repeat(32),
      },
      { cwd: image },
    );
    const instance = await launch({});
    await instance.stop();
    expect(instance.healthy, instance.output()).toBe(true);
  });
});

it('git and npm ignore .env files except the example', async () => {
  await run('git', ['init', '--quiet'], { cwd: project });
  const known = await run('git', ['ls-files', '--others', '--exclude-standard'], { cwd: project });
  const packed = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: project });
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(packed.stdout);
  for (const paths of [known.stdout.split('\n'), files.map(({ path }) => path)]) {
    expect(paths.filter((path) => /(^|\/)\.env/.test(path))).toEqual(['.env.example']);
  }
});
