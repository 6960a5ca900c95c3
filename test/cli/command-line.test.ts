import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { marketCommand, restoreCommand } from '../../src/cli/command-line.ts';

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['', 'market-mcp list --mark-listed'],
  ['run-script', 'market-mcp list --mark-listed'],
  ['exec', 'npx --package create-market-mcp market-mcp list --mark-listed'],
  ['init', 'npx --package create-market-mcp market-mcp list --mark-listed'],
])('a command to be pasted works where npm was called with "%s"', (command, line) => {
  vi.stubEnv('npm_command', command);
  expect(marketCommand('list', '--mark-listed')).toBe(line);
});

it('what git restores is found from where the command is pasted', () => {
  expect(restoreCommand(process.cwd(), ['src/a.ts'])).toBe('git restore src/a.ts');
  expect(restoreCommand(join(process.cwd(), 'my project'), ['src/a.ts'])).toBe(
    "git -C 'my project' restore src/a.ts",
  );
});
