import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bins, run, scaffold, scratch } from './support.ts';

/** More than the check calls without a sample. */
const count = 120;
const root = scratch();

it(`builds, serves and checks ${count} tools in one project`, async () => {
  const { directory } = await scaffold(['many', '--tool', 'get_first', '--platform', 'context'], {
    cwd: root,
  });
  const tools = Array.from({ length: count - 1 }, (_, i) => ({
    name: `get_metric_${i}`,
    description: `Returns metric ${i} of a chain with its unit and history. Use it when a question asks for metric ${i}.`,
    input: [
      {
        name: 'chain',
        type: 'string',
        default: 'base',
        examples: ['base', 'ethereum'],
        description: 'Chain to look up',
      },
      {
        name: 'limit',
        type: 'integer',
        default: 10,
        minimum: 1,
        maximum: 100,
        description: 'Number of values',
      },
    ],
    output: [
      { name: 'value', type: 'number', required: true, description: 'The value' },
      { name: 'unit', type: 'string', required: true, description: 'Its unit' },
      {
        name: 'history',
        type: 'array',
        required: true,
        description: 'Earlier values',
        items: {
          type: 'object',
          fields: [{ name: 'value', type: 'number', required: true, description: 'The value then' }],
        },
      },
    ],
  }));
  const spec = join(root, 'many.json');
  writeFileSync(spec, JSON.stringify(tools));
  const market = (args: string[]) => run(process.execPath, [bins.market, ...args], { cwd: directory });

  const added = await market(['add-tool', '--spec', spec, '--yes', '--json']);
  expect(added.status, added.stderr.slice(0, 2000)).toBe(0);
  const result = JSON.parse(added.stdout);
  expect(result.tools).toHaveLength(count - 1);
  expect(result.selfCheck).toMatchObject({ failed: 0, failures: [] });
  console.log(`${count} tools: self-check in ${(result.selfCheck.ms / 1000).toFixed(1)} s`);

  const { tools: listed } = JSON.parse((await market(['list', '--json'])).stdout);
  expect(listed).toHaveLength(count);
  const served = await import(join(directory, 'dist/src/tools/index.js'));
  const names = served.tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(listed.map(({ name }: { name: string }) => name));
  expect(names.slice(1)).toEqual(tools.slice(-(count - 1)).map(({ name }) => name));
});
