import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compile, create, failuresOf, market, proveTools, scaffold, scratch, succeeded } from './support.ts';

const root = scratch();
const samples = [
  { chain: 'base', gwei: 12, at: '2026-01-15T12:00:00Z', tiers: [{ name: 'fast', wei: 1.5 }] },
  { chain: 'ethereum', gwei: 30, at: '2026-01-15T12:00:00Z', tiers: [] },
  {
    chain: 'polygon',
    gwei: null,
    at: '2026-01-15T12:00:00Z',
    tiers: [{ name: 'slow', wei: 2 }],
    note: 'old',
  },
];
const flags = samples.flatMap(({ chain }) => ['--from-sample', `${chain}.json`]);
for (const sample of samples) writeFileSync(join(root, `${sample.chain}.json`), JSON.stringify(sample));
const tool = ['--tool', 'get_gas', '--input', 'chain:string=base Chain to look up'];

const made = await scaffold(['gas', ...tool, ...flags], { cwd: root });
const { directory } = made;

it('makes a tool from three samples that answers with them, passes the rules about tools and refuses a wrong answer at compile time', async () => {
  expect(made.changes).toEqual([]);
  const { report, unitTests } = await proveTools(directory);
  expect(failuresOf(report).map((failure) => (failure as { id: string }).id)).toEqual(['tool.to-do']);
  expect(report.ok).toBe(true);
  expect(unitTests.status, unitTests.stdout).toBe(0);

  const file = join(directory, 'src/tools/get-gas.ts');
  const source = readFileSync(file, 'utf8');
  expect(source).toMatch(/chain: 'base',\s+gwei: 12,\s+at: '2026-01-15T12:00:00Z'/);
  const wrong = "return found({ chain: 'base', gwei: 1, at: 'x', tiers: [{ name: 'fast', wei: '1' }] });";
  writeFileSync(file, source.replace(/return found\([^\n]*\);/, wrong));
  const built = await compile(directory);
  expect(built.stdout).toContain("Type 'string' is not assignable to type 'number'");
  expect(built.stdout.match(/error TS/g)).toHaveLength(1);
  writeFileSync(file, source);
});

it('add-tool reads a list from standard input', async () => {
  const args = ['add-tool', 'list_gas', '--yes', '--no-check', '--json', '--from-sample', '-'];
  const added = await market(args, {
    cwd: directory,
    stdin: 'pipe',
    input: JSON.stringify(samples),
  });
  expect({ status: added.status, stderr: added.stderr }).toEqual({ status: 0, stderr: '' });
  await succeeded(compile(directory));
  expect(readFileSync(join(directory, 'src/tools/list-gas.ts'), 'utf8')).toContain('count: 3');
});

it.each([
  [
    ['--from-sample', 'base.json', '--output', 'x:string'],
    '--from-sample "base.json" cannot be combined with --output.',
  ],
  [['--from-sample', 'none.json'], 'none.json: there is no such file'],
  [['--from-sample', 'base.json', '--from-sample', 'base.json'], '--from-sample "base.json" is given twice.'],
  [['--from-sample', 'broken.json'], 'broken.json'],
])('refuses %j with exit code 2 and writes nothing', async (args, message) => {
  writeFileSync(join(root, 'broken.json'), '{"a": ');
  const refused = await create(['refused', ...tool, ...args, '--yes'], { cwd: root });
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain(message);
  expect(refused.stdout).toBe('');
});
