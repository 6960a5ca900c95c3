import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { type ProjectAnswers, planProject } from '../../src/plan/plan-project.ts';
import type { PlannedFile, TemplateSet } from '../../src/plan/planned-file.ts';
import { readTemplates, templatesBelow } from '../../src/project/package/templates.ts';
import { targetNames } from '../../src/questions/targets.ts';
import { render, renderTemplate } from '../../src/render/render.ts';
import { gasPrice, hostile, hostileTool, listChains, preparedAnswers } from '../plan/prepared.ts';
import { directory } from '../project/directory.ts';

const templates = readTemplates();
const text = (content: Uint8Array | undefined) => new TextDecoder().decode(content);

function project(given: Partial<ProjectAnswers>): Map<string, string> {
  const files = render(planProject({ ...preparedAnswers, ...given }, templates), templates);
  return new Map([...files].map(([path, { content }]) => [path, text(content)]));
}

describe('a rendered project', () => {
  const rendered = project({ tools: [gasPrice, listChains], profile: context });
  const pnpm = project({ packageManager: 'pnpm', tools: [gasPrice] });

  // docs/project.md has the files of a default project, as they are for every platform and tool.
  it.each(['src/platform.ts', 'src/tools/get-gas-price.ts'])('%s', async (path) => {
    await expect(rendered.get(path)).toMatchFileSnapshot(`__snapshots__/context/${path}.snap`);
  });

  it.each([
    ['README.md', 6],
    ['DEPLOY.md', 2],
    ['AGENTS.md', 5],
    ['.github/workflows/ci.yml', 6],
  ])('names the commands of its package manager in %s', (path, least) => {
    const text = (pnpm.get(path) ?? '').replace('npm install --global pnpm', '');
    expect(text.match(/\b(npm (run|ci|install|test)|npx) .*|package-lock/g)).toBeNull();
    expect(text.match(/\bpnpm (install|run|exec)\b/g)?.length).toBeGreaterThanOrEqual(least);
  });

  it('has hostile text in one file', () => {
    const files = project({ tools: [hostileTool] });
    const holders = [...files].filter(([, content]) => content.includes('<script>')).map(([path]) => path);
    expect(holders).toEqual(['src/tools/constructor.ts']);
  });

  it("has TypeScript in the formatter's format", () => {
    const files = [...project({})].filter(([path]) => /^(src|test)\/(tools\/(?!index)|platform)/.test(path));
    expect(files.length).toBeGreaterThan(6);
    const place = directory();
    for (const [path, content] of files) {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), content);
    }
    const biome = ['format', `--config-path=${process.cwd()}`, place];
    const { status, stdout, stderr } = spawnSync('node_modules/.bin/biome', biome, { encoding: 'utf8' });
    expect([status, stdout], stderr).toEqual([0, expect.stringContaining(`Checked ${files.length} files`)]);
  });

  it('copies static files byte for byte', () => {
    const source = templates.get('project/CLAUDE.md');
    const planned: PlannedFile = { path: 'CLAUDE.md', template: 'project/CLAUDE.md', owner: 'yours' };
    expect(render([planned], templates).get('CLAUDE.md')?.content).toBe(source);
  });
});

it('the templates of the package give the same project as those of the checkout', () => {
  const packed = templatesBelow('dist/templates');
  const answers = { ...preparedAnswers, tools: [gasPrice, hostileTool], targets: targetNames };
  const filesOf = (templates: TemplateSet) =>
    [...render(planProject(answers, templates), templates)].map(([path, { content }]) => [
      path,
      text(content),
    ]);
  expect(filesOf(packed)).toEqual(filesOf(templates));
  expect(packed.size).toBe(templates.size);
});

describe('an invalid template', () => {
  it.each([
    ['{{nowhere}}', 'nowhere'],
    ['{{json nowhere}}', 'json: the context has no such value'],
    ['{{md nowhere}}', 'md: undefined is not text'],
    ['{{shout name}}', 'shout'],
    ['{{#each tools}', 'Parse error'],
  ])('gives an error that names it: %s', (source, message) => {
    expect(() => renderTemplate('bad.hbs', source, { name: hostile })).toThrow(/^template bad\.hbs: /);
    expect(() => renderTemplate('bad.hbs', source, { name: hostile })).toThrow(message);
  });

  it('gives an error if its JSON does not parse', () => {
    const bad = new Map([['bad.hbs', new TextEncoder().encode('{ "name": {{json name}}, }')]]);
    const planned: PlannedFile = {
      path: 'a.json',
      template: 'bad.hbs',
      context: { name: 'x' },
      owner: 'yours',
    };
    expect(() => render([planned], bad)).toThrow('a.json is not JSON');
  });

  it('gives an error if it is missing', () => {
    expect(() => render([{ path: 'a', template: 'a', owner: 'yours' }], new Map())).toThrow('no template a');
  });
});
