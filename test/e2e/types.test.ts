import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile, prove, scaffold, scratch } from './support.ts';

const root = scratch();
const args = [
  '--tool',
  'get_price',
  '--description',
  'Returns the latest price of a trading pair; use it when a single price is enough.',
  '--input',
  'symbol:string=BTC Trading pair to look up',
  '--output',
  'price:number Price in US dollars',
];

describe('errors of an author', () => {
  it('are found by the compiler: a wrong type in found(...)', async () => {
    const { directory } = await scaffold(['wrong-type', ...args], { cwd: root });
    const file = join(directory, 'src/tools/get-price.ts');
    const source = readFileSync(file, 'utf8');
    const call = /return found\([^\n]*\);/;
    expect(source).toMatch(call);
    writeFileSync(file, source.replace(call, "return found({ price: '12' });"));
    const line =
      readFileSync(file, 'utf8')
        .split('\n')
        .findIndex((text) => text.includes("'12'")) + 1;

    const built = await compile(directory);
    expect(built.status).not.toBe(0);
    expect(built.stdout).toContain(`src/tools/get-price.ts(${line},`);
    expect(built.stdout).toContain("Type 'string' is not assignable to type 'number");
    expect(built.stdout.match(/error TS/g)).toHaveLength(1);
  });

  it('are found by the self-check: a schema that admits no failure', async () => {
    const { directory } = await scaffold(['no-failure', ...args], { cwd: root });
    const file = join(directory, 'src/tools/get-price.ts');
    const source = readFileSync(file, 'utf8');
    expect(source).toContain("type: ['number', 'null']");
    writeFileSync(
      file,
      source.replace("type: ['number', 'null']", "type: 'number'").replace('price: null', 'price: 1'),
    );
    const built = await compile(directory);
    expect(built.status, built.stdout).toBe(0);

    const { report } = await prove(directory);
    expect(report.ok).toBe(false);
    const named = report.rules
      .filter((rule) => rule.status === 'fail')
      .flatMap(({ id, problems }) => problems.map((problem) => [id, problem] as const))
      .filter(([, { path }]) => path?.startsWith('outputSchema.properties.price'));
    const problem = {
      tool: 'get_price',
      path: 'outputSchema.properties.price',
      expected: 'a field that can be empty',
      actual: 'required, but allows neither null nor an empty list',
      fix: 'Add "null" to outputSchema.properties.price.type, or remove the field from required.',
      at: 'src/tools/get-price.ts',
    };
    expect(named).toEqual([
      ['output.holds-empty', problem],
      ['output.holds-failure', problem],
    ]);
  });
});
