import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { context } from '../../../packages/contract/src/platforms/context.ts';
import {
  discardRecords,
  openConflicts,
  readPending,
  restoringChange,
} from '../../../src/changes/upgrade/pending.ts';
import { planUpgrade } from '../../../src/changes/upgrade/plan.ts';
import { changesBetween, reportOf } from '../../../src/changes/upgrade/report.ts';
import { version } from '../../../src/plan/versions.ts';
import { readManifest } from '../../../src/project/manifest/manifest.ts';
import { editedFiles } from '../../../src/project/manifest/runtime.ts';
import { ownPackages } from '../../../src/project/package/own-package.ts';
import { openProject } from '../../../src/project/read/open.ts';
import { changeProject } from '../../../src/project/write/change.ts';
import { tree } from '../../project/directory.ts';
import { oldProject, put } from './old-project.ts';

const repository = join(import.meta.dirname, '../../..');
const mine = 'a line of the author';
const text = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const edit = (root: string, path: string, change: (text: string) => string) =>
  put(root, path, change(text(root, path)));
const upgrade = (root: string) => changeProject(root, async () => planUpgrade(root));
const kinds = (root: string) =>
  Object.fromEntries(planUpgrade(root).files.map(({ path, kind }) => [path, kind]));

/** Path → bytes of every file. */
const bytesBelow = (root: string) =>
  Object.keys(tree(root)).map((path) => [path, readFileSync(join(root, path), 'hex')]);

/** Source without its imports. */
const withoutImports = (source: string) => source.replace(/^import[^;]*;\n/gm, '');

async function abort(root: string): Promise<void> {
  await changeProject(root, async () => {
    const pending = readPending(root);
    if (!pending) throw new Error('nothing to abort');
    return { change: restoringChange(root, pending) };
  });
}

describe.each(['generic', 'context'] as const)('a project of 0.1.0 (%s)', (profile) => {
  it('converts a project of version 0.1.0 into one that compiles and passes its tests', async () => {
    const root = oldProject(profile);
    const before = tree(root);
    const { files, todos } = await upgrade(root);
    discardRecords(root);
    expect(todos).toEqual([]);
    expect([...new Set(files.map(({ kind }) => kind))].toSorted()).toEqual([
      'imports',
      'merged',
      'new',
      'removed',
      'replaced',
    ]);
    expect(files.filter(({ kind }) => kind === 'merged').map(({ path }) => path)).toEqual(['package.json']);
    expect(existsSync(join(root, 'contract'))).toBe(false);
    for (const path of ['src/tools/get-price.ts', 'test/tools/get-price.test.ts']) {
      expect(text(root, path)).toContain("from 'market-mcp-runtime");
      expect(withoutImports(text(root, path))).toBe(withoutImports(before[path] ?? ''));
    }
    expect(Object.keys(tree(root)).filter((path) => /^src\/(server|source)\//.test(path))).toEqual([]);
    const manifest = readManifest(root);
    expect(manifest).toMatchObject({ schema: 3, template: version });
    expect(editedFiles(root, manifest)).toEqual(
      ['package.json'].filter((path) => editedFiles(root, manifest).includes(path)),
    );
    expect((await openProject(root)).tools.map(({ file }) => file)).toEqual(['get-price']);
    expect((await upgrade(root)).change).toBe(null);

    symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
    const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' });
    node(join(repository, 'node_modules/typescript/bin/tsc'));
    node('--test', 'dist/test/tools/get-price.test.js');
  });
});

describe('edits of the author', () => {
  it('are merged, kept or reported', async () => {
    const root = oldProject();
    edit(root, 'README.md', (before) => `\ufeff${before}\n## Mine\n\n${mine}\n`.replaceAll('\n', '\r\n'));
    edit(root, '.gitignore', (before) => `/data\n${before}`);
    edit(root, 'src/server/app.ts', (before) =>
      before.replace('export function createApp', `// ${mine}\n$&`),
    );
    edit(root, 'src/server/call.ts', (before) => `// ${mine}\n${before}`);
    rmSync(join(root, 'CLAUDE.md'));
    rmSync(join(root, 'src/server/log.ts'));
    put(root, 'src/server/cache.ts', 'export const own = 1;\n');
    put(
      root,
      'src/lib/json.ts',
      "import type { Json } from '../../contract/model.ts';\nexport const none: Json = null;\n",
    );

    const { files, todos } = await upgrade(root);
    const of = (path: string) => files.find((file) => file.path === path);
    expect(todos.map(({ path }) => path)).toEqual(['src/server/app.ts', 'src/server/call.ts']);
    expect(todos[0]?.text).toContain('routes and headers are options of serve in src/main.ts');
    expect(of('README.md')?.kind).toBe('merged');
    expect(text(root, 'README.md')).toMatch(/^\ufeff[^\n]*\r\n/);
    expect(text(root, 'README.md')).toContain(mine);
    expect(text(root, 'README.md')).not.toMatch(/[^\r]\n/);
    expect(text(root, '.gitignore')).toMatch(/^\/data\n[\s\S]*\.env\.\*/);
    expect(of('CLAUDE.md')).toMatchObject({ kind: 'kept', why: 'deleted' });
    expect(existsSync(join(root, 'src/server/log.ts'))).toBe(false);
    for (const path of ['src/server/app.ts', 'src/server/call.ts']) {
      expect(of(path)?.kind).toBe('overruled');
      expect(text(root, of(path)?.patch ?? '')).toContain(`\n+// ${mine}\n`);
      expect(existsSync(join(root, path))).toBe(false);
    }
    expect(text(root, 'src/server/cache.ts')).toBe('export const own = 1;\n');
    expect(text(root, 'src/lib/json.ts')).toBe(
      "import type { Json } from 'market-mcp-runtime';\nexport const none: Json = null;\n",
    );
    expect(text(root, `.local/upgrade/0.1.0-to-${version}/report.md`)).toContain('src/server/app.ts');
    discardRecords(root);
    expect((await upgrade(root)).change).toBe(null);
    // The manifest still records them as deleted and edited, so the next upgrade does not restore them.
    expect(Object.keys(readManifest(root).files)).toContain('CLAUDE.md');
  });

  it('keep every byte, also of files that are not UTF-8', async () => {
    const root = oldProject();
    const latin = 'Gr\xfc\xdfe \xc3';
    const bytes = (path: string) => readFileSync(join(root, path), 'latin1');
    const editBytes = (path: string, change: (bytes: string) => string) =>
      writeFileSync(join(root, path), change(bytes(path)), 'latin1');
    for (const path of ['README.md', '.env.example', '.gitignore'])
      editBytes(path, (before) => `${before}\n# ${latin}\n`);
    editBytes('package.json', (before) => before.replace('"description": "', `"author": "${latin}", $&`));
    editBytes('src/server/call.ts', (before) => `// ${latin}\n${before}`);
    const own = (from: string) =>
      `// ${latin}\nimport type { Json } from '${from}';\nexport const mine: Json = '${latin}';\n`;
    put(root, 'src/lib/own.ts', '');
    editBytes('src/lib/own.ts', () => own('../../contract/model.ts'));
    const utf16 = Buffer.from('\ufeffFROM node\n', 'utf16le');
    writeFileSync(join(root, 'Dockerfile'), utf16);
    const before = bytesBelow(root);

    const { files } = await upgrade(root);
    for (const path of ['README.md', '.env.example', '.gitignore'])
      expect(bytes(path)).toContain(`\n# ${latin}\n`);
    expect(bytes('package.json')).toContain(`"author": "${latin}",\n`);
    expect(bytes('src/lib/own.ts')).toBe(own('market-mcp-runtime'));
    expect(readFileSync(join(root, 'Dockerfile')).equals(utf16)).toBe(true);
    const patch = files.find(({ path }) => path === 'src/server/call.ts')?.patch ?? '';
    expect(bytes(patch)).toContain(`\n+// ${latin}\n`);
    await abort(root);
    expect(bytesBelow(root)).toEqual(before);
  });

  it('are not made in a submodule, but reported with a patch', async () => {
    const root = oldProject();
    const own = "import type { Json } from '../../../contract/model.ts';\nexport const none: Json = null;\n";
    put(root, 'src/lib/shared/.git', 'gitdir: ../../../.git/modules/shared\n');
    put(root, 'src/lib/shared/deep/json.ts', own.replaceAll('../../../', '../../../../'));
    put(root, 'src/lib/json.ts', own.replaceAll('../../../', '../../'));
    put(root, '.vscode/.git/HEAD', 'ref: refs/heads/main\n');
    put(root, '.vscode/extensions.json', '{}\n');
    const path = 'src/lib/shared/deep/json.ts';
    const before = text(root, path);
    const { files } = await upgrade(root);
    expect(text(root, path)).toBe(before);
    expect(text(root, 'src/lib/json.ts')).toContain("'market-mcp-runtime'");
    expect(existsSync(join(root, '.vscode/launch.json'))).toBe(false);
    const kept = files.filter(({ why }) => why === 'other repository');
    expect(kept.map((file) => file.path).toSorted()).toEqual(['.vscode/launch.json', path]);
    const { open } = reportOf({ files, todos: [] });
    expect(open).toHaveLength(2);
    const patch = kept.find((file) => file.path === path)?.patch ?? '';
    expect(open.join()).toContain(patch);
    execFileSync('git', ['apply', patch], { cwd: root });
    expect(text(root, path)).toContain("'market-mcp-runtime'");
  });

  it.each([
    [
      'tabs, double quotes, few marks',
      [
        '--indent-style=tab',
        '--line-width=60',
        '--semicolons=as-needed',
        '--trailing-commas=none',
        '--arrow-parentheses=as-needed',
        '--javascript-formatter-quote-style=double',
        '--bracket-spacing=false',
        '--json-formatter-indent-width=4',
      ],
    ],
    [
      'wide lines, all marks',
      [
        '--indent-width=8',
        '--line-width=320',
        '--javascript-formatter-quote-style=double',
        '--quote-properties=preserve',
        '--javascript-formatter-operator-linebreak=before',
      ],
    ],
  ])('are the only ones named after a formatter ran over everything (%s)', async (_, style) => {
    const root = oldProject();
    rmSync(join(root, '.gitignore'));
    const biome = join(repository, 'node_modules/.bin/biome');
    edit(root, 'src/server/app.ts', (before) => `${before}export const mine = (1 + 2) * 3;\n`);
    edit(root, 'contract/rules/meta.ts', (before) => before.replace('&&', '||'));
    const before = text(root, 'src/server/call.ts');
    execFileSync(biome, ['format', '--write', ...style, '.'], {
      cwd: root,
      stdio: 'pipe',
    });
    expect(text(root, 'src/server/call.ts')).not.toBe(before);
    const { files } = planUpgrade(root);
    const overruled = files.filter(({ kind }) => kind === 'overruled').map(({ path }) => path);
    expect(overruled.toSorted()).toEqual(['contract/rules/meta.ts', 'src/server/app.ts']);
    expect(files.filter(({ kind }) => kind === 'conflict')).toEqual([]);
  });

  it('keep their modes, also in an undo, which restores what the compiler had written', async () => {
    const root = oldProject();
    chmodSync(join(root, 'README.md'), 0o755);
    chmodSync(join(root, '.env.example'), 0o600);
    chmodSync(join(root, 'local/dev.ts'), 0o700);
    edit(root, 'README.md', (before) => `${before}${mine}\n`);
    // The compiler has written outputs for modules that are replaced, removed and left.
    const outputs = ['src/main', 'local/dev', 'src/tools/get-price'].map((name) => `dist/${name}.js`);
    for (const path of outputs) put(root, path, `// ${path}\n`);
    const modes = () =>
      Object.keys(tree(root)).map((path) => [path, statSync(join(root, path)).mode & 0o777]);
    const [before, modesBefore] = [tree(root), modes()];
    await upgrade(root);
    expect(existsSync(join(root, 'dist/local/dev.js'))).toBe(false);
    expect(Object.fromEntries(modes())).toMatchObject({ 'README.md': 0o755, '.env.example': 0o600 });
    expect(statSync(join(root, '.local/upgrade/pending/before/.env.example')).mode & 0o777).toBe(0o600);
    // The build of the new version.
    put(root, 'dist/src/main.js', '// new\n');
    await abort(root);
    expect(tree(root)).toEqual(before);
    expect(modes()).toEqual(modesBefore);
  });

  it('are restored to the byte by an undo, and conflicts block the upgrade until they are resolved', async () => {
    const root = oldProject();
    edit(root, 'package.json', (before) => before.replace('dist/local/dev.js', 'dist/local/dev.js --mine'));
    put(root, 'src/lib/gone.ts', "// x\nimport { blankAnswer } from '../../contract/outcomes.ts';\n");
    put(root, 'package-lock.json', '{}');
    const before = tree(root);
    const { files, todos } = await upgrade(root);
    expect(files.filter(({ kind }) => kind === 'conflict').map(({ path }) => path)).toEqual(['package.json']);
    expect(todos).toMatchObject([{ path: 'src/lib/gone.ts', line: 2 }]);
    expect(() => planUpgrade(root)).toThrow('not finished');

    put(root, 'package-lock.json', '{"changed": true}');
    await abort(root);
    expect(tree(root)).toEqual(before);

    await upgrade(root);
    const pending = readPending(root);
    expect(pending && openConflicts(root, pending)).toMatchObject([{ path: 'package.json' }]);
    edit(root, 'package.json', (marked) =>
      marked.replace(/<<<<<<<[\s\S]*?=======\n([\s\S]*?)>>>>>>>.*\n/, '$1'),
    );
    expect(pending && openConflicts(root, pending)).toEqual([]);
    edit(root, 'package.json', (whole) => whole.slice(1));
    expect(pending && openConflicts(root, pending)).toHaveLength(1);
  });

  it('refuse the upgrade without a change if a file blocks the runtime', async () => {
    const root = oldProject();
    const [, path = ''] = ownPackages().specifiers.runtime.split('file:');
    put(root, path, 'not a package');
    const before = tree(root);
    await expect(upgrade(root)).rejects.toThrow(`adds ${path}, but you have a file with this path`);
    expect(tree(root)).toEqual(before);
  });

  it('keep a file at the path of a new file that is not essential', async () => {
    const root = oldProject();
    put(root, '.vscode/launch.json', '{}\n');
    const { files } = await upgrade(root);
    const launch = files.find(({ path }) => path === '.vscode/launch.json');
    expect(launch).toMatchObject({ kind: 'kept', why: 'own' });
    expect(text(root, launch?.patch ?? '')).toContain('-{}');
    expect(text(root, '.vscode/launch.json')).toBe('{}\n');
    expect(readManifest(root).files).not.toHaveProperty('.vscode/launch.json');
  });

  it('allow a reformatted list of tools, which is generated again', () => {
    const root = oldProject();
    edit(root, 'src/tools/index.ts', (before) => before.replaceAll("'", '"').replaceAll('\n', '\r\n'));
    expect(kinds(root)['src/tools/index.ts']).toBe('replaced');
  });

  it('allow a tool in a renamed file with its old name in the list', () => {
    const root = oldProject();
    put(root, 'src/tools/renamed.ts', text(root, 'src/tools/get-price.ts'));
    rmSync(join(root, 'src/tools/get-price.ts'));
    edit(root, 'src/tools/index.ts', (before) => before.replace("'./get-price.ts'", '"./renamed.ts"'));
    const { files } = planUpgrade(root);
    expect(files.find(({ path }) => path === 'src/tools/index.ts')?.kind).toBe('replaced');
  });

  it('allow an edited platform profile, which the manifest then contains', async () => {
    const root = oldProject('context');
    edit(root, 'src/platform.ts', (before) => before.replace(/lifetimeSeconds: \d+/, 'lifetimeSeconds: 90'));
    expect(kinds(root)['src/platform.ts']).toBe('overruled');
    await upgrade(root);
    expect((await openProject(root)).profile).toEqual({
      ...context,
      token: { ...context.token, lifetimeSeconds: 90 },
    });
    expect(text(root, 'src/platform.ts')).toContain('lifetimeSeconds: 90');
  });
});

describe('upgrade refuses', () => {
  it.each([
    ['0.0.9', 'cannot upgrade from version 0.0.9'],
    ['9.9.9', 'this project was created by version 9.9.9, but this program is version'],
  ])('a project of %s', (template, message) => {
    const root = oldProject();
    edit(root, 'market-mcp.json', (before) =>
      before.replace('"template": "0.1.0"', `"template": "${template}"`),
    );
    expect(() => planUpgrade(root)).toThrow(message);
  });

  it('a package.json that is not valid JSON', () => {
    const root = oldProject();
    writeFileSync(join(root, 'package.json'), '{');
    expect(() => planUpgrade(root)).toThrow('package.json: ');
  });
});

it("lists the changelog's news", () => {
  expect(changesBetween('0.1.0', '0.2.0').join('')).toMatch(/^## 0\.2\.0\n/);
  expect(changesBetween('0.1.0', '0.3.0').join('')).toMatch(/^## 0\.3\.0\n[\s\S]*## 0\.2\.0\n/);
  expect(changesBetween('0.2.0', '0.2.0')).toEqual([]);
});
