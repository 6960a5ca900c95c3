import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram, failuresOf, type Program } from './check.ts';
import { brokenPrograms } from './servers/process.ts';
import { rowsOf, type Variant } from './variant.ts';

// One at a time: each starts at the default port once, and trusts the same key. Most of the time they wait for starts that fail.

let program: Program;
beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program.remove());

it('a program passes every rule when it is good', async () => {
  const { rules } = await program.check(brokenPrograms['process.no-key'] as Variant);
  expect(rules.filter(({ status, id }) => status !== 'pass' && id !== 'process.no-key')).toEqual([]);
});

it.each(rowsOf(brokenPrograms))('a program fails $rule when it breaks it', async ({ rule, fails, what }) => {
  const report = await program.check(what, rule);
  expect(failuresOf(report.rules)).toEqual(fails);
});
