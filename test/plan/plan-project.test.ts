import { describe, expect, it } from 'vitest';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import { type Variable, variables } from '../../packages/runtime/src/variables.ts';
import { type ProjectAnswers, planProject, projectContext } from '../../src/plan/plan-project.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { withVariables } from '../../src/project/source/sources.ts';
import { filesOf, targetNames } from '../../src/questions/targets.ts';
import { render } from '../../src/render/render.ts';
import { preparedAnswers as answers } from './prepared.ts';

const templates = readTemplates();
const pathsOf = (given: Partial<ProjectAnswers> = {}) =>
  planProject({ ...answers, ...given }, templates).map(({ path }) => path);

describe('the plan of a project', () => {
  it('lists each file once, sorted', () => {
    const paths = pathsOf();
    expect(paths).toEqual([...new Set(paths)].sort());
  });

  // docs/project.md has the names and owners of the files of a default project.
  it('contains a source and a test for each of several tools', () => {
    const tools = ['get-gas-price', 'list-chains', 'constructor'];
    const files = tools.flatMap((name) => [`src/tools/${name}.ts`, `test/tools/${name}.test.ts`]);
    expect(pathsOf()).toEqual(expect.arrayContaining(files));
  });

  it('contains the files of only one package manager', () => {
    expect(pathsOf()).not.toContain('.yarnrc.yml');
    expect(pathsOf({ packageManager: 'yarn' })).toContain('.yarnrc.yml');
  });

  it('contains the files of the chosen targets', () => {
    expect(pathsOf()).toEqual(expect.arrayContaining(['Dockerfile', '.dockerignore']));
    for (const name of targetNames.filter((one) => one !== 'docker')) {
      const added = pathsOf({ targets: [name] }).filter((path) => !pathsOf().includes(path));
      expect(added.toSorted()).toEqual(filesOf([name]).toSorted());
    }
  });

  it('describes the stake of the profile', () => {
    const stakeOf = (profile: ProjectAnswers['profile']) =>
      projectContext({ ...answers, variables: null, tools: ['get_gas_price'], profile }).listing.stake;
    expect(stakeOf(generic)).toMatch(/^10 USDC;/);
    expect(stakeOf(context)).toMatch(/^the greater of 10 USDC and 100 × the price;/);
  });

  it('refuses a server without tools', () => {
    expect(() => planProject({ ...answers, tools: [] }, templates)).toThrow('at least one tool');
  });
});

describe('.env.example', () => {
  const files = render(planProject(answers, templates), templates);
  const text = new TextDecoder().decode(files.get('.env.example')?.content);

  it('describes at most twelve variables, as the server does', () => {
    const common = Object.entries<Variable>(variables).filter(([, { common }]) => common);
    expect(common.length).toBeLessThanOrEqual(12);
    const shown = text
      .trim()
      .split('\n\n')
      .slice(2)
      .join('\n')
      .replaceAll(/^# ([A-Z_]+)=.*$/gm, '# $1=…');
    const described = common.map(([name, { default: initial, text: says }]) =>
      initial === null ? `# ${says}\n# ${name}=…` : `# ${says}\n${name}=${initial}`,
    );
    expect(shown).toBe(described.join('\n'));
  });

  it("has the author's own variables first", () => {
    const [key, region] = [
      { name: 'KEY', kind: 'secret', text: 'Key' },
      { name: 'REGION', kind: 'url', text: 'Where', fallback: 'https://eu.example', optional: true },
    ] as const;
    const added = withVariables(withVariables(text, [key]), [key, region]);
    const [head, ...rest] = text.split('\n\n');
    const own = ['# Key\nKEY=', '# Where (optional)\n# REGION=https://eu.example'];
    expect(added).toBe([head, ...own, ...rest].join('\n\n'));
    expect(withVariables('# Mine\nPORT=4000\n', [key])).toBe('# Mine\nPORT=4000\n\n# Key\nKEY=\n');
  });
});
