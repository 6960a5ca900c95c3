import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { keys } from '../keys.ts';
import { bins, scratch } from './support.ts';
import { Terminal } from './terminal.ts';

const root = scratch();
const names = Array.from({ length: 30 }, (_, index) => `field_${index}`);
const answer = Object.fromEntries(names.map((name, index) => [name, index]));
const { origin } = await startApi(() => ({ body: { ...answer, error: null } }));

/** The lines that a creation leaves at a terminal of 100 columns. The questions are not among them. */
async function linesOf(name: string, args: readonly string[]): Promise<readonly string[]> {
  const cwd = join(root, name);
  mkdirSync(cwd);
  const terminal = new Terminal(process.execPath, [bins.create, ...args], { cwd });
  if (!args.includes('--yes')) {
    await terminal.asked('Write it?');
    terminal.press(keys.enter);
  }
  expect(await terminal.ended, terminal.text).toBe(0);
  const { screen } = terminal;
  const first = screen.findIndex((line) => line.startsWith('✔'));
  return screen.slice(first).filter((line) => line.trim() !== '');
}

const request = [`--from-request`, `curl '${origin}/rates?base=EUR' -H 'x-api-key: k-12345678'`];

it.each([
  ['a sample tool', ['my-tool', '--yes']],
  ['a request with thirty fields and a key', ['rates', '--yes', '--platform', 'context', ...request]],
  [
    'answers at the terminal',
    [
      'asked',
      '--tool',
      'get_it',
      '--description',
      'Returns it.',
      '--effect',
      'reads',
      '--input',
      'a:string=b',
      '--output',
      'c:string',
      '--returns',
      'record',
      '--platform',
      'context',
    ],
  ],
])(
  'a whole creation from %s leaves at most 12 lines: steps, notes, next steps and a link',
  async (name, args) => {
    const lines = await linesOf(name, args);
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(12);
    expect(
      lines.filter((line) => /^ {2}[123]\. /.test(line)),
      lines.join('\n'),
    ).toHaveLength(3);
    expect(lines.join('\n')).toMatch(/✔ .* files in [\s\S]*✔ self-check: \d+ rules passed, 0 failed/);
  },
);
