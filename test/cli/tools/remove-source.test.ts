import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApiDocument, apiDocuments } from '../../import/api-documents.ts';
import { directory, tree } from '../../project/directory.ts';
import { add, project, put, remove, text } from './project.ts';

const [gas, weather] = apiDocuments;
if (!gas || !weather) throw new Error('no documents');
const [api, recording] = ['src/apis/gas.ts', 'test/recordings/get-gas-chain.json'];
const documents = ['DEPLOY.md', '.env.example'];

async function addTool(root: string, { file, text: document, operation }: ApiDocument): Promise<void> {
  const path = join(directory(), file);
  writeFileSync(path, document);
  expect(await add(root, { fromOpenapi: path, operation: [operation] })).toMatchObject({ exitCode: 0 });
}

async function withTools(...wanted: ApiDocument[]): Promise<string> {
  const root = project();
  for (const one of wanted) await addTool(root, one);
  return root;
}

describe('remove-tool of the last tool of an API', () => {
  it('removes its file, recordings and variables, and leaves what the others need', async () => {
    const [root, other] = [await withTools(weather, gas), await withTools(weather)];
    const { exitCode, stdout, stderr } = await remove(root, [gas.tool]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('GAS_URL, GAS_TOKEN');
    expect(tree(root)).toEqual(tree(other));
  });

  it('removes every file of the last API, which another tool may bring back', async () => {
    const root = await withTools(gas);
    const before = tree(root);
    await remove(root, [gas.tool]);
    for (const path of [api, recording, 'src/env.ts']) expect(existsSync(join(root, path)), path).toBe(false);
    for (const path of documents) expect(text(root, path)).not.toContain('GAS_');
    await addTool(root, gas);
    expect(tree(root)).toEqual(before);
  });

  it.each([[api], [recording]])(
    'keeps an edited %s with what it needs, says so, and obeys --force',
    async (path) => {
      const roots = [await withTools(gas), await withTools(gas)];
      const edited = (root: string) =>
        path === api ? `${text(root, path)}// mine\n` : text(root, path).replace('12.5', '13');
      const mine = edited(roots[0] ?? '');
      for (const root of roots) put(root, path, mine);
      const [root = '', forced = ''] = roots;
      const { stdout, exitCode } = await remove(root, [gas.tool]);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`${path} was kept: it was changed`);
      expect(text(root, path)).toBe(mine);
      for (const one of documents) expect(text(root, one).includes('GAS_TOKEN')).toBe(path === api);
      await remove(forced, [gas.tool], { force: true });
      for (const one of [api, recording]) expect(existsSync(join(forced, one))).toBe(false);
    },
  );

  it('keeps a variable that the author uses or has edited, and an API that another file imports', async () => {
    const used = await withTools(gas);
    put(used, 'src/mine.ts', "import { env } from './env.ts';\nexport const key = env.GAS_TOKEN;\n");
    put(
      used,
      'src/env.ts',
      text(used, 'src/env.ts').replace(/GAS_URL: url\([^)]*\)/, "GAS_URL: url('Mine')"),
    );
    const { stdout } = await remove(used, [gas.tool]);
    expect(stdout).toContain('src/env.ts was kept: src/mine.ts uses GAS_TOKEN');
    expect(stdout).toContain('src/env.ts was kept: you have edited GAS_URL there');
    expect(text(used, 'src/env.ts')).toMatch(/GAS_URL[\s\S]*GAS_TOKEN/);

    const imported = await withTools(gas);
    put(imported, 'src/mine.ts', "import { api } from './apis/gas.ts';\nexport default api;\n");
    await remove(imported, [gas.tool]);
    expect(existsSync(join(imported, api))).toBe(true);
    expect(text(imported, 'src/env.ts')).toContain('GAS_TOKEN');
  });

  it('still knows what was edited before another tool extended it', async () => {
    const root = await withTools(gas);
    const record = () => JSON.parse(text(root, 'market-mcp.json')).files['src/env.ts'];
    const before = record();
    put(root, 'src/env.ts', `${text(root, 'src/env.ts')}// mine\n`);
    await addTool(root, weather);
    expect(record()).toEqual(before);
  });
});
