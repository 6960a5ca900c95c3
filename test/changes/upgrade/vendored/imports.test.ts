import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importedPackages } from '../../../../src/changes/upgrade/author-files.ts';
import { packageExports } from '../../../../src/changes/upgrade/vendored/exports.ts';
import { ImportMover } from '../../../../src/changes/upgrade/vendored/imports.ts';
import { exportedNames } from '../../../../src/typescript/imports.ts';

const mover = new ImportMover(
  new Map([
    ['contract/model.ts', 'export type Json = null;\nexport interface JsonObject {}\nexport type Gone = 1;'],
    ['src/server/call.ts', 'export function callTool() {}\nexport function misfit() {}'],
    ['src/server/app.ts', 'export function createApp() {}'],
    ['src/server/all.ts', 'export function createApp() {}\nexport function callTool() {}'],
    ['src/server/environment.ts', ''],
    ['src/source/secret.ts', 'export interface Secret {}\nexport function basic() {}'],
    ['src/platform.ts', 'export const platform = {};\nexport const runtime = "1";'],
  ]),
  new Map([['src/platform.ts', 'export const platform = {};']]),
);
const moved = (text: string, path = 'src/tools/x.ts') => mover.move(path, text);

it('the entry points of the package export what the upgrade knows of, each name once', () => {
  const { exports } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../../packages/runtime/package.json'), 'utf8'),
  );
  const entries = Object.entries<string | { readonly default: string }>(exports)
    .map(([name, file]) => [name, typeof file === 'string' ? file : file.default] as const)
    .filter(([, file]) => file.endsWith('.js'));
  expect(entries.map(([name]) => `market-mcp-runtime${name.slice(1)}`)).toEqual([...packageExports.keys()]);
  for (const [name, file] of entries) {
    const source = file.replace('./dist/', '../../../../packages/runtime/src/').replace('.js', '.ts');
    const text = readFileSync(join(import.meta.dirname, source), 'utf8');
    expect(packageExports.get(`market-mcp-runtime${name.slice(1)}`)).toEqual(exportedNames(text));
  }
  const all = [...packageExports.values()].flatMap((names) => [...names]);
  expect(new Set(all).size).toBe(all.length);
});

describe('imports from a runtime in the project', () => {
  it.each([
    [
      `import type { JsonObject } from '../../contract/model.ts';`,
      `import type { JsonObject } from 'market-mcp-runtime';`,
    ],
    [`import {\n  type Json as J, // its own\n} from "../../contract/model.ts"`, null],
    [
      `import {\n  type Json as J,\n} from "../../contract/model.ts"`,
      `import {\n  type Json as J,\n} from "market-mcp-runtime"`,
    ],
    [`export { createApp } from '../server/app.ts';`, `export { createApp } from 'market-mcp-runtime/app';`],
    [`import { createApp } from '../server/app.js';`, `import { createApp } from 'market-mcp-runtime/app';`],
    [
      `import { callTool } from '../server/call.ts';`,
      `import { callTool } from 'market-mcp-runtime/testing';`,
    ],
    [
      `const { callTool } = await import('../server/call.ts');`,
      `const { callTool } = await import('market-mcp-runtime/testing');`,
    ],
    [
      `const { callTool } = require('../../dist/src/server/call.js');`,
      `const { callTool } = require('market-mcp-runtime/testing');`,
    ],
    [`import * as kit from '../source/secret.ts';`, `import * as kit from 'market-mcp-runtime/source';`],
    [`export * from '../source/secret.ts';`, `export * from 'market-mcp-runtime/source';`],
    [`const kit = require('../source/secret.ts');`, `const kit = require('market-mcp-runtime/source');`],
    [`import * as config from '../platform.ts';`, null],
    [
      `const { callTool: call } = await import('../server/call.ts') // its own`,
      `const { callTool: call } = await import('market-mcp-runtime/testing') // its own`,
    ],
    [`import { platform } from '../platform.ts';`, `import { platform } from '../platform.ts';`],
  ])('%j', (before, after) => {
    const { text, todos } = moved(before);
    expect(text).toBe(after ?? before);
    expect(todos).toHaveLength(after === null ? 1 : 0);
  });

  it('splits a statement whose names are now in two modules', () => {
    const text = `import { callTool, JsonObject } from '../server/call.ts';\r\nimport x from 'x';\r\n`;
    expect(moved(text).text).toBe(
      `import { callTool } from 'market-mcp-runtime/testing';\r\nimport { JsonObject } from 'market-mcp-runtime';\r\nimport x from 'x';\r\n`,
    );
  });

  it('splits a declaration whose names are now in two modules', () => {
    const text = `async () => {\n  const { callTool: call, createApp } = await import('../server/all.ts');\n};`;
    expect(moved(text).text).toBe(
      `async () => {\n  const { callTool: call } = await import('market-mcp-runtime/testing');\n  const { createApp } = await import('market-mcp-runtime/app');\n};`,
    );
  });

  it('changes no other byte', () => {
    const text = `\ufeff// import { Json } from '../../contract/model.ts';\r\nimport { Json } from '../../contract/model.ts';\r\nconst s = "import { Json } from '../../contract/model.ts'";\r\n`;
    expect(moved(text).text).toBe(
      text.replace(/\nimport [^\r]*/, `\nimport { Json } from 'market-mcp-runtime';`),
    );
  });

  it.each([
    [`import { Gone } from '../../contract/model.ts';`, 'imports Gone from contract/model.ts'],
    [`\n\nimport { misfit } from '../server/call.ts';`, 'imports misfit from src/server/call.ts'],
    [`import { runtime } from '../platform.ts';`, 'imports runtime from src/platform.ts'],
    [`import '../server/environment.ts';`, 'imports src/server/environment.ts'],
    [`import * as all from '../../contract/model.ts';`, 'imports all of contract/model.ts'],
    [`export * from '../server/all.ts';`, 'imports all of src/server/all.ts'],
    [`const m = await import('../server/call.ts');`, 'imports all of src/server/call.ts'],
    [`const { callTool, misfit } = require('../server/call.ts');`, 'imports misfit from src/server/call.ts'],
    // Not all that these read is named.
    [`const { callTool } = require('../server/call.ts').default;`, 'imports all of src/server/call.ts'],
    [`const { callTool } = require('../server/call.ts'), n = 1;`, 'imports all of src/server/call.ts'],
    [`const { callTool, ...rest } = require('../server/call.ts');`, 'imports all of src/server/call.ts'],
    [`const { callTool: { name } } = require('../server/call.ts');`, 'imports all of src/server/call.ts'],
  ])('leaves %j to the author, with its line', (text, what) => {
    const lines = text.split('\n').length;
    const todo = {
      path: 'src/tools/x.ts',
      line: lines,
      text: `${what}, which market-mcp-runtime does not export`,
    };
    expect(moved(text)).toEqual({ text, todos: [todo] });
  });

  it('lists the packages that a file imports', () => {
    const text = `import a from 'ajv/dist/2020.js';\nimport { b } from '@x/y/z';\nimport 'node:fs';\nimport './a.ts';\nawait import('c');`;
    expect(importedPackages(text)).toEqual(['ajv', '@x/y', 'c']);
  });
});
