import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runList } from '../../../src/cli/commands/list.ts';
import { fingerprint } from '../../../src/project/manifest/listed.ts';
import { add, listed, project, put, remove, run, specOf, text } from './project.ts';

describe('list', () => {
  it('prints name, file, first line, inputs and outputs', async () => {
    const root = project();
    await listed(root, true);
    const spec = specOf('get_a');
    writeFileSync(spec, readFileSync(spec, 'utf8').replace('. Use it', '.\\nUse it'));
    await add(root, { spec });
    const { stdout } = await run(root, false, (output) => runList(output, { markListed: false }));
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
    const { stdout } = await run(root, false, (output) => runList(output, { markListed: false }));
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

  it('--mark-listed writes listing.json with the definitions, and nothing in the manifest', async () => {
    const root = project();
    const manifest = text(root, 'market-mcp.json');
    await listed(root, true);
    expect(JSON.parse(text(root, 'listing.json'))).toMatchObject({
      tools: [{ name: 'get_gas_price', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } }],
    });
    expect(text(root, 'market-mcp.json')).toBe(manifest);
    expect(manifest).not.toContain('"listed"');
  });

  it('--mark-listed names a tool whose definition is computed and the command that records it', async () => {
    const root = project();
    const source = text(root, 'src/tools/get-gas-price.ts');
    put(root, 'src/tools/get-gas-price.ts', source.replace(/description: '.*',/, 'description: words(),'));
    const ran = await run(root, false, (output) => runList(output, { markListed: true }));
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('src/tools/get-gas-price.ts');
    expect(ran.stderr).toMatch(/market-mcp.* check --save-listing/);
    expect(existsSync(join(root, 'listing.json'))).toBe(false);
  });

  it.each([
    ['a list', (tools: unknown) => tools],
    ['a whole answer', (tools: unknown) => ({ jsonrpc: '2.0', id: 1, result: { tools } })],
  ])('reads listing.json that contains %s', async (_, form) => {
    const root = project();
    await listed(root, true);
    const { tools } = JSON.parse(text(root, 'listing.json'));
    put(root, 'listing.json', JSON.stringify(form(tools)));
    expect((await listed(root)).refresh.refreshNeeded).toBe(false);
  });

  it('rejects a listing.json that contains no tool list', async () => {
    const root = project();
    put(root, 'listing.json', '{"tools":"none"}');
    const ran = await run(root, false, (output) => runList(output, {}));
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('listing.json contains no list of tools'),
    });
  });

  it('compares with the fingerprints of an older project until the list is recorded again', async () => {
    const root = project();
    await listed(root, true);
    const [tool] = JSON.parse(text(root, 'listing.json')).tools;
    const manifest = JSON.parse(text(root, 'market-mcp.json'));
    const record = { get_gas_price: fingerprint(tool), get_fee: fingerprint({ name: 'get_fee' }) };
    put(root, 'market-mcp.json', JSON.stringify({ ...manifest, listed: record }));
    rmSync(join(root, 'listing.json'));
    expect((await listed(root)).refresh).toMatchObject({ added: [], changed: [], removed: ['get_fee'] });
    const source = text(root, 'src/tools/get-gas-price.ts');
    put(root, 'src/tools/get-gas-price.ts', source.replace('Returns the', 'Returns a'));
    expect((await listed(root)).refresh).toMatchObject({ changed: ['get_gas_price'] });
    expect((await listed(root, true)).refresh.refreshNeeded).toBe(false);
    expect(text(root, 'market-mcp.json')).not.toContain('"listed"');
  });
});
