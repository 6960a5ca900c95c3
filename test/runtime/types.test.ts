import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { directory as newDirectory } from '../project/directory.ts';

const repository = resolve(import.meta.dirname, '../..');
const defineTool = join(repository, 'packages/runtime/src/server/define-tool.ts');

/** The compiler's errors in a source text, `line: message`; the other types: define-tool.test.ts. */
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
