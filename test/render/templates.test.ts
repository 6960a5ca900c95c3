import Handlebars from 'handlebars';
import { describe, expect, it } from 'vitest';
import { context, generic } from '../../packages/contract/src/platforms/all.ts';
import { projectContext } from '../../src/plan/plan-project.ts';
import { apiContext, apisOf, distinctVariables, planEnvironment } from '../../src/plan/plan-sources.ts';
import { toolsIndexContext } from '../../src/plan/plan-tools-index.ts';
import { toolContext } from '../../src/plan/tool-files.ts';
import { readTemplates } from '../../src/project/package/templates.ts';
import { targetNames } from '../../src/questions/targets.ts';
import { helpers } from '../../src/render/helpers.ts';
import { preparedApiTools } from '../import/api-tools.ts';
import { preparedTools } from '../plan/prepared.ts';

const apiTools = await preparedApiTools();
const apis = apisOf(apiTools);

const templates = new Map(
  [...readTemplates()]
    .filter(([path]) => path.endsWith('.hbs'))
    .map(([path, content]) => [path, new TextDecoder().decode(content)]),
);

/** Contexts that together reach every branch; `null` for a part that another context has. */
function contextsOf(template: string): readonly object[] {
  if (template === 'tool/api-tool.ts.hbs') return apiTools.map(toolContext);
  if (template.startsWith('tool/')) return [...preparedTools, ...apiTools].map(toolContext);
  if (template === 'source/env.ts.hbs') return [planEnvironment(distinctVariables(apis)).context ?? {}];
  if (template === 'source/api.ts.hbs') return apis.map((api) => apiContext(api, apiTools));
  if (template.endsWith('tools/index.ts.hbs')) return [toolsIndexContext(['get-gas-price'])];
  const tools = preparedTools.map(({ definition }) => definition.name);
  const answers = {
    name: 'gas',
    tools,
    packages: { program: 'file:vendor/x.tgz', runtime: 'file:vendor/y.tgz' },
    start: 'openapi',
  } as const;
  return [
    projectContext({
      ...answers,
      profile: generic,
      packageManager: 'npm',
      variables: distinctVariables(apis),
      targets: targetNames,
    }),
    projectContext({
      ...answers,
      profile: context,
      packageManager: 'yarn',
      packageManagerVersion: '4.10.0',
      variables: null,
      targets: [],
    }),
  ];
}

/** Values that no author can choose: our constants, numbers, validated names. */
const bare = [
  /^name$/,
  /^dnsLabel$/,
  /^(nodeVersion|action)$/,
  /^(packageManager|image)\./,
  /^profile\.(token\.lifetimeSeconds|listing\.(name|description)Length\.(minimum|maximum))$/,
  /^firstTool\.(name|file)$/,
  /^modern$/,
  /^shutdown\./,
  /^(kit\.)?required$/,
  /^(tools\.identifier|file)$/,
  /^(api|method|kinds|imports)$/,
  /^key\.type$/,
];

describe.each([...templates])('%s', (name, source) => {
  const paths = [...pathsIn(Handlebars.parse(source).body, '')];

  it('uses only members of its context', () => {
    const contexts = contextsOf(name);
    expect(paths).not.toEqual([]);
    expect(paths.filter(({ path }) => !contexts.some((given) => has(given, path)))).toEqual([]);
  });

  it('prints every text through the helper of its context', () => {
    const allowed = (path: string) => bare.some((pattern) => pattern.test(path));
    expect(paths.filter((used) => used.bare && !allowed(used.path))).toEqual([]);
  });
});

it('text without a helper is detected', () => {
  const [path] = pathsIn(Handlebars.parse('{{firstTool.description}}').body, '');
  expect(path).toEqual({ path: 'firstTool.description', bare: true });
});

interface Used {
  /** From the root; inside a loop, from the current item. */
  readonly path: string;
  /** Printed without a helper. */
  readonly bare: boolean;
}

function* pathsIn(nodes: readonly hbs.AST.Node[], scope: string): Generator<Used> {
  for (const node of nodes) {
    if (node.type === 'MustacheStatement' || node.type === 'SubExpression') {
      yield* pathsOfCall(node as hbs.AST.MustacheStatement, scope);
    } else if (node.type === 'BlockStatement') {
      const block = node as hbs.AST.BlockStatement;
      const [subject] = block.params;
      if (subject) yield* pathsOfValue(subject, scope);
      const inner = nameOf(block.path) === 'each' && subject ? join(scope, nameOf(subject)) : scope;
      yield* pathsIn(block.program.body, inner);
      yield* pathsIn(block.inverse?.body ?? [], scope);
    }
  }
}

function* pathsOfCall(node: hbs.AST.MustacheStatement, scope: string): Generator<Used> {
  const name = nameOf(node.path);
  if (!Object.hasOwn(helpers, name)) {
    yield { path: join(scope, name), bare: true };
    return;
  }
  for (const param of node.params) yield* pathsOfValue(param, scope);
  for (const pair of node.hash?.pairs ?? []) yield* pathsOfValue(pair.value, scope);
}

function* pathsOfValue(node: hbs.AST.Expression, scope: string): Generator<Used> {
  if (node.type === 'SubExpression') yield* pathsOfCall(node as unknown as hbs.AST.MustacheStatement, scope);
  if (node.type !== 'PathExpression' || (node as hbs.AST.PathExpression).data) return;
  yield { path: join(scope, nameOf(node)), bare: false };
}

function nameOf(node: hbs.AST.Node): string {
  return (node as hbs.AST.PathExpression).original;
}

function join(scope: string, name: string): string {
  if (name === 'this') return scope;
  return scope === '' ? name : `${scope}.${name}`;
}

/** Whether a value has a path; a list has it if each of its items has it. */
function has(value: unknown, path: string): boolean {
  if (Array.isArray(value) && path !== '') return value.length > 0 && value.every((item) => has(item, path));
  if (path === '') return value !== undefined;
  const [name = '', ...rest] = path.split('.');
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return has((value as Record<string, unknown>)[name], rest.join('.'));
}
