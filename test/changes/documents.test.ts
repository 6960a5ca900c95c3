import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { planAddition } from '../../src/changes/addition.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { importTools } from '../../src/changes/import-tools.ts';
import { planUpgrade } from '../../src/changes/upgrade/plan-upgrade.ts';
import { planCommonFiles, projectContext, type Start } from '../../src/plan/plan-project.ts';
import { manifestFile, readManifest } from '../../src/project/manifest/manifest.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { editedFiles } from '../../src/project/read/edited-files.ts';
import { openProject } from '../../src/project/read/open.ts';
import { changeProject } from '../../src/project/write/change.ts';
import { toolAnswers } from '../../src/questions/tool-answers.ts';
import { render } from '../../src/render/render.ts';
import { apiDocuments } from '../import/api-documents.ts';
import { created } from '../project/created.ts';
import { directory } from '../project/directory.ts';

const [gas, weather] = apiDocuments;
if (!gas || !weather) throw new Error('no documents');
const kitPackages = '`ky`, `lru-cache`, `p-queue`';

function documentIn(root: string, { file, text, operation }: typeof gas & object) {
  const path = join(root, '..', file);
  writeFileSync(path, text);
  return { fromOpenapi: path, operation: [operation] };
}

async function fromDocument(document: typeof gas & object): Promise<string> {
  return created(documentIn(join(directory(), 'x'), document));
}

async function add(root: string, document: typeof gas & object) {
  const entries = unwrap(await importTools(toolAnswers(documentIn(root, document)), generic, startImport()));
  return changeProject(root, async () => planAddition(await openProject(root), entries));
}

const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const edit = (root: string, path: string, change: (text: string) => string) =>
  writeFileSync(join(root, path), change(read(root, path)));

describe('the documents of a new project', () => {
  const variables = [{ name: 'GAS_TOKEN', kind: 'secret', text: 'Token' }] as const;
  const readme = (start: Start) => {
    const asks = start === 'openapi' || start === 'url';
    const context = projectContext({
      name: 'gas',
      profile: generic,
      packageManager: 'npm',
      tools: ['get_gas'],
      packages: { program: '1.0.0', runtime: '1.0.0' },
      start,
      variables: asks ? variables : null,
      targets: [],
    });
    const pages = ['README.md', 'AGENTS.md', 'DEPLOY.md'];
    const planned = planCommonFiles(context, readTemplates()).filter(({ path }) => pages.includes(path));
    const files = render(planned, readTemplates());
    return pages.map((path) => new TextDecoder().decode(files.get(path)?.content)).join('\n');
  };
  const ofSamples = /Call your API in `source.read`|sample answers|your samples/;

  it.each(['blank', 'sample'] as const)('says what the author of a tool from %s has to write', (start) => {
    const text = readme(start);
    expect(text).toMatch(ofSamples);
    expect(/description that starts with `TODO`/.test(text)).toBe(start === 'sample');
    expect(text).not.toMatch(/test\/recordings|p-queue|src\/source/);
  });

  it.each(['blank', 'sample', 'openapi', 'url'] as const)(
    'begin with at most 60 lines of README for %s',
    (start) => {
      const [text = ''] = readme(start).split('# For agents');
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
      expect(text).toContain('[DEPLOY.md](DEPLOY.md)');
    },
  );

  it.each(['openapi', 'url'] as const)('says of a tool from %s that it asks its source', (start) => {
    const text = readme(start);
    expect(text).not.toMatch(ofSamples);
    expect(text).toContain('The file `.env` must set `GAS_TOKEN`.');
    expect(text).toContain(
      start === 'url' ? 'Each call goes to the MCP server' : 'Each call goes to the API.',
    );
    expect(text).toContain(`${kitPackages} in package.json belong to`);
    expect(text).toContain('npm run record');
    expect(text).toContain('  -e GAS_TOKEN="$GAS_TOKEN" \\\n');
    expect(text).toContain('- `GAS_TOKEN`: Token.\n');
  });
});

describe('a project from an OpenAPI document', () => {
  it('equals the output of an upgrade to the same version', async () => {
    const root = await fromDocument(gas);
    expect(read(root, 'DEPLOY.md')).toContain('- `GAS_TOKEN`: ');
    expect((await planUpgrade(root)).change).toBe(null);
  });

  it('mentions the variables of an API that is added later', async () => {
    const root = await fromDocument(gas);
    await add(root, weather);
    const names = Object.keys(weather.secrets);
    expect(names).not.toEqual([]);
    for (const name of names) expect(read(root, 'DEPLOY.md')).toContain(`- \`${name}\`: `);
    expect((await planUpgrade(root)).change).toBe(null);
  });
});

describe('a blank project after the first tool with an API', () => {
  it('has updated documents, and an upgrade finds no difference', async () => {
    const root = await created({});
    await add(root, gas);
    expect(read(root, 'AGENTS.md')).toContain(kitPackages);
    expect(read(root, 'DEPLOY.md')).toContain('- `GAS_TOKEN`: ');
    expect(read(root, 'README.md')).toContain('Call your API in `source.read`');
    expect(read(root, 'AGENTS.md')).toContain('`test/recordings/*.json`');
    expect((await planUpgrade(root)).change).toBe(null);
  });

  it("keeps the author's edits, also in an upgrade", async () => {
    const root = await created({});
    const mine = 'A line of the author.';
    edit(root, 'README.md', (text) => `${text}\n${mine}\n`.replaceAll('\n', '\r\n'));
    edit(root, '.env.example', (text) => text.replace('PORT=3000', 'PORT=4000'));
    await add(root, gas);
    expect(read(root, 'README.md')).toContain(`${mine}\r\n`);
    expect(read(root, 'README.md')).toContain('npm run record');
    expect(read(root, '.env.example')).toMatch(/GAS_TOKEN=[\s\S]*PORT=4000/);
    // If the manifest recorded the author's text, an upgrade would replace it.
    const recorded = editedFiles(root, readManifest(root));
    expect(recorded).toEqual(expect.arrayContaining(['README.md', '.env.example']));
    expect((await planUpgrade(root)).change).toBe(null);
  });

  it('keeps a README that its author rewrote or deleted, and reports the missing variables', async () => {
    const rewritten = await created({});
    edit(rewritten, 'README.md', () => '# Mine\n');
    const { prepared } = await add(rewritten, gas);
    expect(read(rewritten, 'README.md')).toBe('# Mine\n');
    expect(prepared.changes).toContainEqual({
      tool: 'getGas',
      path: 'README.md',
      what: 'was left as you edited it',
      why: 'add there what the new tools need: GAS_URL, GAS_TOKEN',
    });
    expect((await planUpgrade(rewritten)).change).toBe(null);
    const deleted = await created({});
    rmSync(join(deleted, 'README.md'));
    const { change } = await add(deleted, gas);
    expect([...(change?.files.keys() ?? [])]).not.toContain('README.md');
  });

  it('is refused if its list of variables is damaged', async () => {
    const root = await fromDocument(gas);
    edit(root, manifestFile, (text) => text.replace('"name": "GAS_TOKEN"', '"name": "$(rm -rf)"'));
    expect(() => readManifest(root)).toThrow('answers.variables');
  });
});

it('an added tool keeps every byte of documents that are not UTF-8', async () => {
  const root = await fromDocument(gas);
  const latin = '# Gr\xfc\xdfe \xc3\n';
  const bytes = (path: string) => readFileSync(join(root, path), 'latin1');
  const paths = ['.env.example', 'README.md', 'src/env.ts', 'package.json'];
  const [, , , manifest = ''] = paths;
  for (const path of paths.slice(0, 3)) {
    const mine = path.endsWith('.ts') ? `// ${latin}` : latin;
    writeFileSync(join(root, path), `${mine}${bytes(path)}`, 'latin1');
  }
  const packages = bytes(manifest)
    .replace('"private"', '"author": "\xfc",\n  "private"')
    .replace(/ *"ky".*\n/, '');
  writeFileSync(join(root, manifest), packages, 'latin1');
  const { change } = await add(root, weather);
  for (const path of paths) expect([...(change?.files.keys() ?? [])]).toContain(path);
  for (const path of paths.slice(0, 3)) expect(bytes(path)).toContain(latin);
  expect(bytes(manifest)).toContain('"author": "\xfc",');
});
