import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importedPackages } from '../../../src/changes/upgrade/author-files.ts';
import { renamedIn } from '../../../src/changes/upgrade/plan-upgrade.ts';

const runtime = join(import.meta.dirname, '../../../packages/runtime');
const table = JSON.parse(readFileSync(join(runtime, 'renamed.json'), 'utf8'));

/** What the entry points of the runtime export in 0.3.0, the first version whose projects import them. */
const first = {
  index:
    'Data Input Json JsonObject ObjectSchema Operation Outcome Outcomes Refusal SessionChange Tool ToolDefinition ToolExample ' +
    'TypedTool Upstream defineTool signals',
  app: 'App AppConfig Config ConfigResult Configured Log createApp createLog readConfig',
  env: 'Declared defineEnv number secret text url',
  serve: 'Platform RouteHandler RouteOptions ServeOptions SharedEntry SharedState serve',
  source:
    'BodyParts HttpSource HttpSourceOptions McpCall McpSource McpSourceOptions QueryStyle RequestOptions Secret SourceError ' +
    'SourceErrorCode WriteOptions basic failed httpSource mcpSource',
  testing: 'CallOptions CallResult Incident assertOutcome callTool requireVariables',
  workers: 'Worker createWorker',
};

it.each(Object.entries(first))(
  'each export of %s is still there, or the table names its new name',
  (name, all) => {
    const entry = name === 'index' ? 'market-mcp-runtime' : `market-mcp-runtime/${name}`;
    const source = readFileSync(join(runtime, `src/${name}.ts`), 'utf8');
    const exports =
      source.match(/^export (?:type )?\{[^}]*\}|^export (?!type \{)\w+ (?:function )?\w+/gm) ?? [];
    const exported = new Set(exports.join(' ').split(/\W+/));
    const missing = all.split(' ').filter((one) => !exported.has(table[entry]?.[one] ?? one));
    expect(missing).toEqual([]);
  },
);

it('finds the lines that import a former name, and no others', () => {
  const text = [
    "import { basic, failed } from 'market-mcp-runtime/source';",
    'import {',
    '  type McpCall as Call,',
    '  httpSource,',
    "} from 'market-mcp-runtime/source';",
    "export { basic as login } from 'market-mcp-runtime/source';",
    "import { basic as other } from './basic.ts';",
    "const { basic: later } = await import('market-mcp-runtime/source');",
    "import * as all from 'market-mcp-runtime/source';",
    "import { constructor } from 'market-mcp-runtime/source';",
  ].join('\n');
  const entry = 'market-mcp-runtime/source';
  const found = renamedIn(new Map([['src/x.ts', text]]), { [entry]: { basic: 'login', McpCall: 'Forward' } });
  expect(found.map(({ line, from, to }) => [line, from, to])).toEqual([
    [1, 'basic', 'login'],
    [3, 'McpCall', 'Forward'],
    [6, 'basic', 'login'],
    [8, 'basic', 'login'],
  ]);
});

it('knows which packages a file imports', () => {
  const text =
    "import a from 'ajv';\nimport '@scope/b/c';\nimport './own.ts';\nimport 'node:fs';\nexport * from 'd/e';\n";
  expect(importedPackages(text)).toEqual(['ajv', '@scope/b', 'd']);
});
