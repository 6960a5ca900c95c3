import { describe, expect, it } from 'vitest';
import { ImportMover, importedPackages } from '../../../src/changes/upgrade/imports.ts';

const mover = new ImportMover({
  before: new Map([
    ['contract/model.ts', 'export type Json = null;\nexport interface JsonObject {}\nexport type Gone = 1;'],
    ['src/server/call.ts', 'export function callTool() {}\nexport function misfit() {}'],
    ['src/server/app.ts', 'export function createApp() {}'],
    ['src/server/environment.ts', ''],
  ]),
  after: new Map([
    ['src/server/define-tool.ts', 'export type Json = null;\nexport interface JsonObject {}'],
    ['src/server/call.ts', 'export async function callTool() {}'],
    ['src/server/http.ts', 'export function createApp() {}\nexport const a = 1;'],
    ['src/server/rpc.ts', 'export const a = 2;\nexport type JsonObject = object;'],
  ]),
});
const moved = (text: string, path = 'src/tools/x.ts') => mover.move(path, text);

describe('imports from a changed runtime', () => {
  it.each([
    [
      `import type { JsonObject } from '../../contract/model.ts';`,
      `import type { JsonObject } from '../server/define-tool.ts';`,
    ],
    [`import {\n  type Json as J, // its own\n} from "../../contract/model.ts"`, null],
    [
      `import {\n  type Json as J,\n} from "../../contract/model.ts"`,
      `import {\n  type Json as J,\n} from "../server/define-tool.ts"`,
    ],
    [`export { createApp } from '../server/app.ts';`, `export { createApp } from '../server/http.ts';`],
    [`import { createApp } from '../server/app.js';`, `import { createApp } from '../server/http.ts';`],
    [`import { callTool } from '../server/call.ts';`, `import { callTool } from '../server/call.ts';`],
  ])('%j', (before, after) => {
    const { text, todos } = moved(before);
    expect(text).toBe(after ?? before);
    expect(todos).toHaveLength(after === null ? 1 : 0);
  });

  it('splits a statement whose names are now in two modules', () => {
    const both = new ImportMover({
      before: new Map([['contract/all.ts', '']]),
      after: new Map([
        ['src/a.ts', 'export const one = 1;'],
        ['src/b.ts', 'export const two = 1;'],
      ]),
    });
    const text = `import { one, two } from '../contract/all.ts';\r\nimport x from 'x';\r\n`;
    expect(both.move('test/x.ts', text).text).toBe(
      `import { one } from '../src/a.ts';\r\nimport { two } from '../src/b.ts';\r\nimport x from 'x';\r\n`,
    );
  });

  it('changes no other byte', () => {
    const text = `\ufeff// import { Json } from '../../contract/model.ts';\r\nimport { Json } from '../../contract/model.ts';\r\nconst s = "import { Json } from '../../contract/model.ts'";\r\n`;
    expect(moved(text).text).toBe(
      text.replace(/\nimport [^\r]*/, `\nimport { Json } from '../server/define-tool.ts';`),
    );
  });

  it.each([
    [
      `import { Gone } from '../../contract/model.ts';`,
      'imports Gone from contract/model.ts, which no longer exists',
    ],
    [
      `\n\nimport { misfit } from '../server/call.ts';`,
      'imports misfit from src/server/call.ts, which no longer exists',
    ],
    [`import '../server/environment.ts';`, 'imports src/server/environment.ts, which no longer exists'],
    [`import * as all from '../../contract/model.ts';`, 'imports contract/model.ts, which no longer exists'],
    [
      `const m = await import('../../contract/model.ts');`,
      'imports contract/model.ts, which no longer exists',
    ],
  ])('leaves %j to the author, with its line', (text, what) => {
    const lines = text.split('\n').length;
    expect(moved(text)).toEqual({ text, todos: [{ path: 'src/tools/x.ts', line: lines, text: what }] });
  });

  it('lists the packages that a file imports', () => {
    const text = `import a from 'ajv/dist/2020.js';\nimport { b } from '@x/y/z';\nimport 'node:fs';\nimport './a.ts';\nawait import('c');`;
    expect(importedPackages(text)).toEqual(['ajv', '@x/y', 'c']);
  });
});
