import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { directory as newDirectory } from '../project/directory.ts';

const repository = resolve(import.meta.dirname, '../..');
const defineTool = join(repository, 'packages/runtime/src/server/define-tool.ts');

/** The compiler's errors in a source text, `line: message`; the text may use all exports of define-tool. */
async function errorsIn(source: string): Promise<string[]> {
  const directory = newDirectory();
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const head = `import { type Data, defineTool, type Input } from ${JSON.stringify(defineTool)};`;
  writeFileSync(join(directory, 'tool.ts'), `${head}\n${source}`);
  const options = { extends: join(repository, 'templates/project/tsconfig.json'), include: ['tool.ts'] };
  const compilerOptions = {
    noEmit: true,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    rootDir: '/',
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ ...options, compilerOptions }));
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  const { stdout } = await execa(process.execPath, [compiler, '--pretty', 'false'], {
    cwd: directory,
    reject: false,
  });
  return stdout
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => line.replace(/^tool\.ts\((\d+),\d+\): error /, (_, at) => `${Number(at) - 1} `));
}

const tool = (properties: string, found: string, more = '') => `
export default defineTool({
  name: 'n', description: 'd', examples: [],
  inputSchema: { type: 'object', properties: {}, required: [] },
  outputSchema: { type: 'object', properties: { ${properties} }, required: ['gwei']${more} },
  run: (_, { found }) => found(
    ${found}
  ),
});`;

const gwei = "gwei: { type: ['number', 'null'] }";
const rows =
  "rows: { type: 'array', items: { type: 'object', properties: { bid: { type: 'number' } }, required: ['bid'] } }";

test.each([
  ['the right members', gwei, '{ gwei: 12 }', null],
  ['nothing where that is allowed', gwei, '{ gwei: null }', null],
  ['a numeric string', gwei, "{ gwei: '12' }", 'TS2322'],
  ['a missing member', gwei, '{}', 'TS2741'],
  ['a member too many', gwei, '{ gwei: 1, extra: 1 }', 'TS2353'],
  ['a nested one of the wrong type', `${gwei}, ${rows}`, "{ gwei: 1, rows: [{ bid: '1' }] }", 'TS2322'],
  ['a nested one too many', `${gwei}, ${rows}`, '{ gwei: 1, rows: [{ bid: 1, x: 1 }] }', 'TS2353'],
  ['a nested one that is missing', `${gwei}, ${rows}`, '{ gwei: 1, rows: [{}] }', 'TS2741'],
])('found with %s', async (_, properties, data, code) => {
  const errors = await errorsIn(tool(properties, data));
  expect(errors.map((error) => error.split(':')[0])).toEqual(code === null ? [] : [`7 ${code}`]);
});

test('compiles an enum of 5,000 values, in inputs and outputs', async () => {
  const values = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => `value-${index}`));
  const source = `
const schema = { type: 'object', properties: { one: { type: 'string', enum: ${values} } }, required: ['one'] } as const;
export default defineTool({
  name: 'n', description: 'd', examples: [], inputSchema: schema, outputSchema: schema,
  run: ({ one }, { found }) => found({ one }),
});
export const right: Input<typeof schema> = { one: 'value-4999' };
export const wrong: Data<typeof schema> = { one: 'value-5000' };`;
  const errors = await errorsIn(source);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/^8 TS2820: Type '"value-5000"' is not assignable/);
});

test('uses unknown for keywords without a type, and keeps the others', async () => {
  const source = `
const schema = {
  type: 'object',
  properties: {
    all: { allOf: [{ type: 'string' }] },
    ref: { $ref: '#/definitions/a' },
    any: { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }] },
    one: { oneOf: [{ type: 'number' }, { const: null }] },
    beside: { anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: { type: 'number' } } },
    together: { properties: { a: {} }, anyOf: [{ type: 'object', properties: { b: {} }, required: ['b'] }] },
    narrowed: { type: 'string', anyOf: [{ maxLength: 1 }, { minLength: 9 }] },
    open: { type: 'object', properties: { a: { type: 'number' } }, required: [], allOf: [{ required: ['a'] }] },
    map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
    mixed: { type: 'object', additionalProperties: { type: 'string' }, patternProperties: { x: { type: 'number' } } },
    tuple: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
    nullable: { type: 'string', nullable: true },
    bare: {},
    anything: { type: 'object' },
    list: { type: 'array' },
  },
  required: ['all','ref','any','one','beside','together','narrowed','open','map','mixed','tuple','nullable','bare','anything','list'],
} as const;
type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type D = Data<typeof schema>;
export const all: Is<D['all'], unknown> = true;
export const ref: Is<D['ref'], unknown> = true;
export const any: Is<D['any'], string | { a: number }> = true;
export const one: Is<D['one'], number | null> = true;
export const beside: Is<D['beside'], unknown> = true;
export const together: Is<D['together'], unknown> = true;
export const narrowed: Is<D['narrowed'], string> = true;
export const open: D['open'] = { a: 1, more: 'x' };
export const closed: D['open'] = { a: 'x' }; // the only error
export const map: Is<D['map'], { [name: string]: string[] }> = true;
export const mixed: Is<D['mixed'], { [name: string]: unknown }> = true;
export const tuple: Is<D['tuple'], unknown[]> = true;
export const nullable: Is<D['nullable'], string | null> = true;
export const bare: Is<D['bare'], unknown> = true;
export const anything: Is<D['anything'], { [name: string]: unknown }> = true;
export const list: Is<D['list'], unknown[]> = true;`;
  const errors = await errorsIn(source);
  expect(errors).toEqual([
    expect.stringMatching(
      `^${source.split('\n').findIndex((line) => line.includes('the only error')) + 1} TS2322`,
    ),
  ]);
});

test('keeps the types of a root with keywords beside its properties, and admits further members', async () => {
  const source = `
const schema = {
  type: 'object', properties: { a: { type: 'number' }, b: { type: 'string', default: 'x' } }, required: [],
  anyOf: [{ required: ['a'] }, { required: ['c'] }],
} as const;
export const input = (given: Input<typeof schema>): [number | undefined, string, unknown] => [given.a, given.b, given.c];
export const right: Data<typeof schema> = { c: 1 };
export const wrong: Data<typeof schema> = { a: 'x' };`;
  const errors = await errorsIn(source);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/^8 TS2322/);
});
