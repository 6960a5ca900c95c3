import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ToolDefinition } from '../../packages/contract/src/model.ts';
import { expectProven, repository, scaffold, scratch } from './support.ts';

const fixtures = join(repository, 'test/fixtures/real-tools');
const files = readdirSync(fixtures).filter((file) => file.endsWith('.json'));

const root = scratch();
const toolsOf = (file: string): ToolDefinition[] =>
  JSON.parse(readFileSync(join(fixtures, file), 'utf8')).tools;

it(`a project from the tools/list of ${files.length} real servers passes its check`, async () => {
  const tools = files.flatMap(toolsOf);
  const spec = join(root, 'all.json');
  writeFileSync(spec, JSON.stringify({ tools }));
  await expectGreen('all', spec, tools);
});

const hex = { type: 'string', pattern: '^0x[0-9a-f]{4}$' };
const geo = { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] };
const place = { type: 'object', properties: { zip: hex, geo }, required: ['zip', 'geo'] };
const nested = { type: 'array', items: { $ref: '#/properties/tree' } };
const tree = {
  type: 'object',
  properties: { name: { type: 'string' }, nested },
  required: ['name', 'nested'],
};

/** Schemas as zod-to-json-schema writes them for schemas that are used twice. */
const generated: { readonly [name: string]: object } = {
  __node_version: {},
  '2fa_code': { code: hex, again: { anyOf: [{ $ref: '#/properties/code' }, { type: 'null' }] } },
  route: {
    value: place,
    to: { $ref: '#/properties/value' },
    geo: { $ref: '#/properties/value/properties/geo' },
  },
  pair: {
    pair: { type: 'array', minItems: 2, maxItems: 2, items: [hex, { $ref: '#/properties/pair/items/0' }] },
  },
  '3_trees': { tree, second: { $ref: '#/properties/tree' } },
};

it('tools of a code generator without outputs become a project with --output-text', async () => {
  const list = Object.entries(generated).map(([name, properties]) => ({
    name,
    description: `Returns what ${name} finds in the archive. Use it when a question asks for ${name}.`,
    inputSchema: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
  }));
  writeFileSync(join(root, 'generated.json'), JSON.stringify({ tools: list }));
  const flags = ['generated', '--spec', 'generated.json', '--output-text', '--platform', 'context'];
  const { directory, changes, files } = await scaffold(flags, { cwd: root });
  const texts = changes.filter(({ what }) => what === 'became one text, result');
  expect(texts.map(({ tool }) => tool)).toEqual(Object.keys(generated));
  const made = files.filter((file) => /^src\/tools\/(?!index)/.test(file));
  expect(made.map((file) => file.slice('src/tools/'.length)).sort()).toEqual([
    '2fa-code.ts',
    '3-trees.ts',
    'node-version.ts',
    'pair.ts',
    'route.ts',
  ]);
  await expectProven(directory);
});

async function expectGreen(name: string, spec: string, given: readonly ToolDefinition[]): Promise<void> {
  const created = await scaffold([name, '--spec', spec, '--platform', 'context'], { cwd: root });
  expect(created.tools).toEqual(given.map((tool) => tool.name));
  expect(created.changes.length).toBeGreaterThan(0);

  await expectProven(created.directory);
  const { tools } = await import(join(created.directory, 'dist/src/tools/index.js'));
  expect(tools.map((tool: ToolDefinition) => tool.name)).toEqual(given.map((tool) => tool.name));
  const served = new Map<string, ToolDefinition>(tools.map((tool: ToolDefinition) => [tool.name, tool]));
  for (const tool of given) {
    expect(served.get(tool.name)?.description).toBe(tool.description);
    expect(Object.keys(served.get(tool.name)?.inputSchema.properties ?? {})).toEqual(
      Object.keys(tool.inputSchema.properties ?? {}),
    );
    expect(Object.keys(served.get(tool.name)?.outputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(Object.keys(tool.outputSchema.properties ?? {})),
    );
  }
}
