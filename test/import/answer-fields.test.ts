import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../packages/contract/src/command/command-error.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { startImport } from '../../src/changes/import-run.ts';
import { importTools } from '../../src/changes/import-tools.ts';
import { fieldsOf, withFields } from '../../src/import/answer-fields.ts';
import { initialRecordings } from '../../src/import/api-recordings.ts';
import type { ImportedTool } from '../../src/import/imported-tool.ts';
import { toolsOfServer } from '../../src/import/mcp-tools.ts';
import { toolOfSamples } from '../../src/import/sample.ts';
import { toolAnswers } from '../../src/questions/tool-answers.ts';
import { directory } from '../project/directory.ts';
import { documentOf, importOf, ok } from './openapi.ts';
import { preparedOf } from './prepared.ts';

const text = { type: 'string' };
const owner = {
  type: 'object',
  required: ['id', 'login'],
  properties: { id: { type: 'integer' }, login: text, site: text },
};
const repository = {
  type: 'object',
  required: ['id', 'owner', 'message'],
  properties: {
    id: { type: 'integer' },
    'dotted.name': text,
    message: text,
    owner,
    labels: {
      type: 'array',
      items: { type: 'object', required: ['id'], properties: { id: text, color: text } },
    },
    rates: { type: 'object', additionalProperties: { type: 'object', properties: { usd: text, eur: text } } },
    grid: {
      type: 'array',
      items: { type: 'array', items: { type: 'object', properties: { x: text, y: text } } },
    },
    holder: { oneOf: [{ type: 'object', properties: { name: text, tax: text } }, { type: 'string' }] },
  },
};
const example = {
  id: 7,
  'dotted.name': 'a.b',
  message: 'hi',
  owner: { id: 1, login: 'octocat', site: 'https://x.example' },
  labels: [{ id: 'a', color: 'red' }],
  rates: { base: { usd: '1', eur: '2' } },
  grid: [[{ x: '1', y: '2' }]],
  holder: { name: 'n', tax: 't' },
};

async function operation(schema: object, value?: unknown): Promise<readonly ImportedTool[]> {
  const responses = {
    200: { content: { 'application/json': { schema, ...(value ? { example: value } : {}) } } },
  };
  return unwrap(await importOf(documentOf({ responses })));
}

function reduced(tools: readonly ImportedTool[], ...chosen: string[]) {
  const [tool = expect.fail('no tool')] = unwrap(withFields(tools, chosen));
  const schema = schemaOf(tool);
  return { tool, own: schema.properties, prepared: preparedOf([tool]), schema };
}

const schemaOf = ({ entry }: ImportedTool) =>
  (entry as { outputSchema: { properties: { [name: string]: object }; required: string[] } }).outputSchema;

const errorOf = (tools: readonly ImportedTool[], ...chosen: string[]) => {
  const result = withFields(tools, chosen);
  if (result.ok) throw new Error('accepted');
  return result.errors.map(({ value, message, hint }) => `${value} ${message}. ${hint}`);
};

const signalNames = ['searchExhausted', 'noResultsReason', 'error', 'message'];

describe('chosen fields of an API', () => {
  it('leave nothing else in the schema, whose required members are those that are left', async () => {
    const { schema, tool } = reduced(await operation(repository, example), 'id,owner.login', 'labels[].id');
    expect(Object.keys(schema.properties)).toEqual([...signalNames, 'id', 'owner', 'labels']);
    expect(schema.required).toEqual(['id', 'owner']);
    expect(schema.properties.owner).toEqual({
      type: ['object', 'null'],
      properties: { login: text },
      required: ['login'],
    });
    expect(schema.properties.labels).toEqual({
      type: 'array',
      items: { type: 'object', properties: { id: text }, required: ['id'] },
    });
    expect(tool.sampleAnswers).toEqual([{ id: 7, owner: { login: 'octocat' }, labels: [{ id: 'a' }] }]);
  });

  it('can be inside maps, lists of lists and alternatives, and have dots in their names', async () => {
    const { schema, tool } = reduced(
      await operation(repository, example),
      'rates.*.usd,grid[][].x,holder.name,dotted.name',
    );
    expect(schema.properties).toMatchObject({
      rates: { additionalProperties: { properties: { usd: text }, required: [] } },
      grid: { items: { items: { properties: { x: text }, required: [] } } },
      'dotted.name': text,
    });
    expect(JSON.stringify(schema)).not.toMatch(/eur|"y"|tax/);
    expect(tool.sampleAnswers).toEqual([
      { 'dotted.name': 'a.b', rates: { base: { usd: '1' } }, grid: [[{ x: '1' }]], holder: { name: 'n' } },
    ]);
  });

  it('without members mean the whole object, also beside one of its members', async () => {
    const tools = await operation(repository, example);
    const { own } = reduced(tools, 'owner.id,owner');
    expect(own.owner).toMatchObject({ properties: { id: { type: 'integer' }, login: text, site: text } });
    expect(reduced(tools, 'labels[]').own.labels).toEqual(reduced(tools, 'labels').own.labels);
  });

  it('keep the signal of a failure where a field of the same name is not chosen', async () => {
    const tools = await operation(repository, example);
    expect(reduced(tools, 'id').own.message).toMatchObject({
      description: expect.stringContaining('went wrong'),
    });
    expect(reduced(tools, 'message').own.message).toEqual(text);
  });

  it('start with items for a list, and with result for a map', async () => {
    const list = await operation({ type: 'array', items: repository }, [example]);
    expect(reduced(list, 'items[].owner.login').tool.sampleAnswers).toEqual([
      { items: [{ owner: { login: 'octocat' } }] },
    ]);
    const map = await operation({ type: 'object', additionalProperties: owner }, { a: example.owner });
    expect(reduced(map, 'result.*.id').tool.sampleAnswers).toEqual([{ result: { a: { id: 1 } } }]);
  });

  it('leave the number of items of a list, whose recording is a list all the same', async () => {
    const { prepared } = reduced(await operation({ type: 'array', items: owner }, [example.owner]), 'count');
    const [tool] = prepared.tools;
    if (!tool?.call) throw new Error('no call');
    const [recorded] = initialRecordings(tool, tool.call, context.smoke);
    expect(recorded).toMatchObject({ status: 200, body: [{}] });
  });

  it('make tools that meet the contract, and say what they save', async () => {
    const { prepared } = reduced(await operation(repository, example), 'owner.login');
    expect(prepared.changes.at(0)?.what).toMatch(/^has 2 of 19 fields: about \d+ tokens instead of \d+$/);
    expect(prepared.tools[0]?.samples[0]?.answer).toEqual({ owner: { login: 'octocat' } });
  });

  it('are counted with the members of the chosen objects', async () => {
    const { prepared } = reduced(await operation(repository, example), 'owner');
    expect(prepared.changes.at(0)?.what).toContain('has 4 of 19 fields: '); // owner and its three members
  });
});

it('fields can be chosen in places that a whole definition would cut off', async () => {
  const nested = (depth: number): object =>
    depth === 0
      ? text
      : {
          type: 'object',
          properties: Object.fromEntries(
            ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => [name, nested(depth - 1)]),
          ),
        };
  const place = join(directory(), 'api.json');
  writeFileSync(place, JSON.stringify(documentOf({ responses: ok(nested(3)) })));
  const parts = { fromOpenapi: place, operation: ['getGas'] };
  const source = toolAnswers(parts);
  const whole = await importTools(source, context, startImport());
  expect(whole.ok && whole.value.flatMap(fieldsOf)).toHaveLength(8 + 64);
  for (const fields of [['a.b.c'], ['getGas:a.b.c']]) {
    const chosen = await importTools(toolAnswers({ ...parts, fields }), context, startImport());
    expect(chosen.ok && chosen.value.flatMap(fieldsOf).map(({ path }) => path)).toEqual([
      'a',
      'a.b',
      'a.b.c',
    ]);
  }
  // What is recorded of other tools does not enlarge this one.
  const beside = await importTools(source, context, startImport(), { other: ['a.b.c'] });
  expect(beside.ok && beside.value.flatMap(fieldsOf)).toHaveLength(8 + 64);
  const recorded = await importTools(source, context, startImport(), { getGas: ['a.b.c'] });
  expect(recorded.ok && recorded.value[0]?.fields).toEqual(['a.b.c']);
});

describe('a choice that does not match', () => {
  it.each([
    ['idd', '"idd" is not a field of getGas. Did you mean id?'],
    ['owner.logn', '"owner.logn" is not a field of getGas. Did you mean owner.login?'],
    ['login', '"login" is not a field of getGas. Did you mean owner.login?'],
    ['labels.id', '"labels.id" is not a field of getGas. Did you mean labels[].id?'],
    ['owner[].id', '"owner[].id" is not a field of getGas. Did you mean owner.id?'],
    ['labels[0].id', '"labels[0].id" is not a field of getGas. Did you mean labels[].id?'],
    [
      'getGass:id',
      '"getGass:id" names getGass, which is not imported. The tools are getGas. Did you mean getGas?',
    ],
  ])('%s gets the nearest', async (chosen, error) => {
    expect(errorOf(await operation(repository), chosen)).toEqual([error]);
  });

  it('lists fields if none is near, and names every error at once', async () => {
    const errors = errorOf(await operation(repository), 'id,xylophone', 'quux');
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain(
      'Its fields are message, id, dotted.name, owner, labels, rates, grid, holder and 11 more.',
    );
  });

  it('needs the name of a tool if there are several', async () => {
    const [tool] = await operation(repository);
    if (!tool) throw new Error('no tool');
    const two = [tool, { ...tool, entry: { ...tool.entry, name: 'getOther' } }];
    expect(errorOf(two, 'id')).toEqual(['"id" names no tool, but 2 tools are imported. Write "getGas:id"']);
    const both = withFields(two, ['getOther:id', 'getOther:owner']);
    expect(both.ok && both.value.map(({ fields }) => fields)).toEqual([[], ['id', 'owner']]);
  });
});

it('descriptions name their tool if there are several, and replace what the document says', async () => {
  const responses = { 200: { content: { 'application/json': { schema: repository } } } };
  const { openapi, info, servers, paths } = documentOf({ responses }) as { [name: string]: object };
  const [[path, item] = []] = Object.entries(paths ?? {}) as [string, { [method: string]: object }][];
  const other = Object.fromEntries(
    Object.entries(item ?? {}).map(([method, operation]) => [
      method,
      { ...operation, operationId: 'getOther' },
    ]),
  );
  const file = join(directory(), 'api.json');
  writeFileSync(
    file,
    JSON.stringify({ openapi, info, servers, paths: { [`${path}`]: item, '/other': other } }),
  );
  const described = async (operation: readonly string[], ...description: string[]) => {
    const entries = await importTools(
      toolAnswers({ fromOpenapi: file, operation, description }),
      context,
      startImport(),
    );
    return entries.ok
      ? entries.value.map(({ entry }) => (entry as JsonObject).description)
      : entries.errors.map(({ message, hint }) => `${message}. ${hint}`);
  };
  const [first, second] = await described(['getGas', 'getOther']);
  expect(await described(['getGas', 'getOther'], 'getOther: Returns: others.')).toEqual([
    first,
    'Returns: others.',
  ]);
  expect(await described(['getOther'], 'Returns: one.')).toEqual(['Returns: one.']);
  expect(await described(['getGas', 'getOther'], 'Returns it all: now')).toEqual([
    'names no tool, but 2 tools are imported. Write "getGas:Returns it all: now"',
  ]);
  expect(await described(['getGas', 'getOther'], 'getOthr: It.')).toEqual([
    'names getOthr, which is not imported. The tools are getGas or getOther. Did you mean getOther?',
  ]);
  expect(second).not.toBe('');
});

describe('chosen fields of a server', () => {
  const server = (outputSchema?: JsonObject) =>
    toolsOfServer({
      url: 'https://tools.example/mcp',
      title: 'Tools',
      tools: [
        {
          name: 'get_tree',
          description: 'Returns it. Use it for trees.',
          inputSchema: { type: 'object' },
          ...(outputSchema && { outputSchema }),
        },
      ],
    });
  const tree: JsonObject = {
    type: 'object',
    properties: {
      root: { $ref: '#/$defs/node' },
      other: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
    },
    required: ['root'],
    $defs: {
      node: {
        type: 'object',
        properties: {
          name: text,
          size: { type: 'integer' },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
        required: ['name', 'size'],
      },
    },
  };

  it('can be behind definitions and beside null', () => {
    const { own, schema } = reduced(server(tree), 'root.name,other.size');
    expect(own.root).toEqual({ type: 'object', properties: { name: text }, required: ['name'] });
    expect(own.other).toEqual({
      anyOf: [
        { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
        { type: 'null' },
      ],
    });
    expect(schema).not.toHaveProperty('$defs');
  });

  it('may refer to a place that is kept, and to no other', () => {
    const { schema } = reduced(server(tree), 'root.children');
    expect(schema.properties.root).toMatchObject({
      properties: { children: { items: { $ref: '#/properties/root' } } },
    });
    const linked = {
      type: 'object',
      properties: { a: text, b: { $ref: '#/properties/a' } },
      required: ['b'],
    };
    expect(errorOf(server(linked), 'b')).toEqual([
      '"b" contains a reference to a. Choose a too, or leave out what refers to it.',
    ]);
  });

  it('are not offered for a tool that answers with text', () => {
    expect(reduced(server()).tool.fields).toBeUndefined();
    expect(errorOf(server(), 'id')[0]).toContain('is not a field of get_tree');
  });
});

it('fields of sample answers are chosen in the schema and in the sample data', () => {
  const samples = [{ name: 'a.json', value: { gwei: 1, tiers: [{ name: 'fast', wei: 2 }], note: 'x' } }];
  const tool = toolOfSamples(samples, { name: 'get_gas', input: [] }, () => 'Returns it. Use it.');
  const { tool: own, prepared } = reduced([unwrap(tool)], 'tiers[].wei');
  expect(own.sampleAnswers).toEqual([{ tiers: [{ wei: 2 }] }]);
  expect(prepared.tools[0]?.samples[0]?.answer).toEqual({ tiers: [{ wei: 2 }] });
  expect(fieldsOf(unwrap(tool)).map(({ path }) => path)).toEqual([
    'gwei',
    'tiers',
    'note',
    'tiers[].name',
    'tiers[].wei',
  ]);
});

describe('a large definition', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [
      `field_${i}`,
      { type: 'string', description: `What number ${i} means` },
    ]),
  );

  it('says its size and how to cut it, once for each tool', async () => {
    const { advice } = preparedOf(unwrap(withFields(await operation({ type: 'object', properties }), [])));
    const about = advice.filter(({ message }) => /token/.test(message));
    expect(about).toHaveLength(1);
    expect(about[0]?.where).toBe('getGas.outputSchema');
    expect(about[0]?.message).toMatch(/^has 200 fields, and the tool about \d,\d{3} tokens/);
    expect(about[0]?.hint).toContain('--fields getGas:field_0,field_1,field_2.');
  });

  it('says nothing once it is small', async () => {
    const { prepared } = reduced(await operation({ type: 'object', properties }), 'field_3');
    expect(prepared.advice.filter(({ message }) => /token/.test(message))).toEqual([]);
    expect((await importOf(documentOf({ responses: ok() }))).ok).toBe(true);
  });
});
