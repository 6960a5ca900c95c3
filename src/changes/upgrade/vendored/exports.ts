import { runtimePackage } from '../../../plan/versions.ts';
import type { Todo } from '../model.ts';

/** What the runtime's package exports: entry point → names. */
export const packageExports: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    '': [
      ...[
        'Data',
        'Input',
        'Json',
        'JsonObject',
        'ObjectSchema',
        'Operation',
        'Outcome',
        'Outcomes',
        'Refusal',
      ],
      ...[
        'SessionChange',
        'Tool',
        'ToolDefinition',
        'ToolExample',
        'TypedTool',
        'Upstream',
        'defineTool',
        'signals',
      ],
    ],
    '/app': [
      ...['App', 'AppConfig', 'Config', 'ConfigResult', 'Configured', 'Log', 'createApp', 'createLog'],
      ...['readConfig'],
    ],
    '/env': ['Declared', 'defineEnv', 'number', 'secret', 'text', 'url'],
    '/serve': [
      'Platform',
      'RouteHandler',
      'RouteOptions',
      'Sentinel',
      'ServeOptions',
      'SharedEntry',
      'SharedState',
      'serve',
    ],
    '/source': [
      ...['BodyParts', 'HttpSource', 'HttpSourceOptions', 'McpCall', 'McpSource', 'McpSourceOptions'],
      ...['QueryStyle', 'RequestOptions', 'Secret', 'SourceError', 'SourceErrorCode', 'WriteOptions'],
      ...['basic', 'failed', 'httpSource', 'mcpSource'],
    ],
    '/testing': ['CallOptions', 'CallResult', 'Incident', 'assertOutcome', 'callTool', 'requireVariables'],
    '/workers': ['Worker', 'createWorker'],
  }).map(([entry, names]) => [runtimePackage + entry, new Set(names)]),
);

/** What an author can use in place of an edit of the runtime. */
const alternatives: readonly (readonly [RegExp, string])[] = [
  [/^src\/(server\/(http|listen|app)|main)\.ts$/, 'routes and headers are options of serve in src/main.ts'],
  [/^src\/source\//, 'the options of httpSource and mcpSource in src/apis/ replace most edits'],
  [/^(contract|self-check)\//, 'the rules are in the program, and market-mcp.json contains the profile'],
  [/^local\//, 'market-mcp dev, token and call replace it'],
  [/^src\/(config|variables|process)\.ts$/, 'own variables belong in src/env.ts, limits in the environment'],
];

/** The task that an edit in a file of the runtime leaves to its author. */
export function editTodo(path: string, patch: string): Todo {
  const found = alternatives.find(([file]) => file.test(path))?.[1];
  const alternative = found ?? `the options are in node_modules/${runtimePackage}/README.md`;
  return { path, line: 1, text: `your edit is in ${patch}, and no longer applied: ${alternative}` };
}
