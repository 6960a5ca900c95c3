import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../api-server.ts';
import { bins, evaluated, expectProven, run, scaffold, scratch, succeeded } from './support.ts';
import { answering, openApi, serveTools } from './upstreams.ts';

const root = scratch();
let answer: unknown;
const { origin: url, requests } = await startApi(({ target }) => {
  if (!target.startsWith('/piers?')) return { body: answer };
  const headers = { link: `<${url}/piers?page=2>; rel="next"`, 'x-total-count': '40' };
  return { headers, body: [{ pier: 'A' }] };
});

/** An MCP server whose tool does not say that its text is JSON. */
const tides = await serveTools(
  'Tides',
  [
    {
      name: 'get_tides',
      description: 'Returns the tides of today.',
      inputSchema: { type: 'object', properties: {} },
      annotations: { readOnlyHint: true },
    },
  ],
  () => ({ content: [{ type: 'text', text: '[{"high": "06:10", "metres": 4.2}]' }] }),
);

const schema = {
  type: 'object',
  required: ['pier', 'draught', 'berths'],
  properties: {
    pier: { type: 'string', description: 'The pier' },
    draught: { type: 'number', description: 'Depth in metres' },
    berths: {
      type: 'array',
      description: 'The berths',
      items: {
        type: 'object',
        required: ['number', 'side'],
        properties: { number: { type: 'integer' }, side: { type: 'string' } },
      },
    },
  },
};
const example = { pier: 'A', draught: 7.5, berths: [{ number: 1, side: 'N' }] };
const piers = { type: 'array', items: { type: 'object', properties: { pier: { type: 'string' } } } };
const document = openApi(url, 'Harbour', {
  '/piers': {
    get: {
      operationId: 'list_piers',
      summary: 'Lists the piers.',
      parameters: [{ name: 'page', in: 'query', schema: { type: 'integer', default: 1 } }],
      responses: answering(piers),
    },
  },
  '/piers/{pier}': {
    get: {
      operationId: 'get_pier',
      summary: 'Gets a pier.',
      parameters: [{ name: 'pier', in: 'path', required: true, schema: { type: 'string', examples: ['A'] } }],
      responses: answering(schema, example),
    },
  },
});

const path = 'src/tools/get-pier.ts';
let directory: string;
let original: string;
const read = (file: string) => readFileSync(join(directory, file), 'utf8');
const market = (...args: string[]) =>
  run(process.execPath, [bins.market, ...args], { cwd: directory, env: { HARBOUR_URL: url } });

beforeAll(async () => {
  const place = join(root, 'harbour.json');
  writeFileSync(place, JSON.stringify(document));
  const flags = ['--from-openapi', place, '--operation', 'get_pier'];
  ({ directory } = await scaffold(['harbour', '--platform', 'context', ...flags], { cwd: root }));
  original = read(path).replace('const outputSchema', '// The words of the author.\nconst outputSchema');
  writeFileSync(join(directory, path), original);
});

describe('market-mcp record, of an answer that differs from the outputSchema', () => {
  it('proposes nothing if the answer matches, or is the failure of the API', async () => {
    answer = example;
    const same = await succeeded(market('record', '--yes', '--json'));
    expect(JSON.parse(same.stdout)).not.toHaveProperty('schemas');
    answer = { message: 'rate limited' };
    const failed = await market('record', '--yes', '--json');
    expect(failed.status).toBe(1);
    expect(JSON.parse(failed.stdout)).not.toHaveProperty('schemas');
    expect(read(path)).toBe(original);
  });

  it('prints the schema as a diff and the command that applies it; without a terminal, nothing is changed', async () => {
    answer = {
      pier: 'A',
      draught: 'unknown',
      berths: [
        { number: 1, free: true },
        { side: 'S', free: null },
      ],
      lit: true,
    };
    const manifest = read('market-mcp.json');
    const ran = await market('record');
    expect(ran.status, ran.stdout + ran.stderr).toBe(1);
    expect(ran.stdout).toContain(`+++ b/${path}`);
    expect(ran.stdout).toMatch(/^\+.*draught: \{ type: \['number', 'null', 'string'\]/m);
    expect(ran.stdout).toMatch(/To apply: .*record --yes/);
    expect(read(path)).toBe(original);
    expect(read('market-mcp.json')).toBe(manifest);
  });

  it('with --yes applies it, records the answer, and names "Refresh Skills"', async () => {
    await market('list', '--mark-listed');
    requests.length = 0;
    const ran = await succeeded(market('record', '--yes'));
    expect(ran.stdout).toContain('"Refresh Skills"');
    expect(requests).toHaveLength(2);
    const lines = new Set(read(path).split('\n'));
    const lost = original.split('\n').filter((line) => !lines.has(line));
    expect(lost.map((line) => line.trim().split(':')[0])).toEqual(['draught', 'properties']);
    expect(read(path)).toContain('// The words of the author.');
    expect(read('test/recordings/get-piers-pier.json')).toContain('"lit": true');
    await expectProven(directory);
    const compared = await market('check', '--only', 'tool', '--against', 'market-mcp.json', '--json');
    expect(JSON.parse(compared.stdout).drift).toMatchObject({
      against: 'listing.json',
      refreshNeeded: true,
    });
    const again = await market('record', '--yes', '--json');
    expect(JSON.parse(again.stdout)).not.toHaveProperty('schemas');
    // A missing member that was required may be null: it stays required.
    expect(read(path)).toMatch(/side: \{ type: \['string', 'null'\] \}/);
    expect(read(path)).toContain("required: ['number', 'side']");
  });

  it('takes the schema back if the project does not compile with it', async () => {
    const strict = read(path).replace(
      'return found(answer);',
      'const lit: boolean | null | undefined = answer.lit;\n      return lit === undefined ? found(answer) : found(answer);',
    );
    writeFileSync(join(directory, path), strict);
    answer = { ...example, lit: 'always' };
    const ran = await market('record', '--yes');
    expect(ran.status).toBe(3);
    expect(ran.stderr).toContain('does not compile with the proposed schemas');
    expect(read(path)).toBe(strict);
    writeFileSync(join(directory, path), strict.replace('= answer.lit', '= true'));
  });

  it('prints a schema that is not a literal in the file, and changes nothing', async () => {
    const computed = read(path).replace(
      "type: ['number', 'null', 'string']",
      "type: [...(['number', 'null', 'string'] as const), String('string')]",
    );
    expect(computed).not.toBe(read(path));
    writeFileSync(join(directory, path), computed);
    answer = { ...example, draught: true };
    const ran = await market('record', '--yes');
    expect(ran.status).toBe(1);
    expect(ran.stdout).toContain(`not a literal in ${path}`);
    expect(ran.stdout).toContain('"boolean"');
    expect(read(path)).toBe(computed);
  });

  it('corrects the signs of a success that an answer contradicts, and names those that two answers share', async () => {
    answer = { ...example, code: 0, status: 'OK' };
    const [only] = /\{ arguments: \{ pier: 'A' \}.*? \}/.exec(original) ?? [''];
    const twice = original.replace(only, `${only}, ${only.replace("'A'", "'B'")}`);
    const signs = 'schema: outputSchema, success: { code: 200 }';
    const given = [original.replace('schema: outputSchema', signs), twice] as const;
    for (const [source, expected] of [
      [given[0], 'success: { code: 0 }'],
      [given[1], "success: { code: 0, status: 'OK' }"],
    ] as const) {
      expect(source).not.toBe(original);
      writeFileSync(join(directory, path), source);
      await succeeded(market('record', '--yes'));
      expect(read(path).replaceAll(/\s+/g, ' ')).toContain(expected);
      expect(JSON.parse((await market('record', '--yes', '--json')).stdout)).not.toHaveProperty('schemas');
    }
    answer = { ...example, berths: [], code: 0, status: 'DENIED', message: 'The key has expired.' };
    const failed = await market('record', '--yes', '--json');
    expect(JSON.parse(failed.stdout)).toMatchObject({
      ok: false,
      called: [{ error: 'SOURCE_MALFORMED' }, {}],
    });
    expect(JSON.parse(failed.stdout)).not.toHaveProperty('schemas');
  });

  it('makes members of headers that only the answer has, and typed fields of a text that is JSON', async () => {
    writeFileSync(join(directory, path), original);
    answer = example;
    const list = ['--from-openapi', join(root, 'harbour.json'), '--operation', 'list_piers'];
    for (const flags of [list, ['--from-url', tides]]) {
      await succeeded(market('add-tool', '--yes', '--no-check', ...flags));
    }
    expect(read('src/tools/list-piers.ts')).not.toContain('pages');
    expect(read('src/tools/get-tides.ts')).not.toContain('\n\n\n');
    const ran = await succeeded(market('record', '--yes'));
    expect(ran.stdout).toContain('Changed to admit the answers: list_piers, get_tides');
    expect(read('src/tools/list-piers.ts')).toContain('pages: { input, inputSchema }');
    expect(read('src/tools/get-tides.ts')).toContain("wrap: 'items'");
    expect(JSON.parse(read('test/recordings/get-piers.json'))[0].headers).toEqual({
      link: '<?page=2>; rel="next"',
      'x-total-count': '40',
    });
    const called = async (tool: string) => {
      const body = `return callTool(named('${tool}'), {})`;
      return (await evaluated(directory, body, { SOURCES: 'replay' })).value.structuredContent;
    };
    expect(await called('list_piers')).toMatchObject({ count: 1, next: { page: 2 }, total: 40 });
    expect(await called('get_tides')).toEqual({ items: [{ high: '06:10', metres: 4.2 }], count: 1 });
    await expectProven(directory);
    expect(JSON.parse((await market('record', '--yes', '--json')).stdout)).not.toHaveProperty('schemas');
  });
});
