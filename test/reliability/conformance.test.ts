import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compile, run, scratch, succeeded } from '../e2e/support.ts';
import { authorProject } from './authored.ts';
import { fixtureTools } from './conformance/fixture-tools.ts';
import { record } from './figures.ts';
import { type ServerProcess, startServer } from './server.ts';
import { installToolchain, nodeDirectory, toolFile, toolVersion } from './toolchain.ts';

const root = scratch();
let server: ServerProcess;

beforeAll(installToolchain);
beforeAll(async () => {
  const directory = await authorProject('conformance', fixtureTools, root);
  answerWithAnyContent(directory);
  repeatInHeader(directory);
  await succeeded(compile(directory));
  server = await startServer(directory, { AUTH: 'off', NODE_ENV: 'development' });
});

afterAll(() => server?.kill());

/** Optional scenarios that test requirements of the revision on headers. */
const headerScenarios = ['http-header-validation', 'http-custom-header-server-validation'];

/** The newest revision with sessions, and the stateless one. */
const revisions = ['2025-11-25', '2026-07-28'] as const;
const all = ['--suite', 'all'];

it.each([
  { suite: 'conformance-0.1', revision: revisions[0], args: all },
  { suite: 'conformance-0.2', revision: revisions[0], args: [...all, '--spec-version', revisions[0]] },
  { suite: 'conformance-0.2', revision: revisions[1], args: ['--requirements', revisions[1]] },
] as const)('the official suite, $suite at $revision', async ({ suite, revision, args }) => {
  const ran = await run(
    join(nodeDirectory(22), 'node'),
    [
      toolFile(suite, 'dist/index.js'),
      'server',
      ...['--url', `http://127.0.0.1:${server.port}/mcp`],
      ...args,
      ...['--expected-failures', join(import.meta.dirname, `conformance-${revision}.yml`)],
      ...['--output-dir', join(root, `${suite}-${revision}`)],
    ],
    { cwd: root },
  );
  const summary = stripVTControlCharacters(ran.stdout).split('=== SUMMARY ===')[1] ?? '';
  const scenarios = (mark: string) =>
    [...summary.matchAll(new RegExp(`^${mark} ([\\w-]+): \\d+ passed`, 'gm'))].map(([, name]) => name);
  const passed = scenarios('✓');
  const doNotApply = scenarios('✗');
  record(revision === revisions[0] ? suite : `${suite}-${revision}`, {
    version: toolVersion(suite),
    revision,
    scenarios: passed.length + doNotApply.length,
    passed: passed.length,
    doNotApply: doNotApply.length,
  });
  expect(ran.status, summary || ran.stderr).toBe(0);
  expect(passed).toEqual(
    expect.arrayContaining(
      revision === revisions[0]
        ? ['server-initialize', 'tools-list', 'tools-call-simple-text']
        : ['tools-list', 'tools-call-simple-text', ...headerScenarios],
    ),
  );
});

/**
 * A result contains its data as one text (C§2.2), but some scenarios expect images, sounds and resources. For them the
 * runtime of this project uses the member `content` of an answer as the content of its result.
 */
function answerWithAnyContent(directory: string): void {
  const own = 'structuredContent.content';
  const runtime = ownRuntime(directory);
  edit(join(runtime, 'dist/run-call.js'), [
    [
      /content: \[\{\s+type: "text",\s+text\s+\}\],\s+structuredContent/,
      `content: ${own}?.length ? ${own} : [{ type: "text", text }], structuredContent`,
    ],
    [
      /const \{ length \} = result\.content\[0\]\.text;/,
      'const { length } = JSON.stringify(result.content);',
    ],
  ]);
  edit(join(runtime, 'dist/modern.js'), [
    // The text is then no longer the data as JSON.
    [/"structuredContent":\$\{text\}/, '"structuredContent":${JSON.stringify(structuredContent)}'],
    [
      /"content":\[\{"type":"text","text":\$\{JSON\.stringify\(text\)\}\}\]/,
      '"content":${JSON.stringify(content)}',
    ],
    [/const \[\{ text \}\] = content;/, ''],
  ]);
}

/** Gives a project, which shares its packages with others, a copy of the runtime. Returns its directory. */
function ownRuntime(directory: string): string {
  const modules = join(directory, 'node_modules');
  const shared = realpathSync(modules);
  rmSync(modules);
  mkdirSync(modules);
  for (const name of readdirSync(shared)) symlinkSync(join(shared, name), join(modules, name));
  const runtime = join(modules, 'market-mcp-runtime');
  rmSync(runtime);
  cpSync(join(shared, 'market-mcp-runtime'), runtime, { recursive: true });
  return runtime;
}

function edit(file: string, changes: readonly (readonly [RegExp, string])[]): void {
  const text = readFileSync(file, 'utf8');
  for (const [before] of changes) expect(text).toMatch(before);
  writeFileSync(
    file,
    changes.reduce((edited, [before, after]) => edited.replace(before, () => after), text),
  );
}

/** Makes a header repeat one tool's parameter, which a tool spec cannot express. */
function repeatInHeader(directory: string): void {
  edit(join(directory, 'src/tools/test-header.ts'), [
    [/description: 'Region to ask',/, "description: 'Region to ask', 'x-mcp-header': 'Region',"],
  ]);
}
