import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { lockDirectory, workspaceRoot } from '../../../src/project/read/workspace.ts';
import { scratch } from '../../e2e/support.ts';

/** A directory with these files, and the path of a member in it. */
function repository(files: { readonly [path: string]: string }, member: string): string {
  const root = scratch();
  mkdirSync(join(root, '.git'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return join(root, member);
}

const ofPackage = (workspaces: unknown) => ({ 'package.json': JSON.stringify({ workspaces }) });
const ofPnpm = (yaml: string) => ({ 'pnpm-workspace.yaml': yaml, ...ofPackage(['never/*']) });

it.each([
  ['packages/gas', ofPackage(['packages/*'])],
  ['packages/gas', ofPackage({ packages: ['./packages/*/'] })],
  ['packages/gas', ofPackage(['packages/gas'])],
  ['a/b/c', ofPackage(['a/**'])],
  ['a/b/c', ofPackage(['**/c'])],
  ['servers/gas-2', ofPackage(['{packages,servers}/gas-?'])],
  [
    'packages/gas',
    ofPnpm("packages:\n  # all\n  - 'apps/*'\n\n  - packages/* # ours\nonlyBuiltDependencies: []\n"),
  ],
  ['packages/gas', ofPnpm('packages: ["apps/*", "packages/*"]\n')],
  ['packages/gas', ofPnpm('packages:\r\n- "packages/*"\r\n')],
])('%s is a member of the workspace %j', (member, files) => {
  const directory = repository(files, member);
  expect(lockDirectory(directory)).toBe(
    member
      .split('/')
      .map(() => '..')
      .join('/'),
  );
});

it.each([
  ['another/gas', ofPackage(['packages/*'])],
  ['packages/gas/deep', ofPackage(['packages/*'])],
  ['packages/gas', ofPackage(['packages/*', '!packages/gas'])],
  ['packages/gas', ofPackage(['packages/(*'])],
  ['packages/gas', ofPackage('packages/*')],
  ['packages/gas', { 'package.json': 'no JSON' }],
  ['packages/gas', ofPnpm('packages:\n  - apps/*\ncatalog:\n  - packages/*\n')],
  ['packages/gas', {}],
])('%s is no member of the workspace %j', (member, files) => {
  expect(workspaceRoot(repository(files, member))).toBeUndefined();
});

it('a root above the repository does not count, and neither does one above a repository of the project', () => {
  const directory = repository(ofPackage(['**']), 'packages/gas');
  mkdirSync(join(directory, '..', '.git'), { recursive: true });
  expect(workspaceRoot(directory)).toBeUndefined();
  const own = repository(ofPackage(['**']), 'packages/gas');
  mkdirSync(join(own, '.git'), { recursive: true });
  expect(workspaceRoot(own)).toBeUndefined();
});
