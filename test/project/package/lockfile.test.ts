import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  devDependencies,
  redisDependencies,
  sourceDependencies,
} from '../../../src/plan/package-versions.ts';
import { knownLock } from '../../../src/project/package/lockfile.ts';
import { directory } from '../directory.ts';

const root = join(import.meta.dirname, '../../..');

/** A project that needs everything that a project can need. @param more what its author added or changed */
function project(more: { dependencies?: object; devDependencies?: object } = {}): string {
  const place = directory();
  cpSync(join(root, 'dist/vendor'), join(place, 'vendor'), { recursive: true });
  const packed = (name: string) =>
    `file:vendor/${readdirSync(join(place, 'vendor')).find((file) => file.startsWith(name))}`;
  const manifest = {
    name: 'made',
    version: '0.1.0',
    dependencies: {
      ...sourceDependencies,
      ...redisDependencies,
      'market-mcp-runtime': packed('market-mcp-runtime'),
      ...more.dependencies,
    },
    devDependencies: {
      ...devDependencies,
      'create-market-mcp': packed('create-market-mcp'),
      ...more.devDependencies,
    },
    engines: { node: '>=20.12' },
  };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  return place;
}

/** The lock file that npm writes. */
function npmLock(place: string): string {
  const flags = ['--package-lock-only', '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', ['install', ...flags], { cwd: place, shell: process.platform === 'win32' });
  return readFileSync(join(place, 'package-lock.json'), 'utf8');
}

describe('the known lock file', () => {
  it('says what npm writes without it, and npm leaves it so', () => {
    const place = project();
    const known = knownLock(place);
    const written = npmLock(place);
    expect(JSON.parse(known)).toEqual(JSON.parse(written));
    writeFileSync(join(place, 'package-lock.json'), known);
    expect(npmLock(place)).toBe(written);
  });

  it('leaves out what it does not know, and npm adds it', () => {
    const place = project({
      dependencies: { picocolors: '^1.1.0' },
      devDependencies: { '@types/node': '20.19.0' },
    });
    const known = knownLock(place);
    expect(JSON.parse(known).packages).not.toHaveProperty(['node_modules/@types/node']);
    writeFileSync(join(place, 'package-lock.json'), known);
    const written = npmLock(place);
    rmSync(join(place, 'package-lock.json'));
    expect(written).toBe(npmLock(place));
    expect(JSON.parse(written).packages['node_modules/@types/node'].version).toBe('20.19.0');
  });
});
