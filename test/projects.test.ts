import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

let listed: readonly { readonly file: string; readonly projectName: string }[] = [];

beforeAll(async () => {
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'list', '--filesOnly', '--json'];
  listed = JSON.parse((await execa(process.execPath, args, { cwd: repository })).stdout);
});

describe('the five projects of tests', () => {
  it('have every test file in one of them', () => {
    const files = readdirSync(join(repository, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => join('test', path));
    expect(files.length).toBeGreaterThan(100);
    const run = listed.map(({ file }) => relative(repository, file));
    expect(run.toSorted()).toEqual(files.toSorted());
  });

  it('are run by npm test and npm run test:more, one of which runs each, except for `nightly`', () => {
    const named = ['test', 'test:more'].flatMap((script) =>
      [...scripts[script].matchAll(/--project (\S+)/g)].map(([, name]) => name),
    );
    const projects = new Set(listed.map(({ projectName }) => projectName));
    expect([...named, 'nightly'].toSorted()).toEqual([...projects].toSorted());
  });

  it('have every file of `nightly` in npm run test:nightly', () => {
    const [, filters = ''] = /vitest run ([^&]*)/.exec(scripts['test:nightly']) ?? [];
    const files = listed.filter(({ projectName }) => projectName === 'nightly').map(({ file }) => file);
    const isRun = (file: string) => filters.split(' ').some((filter) => filter && file.includes(filter));
    expect(files.filter((file) => !isRun(file))).toEqual([]);
  });
});
