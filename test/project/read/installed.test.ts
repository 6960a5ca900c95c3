import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { installedPackages } from '../../../src/project/read/installed.ts';
import { directory } from '../directory.ts';

/** Writes the package.json of each place, and links. */
function layout(
  packages: Readonly<Record<string, object>>,
  links: Readonly<Record<string, string>> = {},
): string {
  const root = directory();
  for (const [place, manifest] of Object.entries(packages)) {
    mkdirSync(join(root, place), { recursive: true });
    writeFileSync(join(root, place, 'package.json'), JSON.stringify({ version: '1.0.0', ...manifest }));
  }
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, link)), { recursive: true });
    symlinkSync(join(root, target), join(root, link));
  }
  return root;
}

const project = { dependencies: { a: '^1.0.0' }, devDependencies: { '@scope/b': '*' } };

it('reads a flat layout with two versions of a package, a circular dependency and an absent optional package', () => {
  const root = layout({
    '.': project,
    'node_modules/a': { dependencies: { c: '1' }, optionalDependencies: { absent: '1' } },
    'node_modules/c': { version: '1.2.3', dependencies: { a: '1' } },
    'node_modules/@scope/b': { version: '2.0.0', dependencies: { c: '2' }, devDependencies: { stray: '1' } },
    'node_modules/@scope/b/node_modules/c': { version: '2.0.0-rc.1' },
    'node_modules/stray': {},
  });
  expect(installedPackages(root)).toEqual(['@scope/b@2.0.0', 'a@1.0.0', 'c@1.2.3', 'c@2.0.0-rc.1']);
});

it('reads a layout of links, as made by pnpm', () => {
  const root = layout(
    {
      '.': project,
      'node_modules/.pnpm/a@1/node_modules/a': { dependencies: { c: '1' } },
      'node_modules/.pnpm/c@1/node_modules/c': { version: '1.2.3' },
      'node_modules/.pnpm/b@2/node_modules/@scope/b': { version: '2.0.0' },
    },
    {
      'node_modules/a': 'node_modules/.pnpm/a@1/node_modules/a',
      'node_modules/@scope/b': 'node_modules/.pnpm/b@2/node_modules/@scope/b',
      'node_modules/.pnpm/a@1/node_modules/c': 'node_modules/.pnpm/c@1/node_modules/c',
    },
  );
  expect(installedPackages(root)).toEqual(['@scope/b@2.0.0', 'a@1.0.0', 'c@1.2.3']);
});

it('reads packages that a workspace hoists above the project', () => {
  const root = layout({ 'packages/project': project, 'node_modules/a': {} });
  expect(installedPackages(join(root, 'packages/project'))).toEqual(['a@1.0.0']);
});
