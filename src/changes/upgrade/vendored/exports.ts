import { runtimePackage } from '../../../plan/versions.ts';

/** What the runtime's package exports: entry point → names. */
export const packageExports: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    '': [
      ...['Data', 'Input', 'Json', 'JsonObject', 'ObjectSchema', 'Outcome', 'Outcomes', 'Tool'],
      ...['ToolDefinition', 'ToolExample', 'TypedTool', 'defineTool', 'signals'],
    ],
    '/app': ['App', 'AppConfig', 'Log', 'createApp', 'createLog', 'readConfig'],
    '/serve': ['Platform', 'RouteHandler', 'RouteOptions', 'ServeOptions', 'serve'],
    '/source': [
      ...['Declared', 'HttpSource', 'HttpSourceOptions', 'McpCall', 'McpSource', 'McpSourceOptions'],
      ...['RequestOptions', 'Secret', 'SourceError', 'SourceErrorCode', 'WriteOptions', 'basic', 'defineEnv'],
      ...['failed', 'httpSource', 'mcpSource', 'number', 'secret', 'text', 'url'],
    ],
    '/testing': ['CallOptions', 'CallResult', 'callTool', 'requireVariables'],
  }).map(([entry, names]) => [runtimePackage + entry, new Set(names)]),
);

/** What an author can use in place of an edit of the runtime. */
const alternatives: readonly (readonly [RegExp, string])[] = [
  [/^src\/(server\/(http|listen|app)|main)\.ts$/, 'routes and headers are options of serve in src/main.ts'],
  [/^src\/source\//, 'the options of httpSource and mcpSource in src/apis/ replace most edits'],
  [/^src\/(config|variables|process)\.ts$/, 'own variables belong in src/env.ts, limits in the environment'],
];

/** What replaces an edit in a file of the runtime, in words. */
export function alternativeTo(path: string): string {
  const found = alternatives.find(([file]) => file.test(path))?.[1];
  return found ?? `the options are in node_modules/${runtimePackage}/README.md`;
}
