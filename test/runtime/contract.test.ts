import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { execa } from 'execa';
import { build } from 'rolldown';
import { describe, expect, test } from 'vitest';
import * as contract from '../../packages/contract/src/definition/outcomes.ts';
import type { JsonObject } from '../../packages/contract/src/json/value.ts';
import { signals, type Tool } from '../../packages/runtime/src/server/define-tool.ts';
import { compileTool } from '../../packages/runtime/src/server/schema.ts';
import { callTool } from '../../packages/runtime/src/testing.ts';
import fc from '../fast-check.ts';
import { directory as newDirectory } from '../project/directory.ts';
import { start } from './support.ts';
import { echo, price, textTool } from './tools.ts';

const server = join(import.meta.dirname, '../../packages/runtime/src/server');
const sources = readdirSync(server).map((file) => ({ file, text: readFileSync(join(server, file), 'utf8') }));

describe('the runtime is independent', () => {
  test('has at most 36 files, which import only each other, ajv, ajv-formats, jose, re2js and node:', () => {
    expect(sources.length).toBeLessThanOrEqual(36);
    for (const { file, text } of sources) {
      const imported = [...text.matchAll(/(?:\bfrom |\bimport\s*\(?)'([^']+)'/g)].map(([, path]) => path);
      expect(text, file).not.toContain('createRequire');
      for (const path of imported) {
        expect(path, file).toMatch(/^(node:[a-z/_]+|\.\/[a-z-]+\.ts|ajv|ajv-formats|re2js|jose\/[a-z/_]+)$/);
      }
    }
  });

  test('uses nothing of its process', () => {
    for (const { file, text } of sources)
      expect(text, file).not.toMatch(/\bprocess\.\w|node:(fs|os|process)/);
  });

  test('draws no random bytes, starts no timer and fetches nothing when it is loaded and an app is created', async () => {
    const directory = newDirectory();
    symlinkSync(join(server, '../../../../node_modules'), join(directory, 'node_modules'));
    await build({
      input: join(server, 'http-app.ts'),
      platform: 'node',
      external: /^[^./]/,
      output: { file: join(directory, 'app.mjs'), codeSplitting: false },
    });
    const script = `
      import crypto from 'node:crypto';
      import { syncBuiltinESMExports } from 'node:module';
      const never = (name) => () => { throw new Error(name + ' when it is loaded'); };
      for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) globalThis[name] = never(name);
      for (const name of ['randomBytes', 'randomUUID']) crypto[name] = never(name);
      syncBuiltinESMExports();
      const { createHttpApp } = await import('./app.mjs');
      createHttpApp({ name: 'n', version: '1', token: null, sessionSecret: null, allowedOrigins: new Set() }, [], () => {});
      console.log('loaded');`;
    writeFileSync(join(directory, 'main.mjs'), script);
    const ran = await execa(process.execPath, ['main.mjs'], { cwd: directory, reject: false });
    expect(ran.stdout, ran.stderr).toBe('loaded');
  });
});

describe('the runtime and the contract agree on', () => {
  test('the signals', () => {
    expect(signals).toEqual(contract.signals);
  });

  test('the empty answer', () => {
    const type = fc.constantFrom(
      'string',
      'number',
      'array',
      'object',
      'null',
      ['string', 'null'],
      ['object', 'null'],
    );
    const leaf = fc.record(
      { type, nullable: fc.constant(true), enum: fc.constantFrom([null, 'a'], ['a']), minItems: fc.nat(2) },
      { requiredKeys: ['type'] },
    );
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', '__proto__', 'constructor'));
    const object = (member: fc.Arbitrary<object>) =>
      fc
        .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c'), member), names)
        .map(([properties, required]) => ({ type: 'object' as const, properties, required }));
    fc.assert(
      fc.property(object(fc.oneof(leaf, object(leaf))), (schema) => {
        const theirs = contract.blankResult(JSON.parse(JSON.stringify(schema)) as JsonObject);
        const { blank, findOutputProblem } = compileTool({ ...echo, outputSchema: schema as never });
        if (!theirs.ok || findOutputProblem(theirs.result, 'x')) return fc.pre(false);
        expect({ ...blank }).toEqual({ ...theirs.result });
      }),
    );
  });
});

test('title, annotations, icons and _meta are those of the official SDK, and served only if a tool has them', async () => {
  const full: Tool = {
    ...price,
    title: 'Price of a coin',
    annotations: { readOnlyHint: true, destructiveHint: false },
    icons: [{ src: 'https://tools.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
    _meta: { surface: 'answer' },
  };
  const { client } = await start({ tools: [full, echo] });
  const { body } = await client.request('tools/list', {}, await client.session());
  const { run: _, examples: __, ...definition } = full;
  expect(body.result.tools[0]).toEqual(definition);
  expect(Object.keys(body.result.tools[1])).toEqual(['name', 'description', 'inputSchema', 'outputSchema']);
  expect(ListToolsResultSchema.parse(body.result).tools[0]).toEqual(definition);
});

describe('output fields that are also signals', () => {
  const own = (run: Tool['run']): Tool => ({
    ...textTool('own', run),
    outputSchema: {
      type: 'object',
      properties: {
        text: { type: ['string', 'null'] },
        message: { type: ['string', 'null'] },
        error: { type: ['string', 'null'] },
        searchExhausted: { type: ['boolean', 'null'] },
        noResultsReason: { type: 'string' },
      },
      required: ['text', 'message', 'error', 'searchExhausted', 'noResultsReason'],
      additionalProperties: false,
    } as Tool['outputSchema'],
  });
  const data = { text: 'x', message: 'hi', error: null, searchExhausted: false, noResultsReason: '' };

  test('found sets them', async () => {
    const result = await callTool(own((_, { found }) => found(data)));
    expect(result).toMatchObject({ structuredContent: data });
    expect(result.isError).toBeUndefined();
  });

  test("are filled by empty and fail, which override the author's", async () => {
    const nothing = { text: null, message: null, error: null };
    expect((await callTool(own((_, { empty }) => empty('none')))).structuredContent).toEqual({
      ...nothing,
      searchExhausted: true,
      noResultsReason: 'none',
    });
    const roomy = own((_, { fail }) => fail('CODE', 'why', { noResultsReason: 'hint' }));
    const { required: _, ...rest } = roomy.outputSchema;
    const tool = { ...roomy, outputSchema: { ...rest, required: ['text', 'message', 'error'] } };
    expect(await callTool(tool)).toMatchObject({
      isError: true,
      structuredContent: { text: null, error: 'CODE', message: 'why', noResultsReason: 'hint' },
    });
  });

  test('get an empty text in a failure if they are required and not nullable', async () => {
    const tool: Tool = {
      ...textTool('strict', (_, { fail }) => fail('CODE', 'why')),
      outputSchema: {
        type: 'object',
        properties: { text: { type: ['string', 'null'] }, message: { type: 'string' } },
        required: ['text', 'message'],
      },
    };
    expect((await callTool(tool)).structuredContent).toEqual({ text: null, error: 'CODE', message: 'why' });
  });
});
