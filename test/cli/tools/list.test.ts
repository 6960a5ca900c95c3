import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTools } from '../../../src/cli/commands/list.ts';
import { add, listed, project, put, remove, run, specOf, text } from './project.ts';

describe('list', () => {
  it('prints name, file, first line, inputs and outputs', async () => {
    const root = project();
    await listed(root, true);
    const spec = specOf('get_a');
    writeFileSync(spec, readFileSync(spec, 'utf8').replace('. Use it', '.\\nUse it'));
    await add(root, { spec });
    const { stdout } = await run(root, false, (output) => listTools(output, { markListed: false }));
    expect(stdout).toContain(
      'get_a  src/tools/get-a.ts  (new)\n  Returns the get_a of a chain, in gwei.\n  in   nothing\n  out  value:number|null\n',
    );
    expect(stdout).toContain('2 tools, platform context');
    expect(stdout).toContain('new get_a');
  });

  it('reports tools that it cannot read and tools that are not served', async () => {
    const root = project();
    const source = text(root, 'src/tools/get-gas-price.ts');
    writeFileSync(
      join(root, 'src/tools/get-gas-price.ts'),
      source.replace(/description: '.*',/, 'description: words(),'),
    );
    put(root, 'src/tools/draft.ts', source);
    const { stdout } = await run(root, false, (output) => listTools(output, { markListed: false }));
    expect(stdout).toContain('its definition is computed');
    expect(stdout).toContain('src/tools/draft.ts exports a tool but is not in the list of tools');
  });

  it('does not mention the marketplace until the author recorded a listing', async () => {
    const root = project();
    const { stdout } = await add(root, { tool: 'get_fee' });
    expect(stdout).not.toContain('Refresh Skills');
    const { tools, refresh } = await listed(root);
    expect(tools.map(({ state }: { state: string }) => state)).toEqual(['unlisted', 'unlisted']);
    expect(refresh).toEqual({ refreshNeeded: false, added: [], changed: [], removed: [] });
  });

  it('compares with the recorded listing', async () => {
    const root = project();
    await listed(root, true);
    const source = text(root, 'src/tools/get-gas-price.ts');
    writeFileSync(join(root, 'src/tools/get-gas-price.ts'), source.replace('Returns the', 'Returns a'));
    await add(root, { tool: 'get_fee' });
    expect((await listed(root)).refresh).toMatchObject({ added: ['get_fee'], changed: ['get_gas_price'] });
    expect((await listed(root, true)).refresh.refreshNeeded).toBe(false);
    await remove(root, ['get_fee']);
    expect((await listed(root)).refresh).toMatchObject({ added: [], changed: [], removed: ['get_fee'] });
  });
});
