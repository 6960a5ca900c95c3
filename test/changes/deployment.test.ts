import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { planDeployment } from '../../src/changes/deployment.ts';
import { planUpgrade } from '../../src/changes/upgrade/plan-upgrade.ts';
import { manifestFile, readManifest } from '../../src/project/manifest/manifest.ts';
import { openProject } from '../../src/project/read/open.ts';
import { changeProject } from '../../src/project/write/change.ts';
import { type DeployTarget, targetNames, targets } from '../../src/questions/targets.ts';
import { tree } from '../e2e/support.ts';
import { created } from '../project/created.ts';

const add = (root: string, ...targets: readonly DeployTarget[]) =>
  changeProject(root, async () => planDeployment(await openProject(root), targets));
const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');

it('adds what Redis needs to the files of the author', async () => {
  const [later, edited, rewritten] = [await created(), await created(), await created()];
  await add(later, 'redis');
  expect(JSON.parse(read(later, 'package.json')).dependencies.ioredis).toMatch(/^\d+\.\d+\.\d+$/);
  expect(read(later, 'src/main.ts')).toMatch(/redis\.ts'[\s\S]*state: redisState/);
  expect(read(later, '.env.example')).toContain('\n# STATE_URL=');

  const edit = (root: string, path: string, change: (text: string) => string) =>
    writeFileSync(join(root, path), change(read(root, path)));
  edit(edited, 'package.json', (text) => text.replace('{', '{\n  "author": "me",'));
  edit(edited, 'src/main.ts', (text) => text.replace(/^}\);/m, '  headers: {},\n});'));
  expect((await add(edited, 'redis')).left).toEqual([]);
  expect(JSON.parse(read(edited, 'package.json'))).toMatchObject({
    author: 'me',
    dependencies: { ioredis: expect.any(String) },
  });
  expect(read(edited, 'src/main.ts')).toMatch(/state: redisState[\s\S]*headers: \{\}/);

  writeFileSync(join(rewritten, 'src/main.ts'), 'export {};\n');
  const { left } = await add(rewritten, 'redis');
  expect(left).toMatchObject([{ path: 'src/main.ts', why: expect.stringContaining('redisState') }]);
  expect(read(rewritten, 'src/main.ts')).toBe('export {};\n');

  const broken = await created();
  writeFileSync(join(broken, 'package.json'), '{');
  const before = tree(broken);
  await expect(add(broken, 'redis')).rejects.toMatchObject({
    message: expect.stringMatching(/^package.json: /),
  });
  expect(tree(broken)).toEqual(before);
});

it.each(targetNames.filter((name) => name !== 'docker'))('adds %s as creation does', async (target) => {
  const [later, atOnce] = [await created(), await created({ deploy: [target] })];
  const { change } = await add(later, target);
  expect([...(change?.files.keys() ?? [])]).toEqual(
    expect.arrayContaining([...targets[target].files, 'DEPLOY.md', manifestFile]),
  );
  expect(tree(later)).toEqual(tree(atOnce));
  expect(read(later, 'DEPLOY.md')).toContain(`\n## ${targets[target].title}`);
  expect((await planUpgrade(later)).change).toBe(null);
});

it('has nothing to do for targets that the project has, even if their files were edited', async () => {
  const root = await created({ deploy: ['compose'] });
  writeFileSync(join(root, 'Caddyfile'), 'mine');
  expect((await add(root, 'compose', 'docker')).change).toBe(null);
  expect(read(root, 'Caddyfile')).toBe('mine');
  expect((await planUpgrade(root)).change).toBe(null);
});

it.each([[[]], [['compose']]] as const)(
  'restores a file that was deleted, and that alone: %j',
  async (targets) => {
    const root = await created({ deploy: targets });
    const before = tree(root);
    rmSync(join(root, 'Dockerfile'));
    if (targets.length > 0) rmSync(join(root, 'compose.yaml'));
    const { change } = await add(root, 'docker', ...targets);
    expect(change?.files.has('DEPLOY.md')).toBe(false);
    expect(tree(root)).toEqual(before);
  },
);

it('refuses to overwrite a file of the author, and writes nothing', async () => {
  const root = await created();
  writeFileSync(join(root, 'compose.yaml'), 'services: {}\n');
  const before = tree(root);
  await expect(add(root, 'compose')).rejects.toMatchObject({
    code: 'FILE_EXISTS',
    message: 'your own compose.yaml would be overwritten',
  });
  expect(tree(root)).toEqual(before);
  rmSync(join(root, 'compose.yaml'));
  mkdirSync(join(root, 'compose.yaml'));
  await expect(add(root, 'compose')).rejects.toMatchObject({ code: 'DIRECTORY_IN_THE_WAY' });
});

it('adds its section to an edited DEPLOY.md, or says that the author has to', async () => {
  const [edited, rewritten] = [await created(), await created()];
  writeFileSync(join(edited, 'DEPLOY.md'), read(edited, 'DEPLOY.md').replace(/^# .*$/m, '# My prices'));
  expect((await add(edited, 'compose')).left).toEqual([]);
  expect(read(edited, 'DEPLOY.md')).toMatch(/^# My prices$[\s\S]*^## Docker Compose$/m);
  expect((await planUpgrade(edited)).change).toBe(null);

  writeFileSync(join(rewritten, 'DEPLOY.md'), '# Only mine\n');
  const { left } = await add(rewritten, 'compose');
  expect(left).toMatchObject([{ path: 'DEPLOY.md', why: expect.stringContaining('Docker Compose') }]);
  expect(read(rewritten, 'DEPLOY.md')).toBe('# Only mine\n');
  expect(readManifest(rewritten).answers.targets).toEqual(['compose']);
});
