import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { gitCommand, marketCommand } from '../../src/system/command-line.ts';
import { directory } from '../project/directory.ts';

const here = process.cwd();
afterEach(() => process.chdir(here));

function standIn(project: string): void {
  mkdirSync(join(project, 'src/tools'), { recursive: true });
  process.chdir(join(project, 'src/tools'));
}

it.each([
  ['package-lock.json', 'npx market-mcp list --mark-listed'],
  ['pnpm-lock.yaml', 'pnpm exec market-mcp list --mark-listed'],
  ['yarn.lock', 'yarn market-mcp list --mark-listed'],
  ['bun.lock', 'bunx market-mcp list --mark-listed'],
])('a command to paste runs the program that a project with a %s has installed', (lock, line) => {
  vi.stubEnv('npm_config_user_agent', '');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const project = directory();
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(project, 'node_modules/.bin/market-mcp'), '');
  writeFileSync(join(project, lock), '');
  standIn(project);
  expect(marketCommand('list', '--mark-listed')).toBe(line);
});

it('if nothing is installed, it runs this program, which is not in a registry yet', () => {
  standIn(directory());
  expect(marketCommand('list')).toBe(`node ${join(here, 'bin/market-mcp.js')} list`);
});

it('the git command names paths relative to the working directory', () => {
  expect(gitCommand(process.cwd(), ['restore'], ['src/a.ts'])).toBe('git restore src/a.ts');
  expect(gitCommand(join(process.cwd(), 'my project'), ['restore'], ['src/a.ts'])).toBe(
    "git -C 'my project' restore src/a.ts",
  );
});
