import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownPackages } from '../../../src/project/package/own-package.ts';
import { packPackage, unpackedRuntime } from '../../../src/project/package/pack.ts';
import { directory } from '../directory.ts';

const repository = join(import.meta.dirname, '../../..');

/** A directory with a package and further files. */
function source(main = 'export {};'): string {
  const root = directory();
  const manifest = { name: 'made', version: '1.2.3', bin: { made: 'bin/made.js' }, scripts: { x: 'y' } };
  for (const place of ['bin', 'dist/deep', 'dist/vendor', 'src']) {
    mkdirSync(join(root, place), { recursive: true });
  }
  for (const [path, text] of Object.entries({
    'package.json': JSON.stringify({ ...manifest, devDependencies: { other: '1.0.0' } }),
    LICENSE: 'MIT',
    'bin/made.js': '#!/usr/bin/env node',
    'dist/main.js': main,
    'dist/deep/a.js': '',
    'dist/vendor/made-1.2.2-0123456789.tgz': 'packed before',
    'dist/vendor/runtime.tgz': '',
    'src/main.ts': 'source',
  })) {
    writeFileSync(join(root, path), text);
  }
  return root;
}

function unpacked({ content }: ReturnType<typeof packPackage>): string {
  const root = directory();
  writeFileSync(join(root, 'packed.tgz'), content);
  execFileSync('tar', ['-xzf', 'packed.tgz'], { cwd: root });
  return join(root, 'package');
}

describe('a packed package', () => {
  it('contains what an installed copy needs, without what it packs itself', () => {
    const root = unpacked(packPackage(source()));
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    expect(files.map(({ name }) => name).sort()).toEqual([
      'LICENSE',
      'a.js',
      'made.js',
      'main.js',
      'package.json',
    ]);
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).toEqual({
      name: 'made',
      version: '1.2.3',
      bin: { made: 'bin/made.js' },
    });
  });

  it('has the same bytes and name at any time and place, also from an installed copy', () => {
    const root = source();
    const first = packPackage(root);
    expect(first.name).toMatch(/^made-1\.2\.3-[0-9a-f]{10}\.tgz$/);
    utimesSync(join(root, 'dist/main.js'), 1, 1);
    for (const again of [packPackage(root), packPackage(source()), packPackage(unpacked(first))]) {
      expect(again.name).toBe(first.name);
      expect(Buffer.compare(again.content, first.content)).toBe(0);
    }
  });

  it('has another name if its content differs', () => {
    expect(packPackage(source('export {}; //')).name).not.toBe(packPackage(source()).name);
  });
});

describe('this program as a dependency of a project', () => {
  it('and the runtime are the files that an installed copy would pack', () => {
    const { specifiers, files } = ownPackages();
    const [path = '', { content } = { content: new Uint8Array() }] = [...files][0] ?? [];
    expect(specifiers.program).toBe(`file:${path}`);
    const copy = unpacked({ name: '', content });
    const { name } = packPackage(copy);
    expect(path).toBe(`vendor/${name}`);
    const runtime = specifiers.runtime.replace('file:vendor/', '');
    expect(readdirSync(join(repository, 'dist/vendor'))).toEqual([name, runtime]);
    const again = unpackedRuntime(copy);
    expect(again?.name).toBe(runtime);
    expect(
      Buffer.compare(
        again?.content ?? new Uint8Array(),
        readFileSync(join(repository, 'dist/vendor', runtime)),
      ),
    ).toBe(0);
  });

  // 100 kB of it are the packages inside the runtime, which projects then need not install.
  it('is under 1.05 MB', () => {
    const [{ content } = { content: new Uint8Array() }] = [...ownPackages().files.values()];
    expect(content.byteLength).toBeGreaterThan(100_000);
    expect(content.byteLength).toBeLessThan(1_050_000);
  });
});
