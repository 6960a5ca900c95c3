import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compile, run, scratch } from '../e2e/support.ts';
import { authorProject } from './authored.ts';
import { fixtureTools } from './conformance/fixture-tools.ts';
import { record } from './figures.ts';
import { type ServerProcess, startServer } from './server.ts';
import { nodeDirectory, toolFile, toolVersion } from './toolchain.ts';

const expectedFailures = join(import.meta.dirname, 'conformance-expected-failures.yml');
const root = scratch();
let server: ServerProcess;

beforeAll(async () => {
  const directory = await authorProject('conformance', fixtureTools, root);
  answerWithAnyContent(directory);
  const built = await compile(directory);
  expect(built.status, built.stdout).toBe(0);
  server = await startServer(directory, { AUTH: 'off', NODE_ENV: 'development' });
});

afterAll(() => server?.kill());

/** The revision of MCP that SDK 1.x speaks; the suite of 0.2 has scenarios of later ones, too. */
const revision = '2025-11-25';

it.each([
  { suite: 'conformance-0.1', args: [] },
  { suite: 'conformance-0.2', args: ['--spec-version', revision] },
] as const)('the official suite, $suite', async ({ suite, args }) => {
  const ran = await run(
    join(nodeDirectory(22), 'node'),
    [
      toolFile(suite, 'dist/index.js'),
      'server',
      ...['--url', `http://127.0.0.1:${server.port}/mcp`],
      ...['--suite', 'all', ...args],
      ...['--expected-failures', expectedFailures],
      ...['--output-dir', join(root, suite)],
    ],
    { cwd: root },
  );
  const summary = stripVTControlCharacters(ran.stdout).split('=== SUMMARY ===')[1] ?? '';
  const scenarios = (mark: string) =>
    [...summary.matchAll(new RegExp(`^${mark} ([\\w-]+): \\d+ passed`, 'gm'))].map(([, name]) => name);
  const passed = scenarios('✓');
  const doNotApply = scenarios('✗');
  record(suite, {
    version: toolVersion(suite),
    revision,
    scenarios: passed.length + doNotApply.length,
    passed: passed.length,
    doNotApply: doNotApply.length,
  });
  expect(ran.status, summary || ran.stderr).toBe(0);
  expect(passed).toEqual(
    expect.arrayContaining(['server-initialize', 'tools-list', 'tools-call-simple-text']),
  );
});

/**
 * A result holds its data as one text (C§2.2); some scenarios want images, sounds and resources. For them the project's
 * `call.ts` takes what an answer has under `content` as the content of its result.
 */
function answerWithAnyContent(directory: string): void {
  const file = join(directory, 'src/server/call.ts');
  const source = readFileSync(file, 'utf8');
  const textAlone = "content: [{ type: 'text', text }], structuredContent }";
  expect(source).toContain(textAlone);
  const own = "structuredContent.content as CallResult['content'] | undefined";
  const either = `content: (${own})?.length ? (${own} ?? []) : [{ type: 'text', text }], structuredContent }`;
  writeFileSync(file, source.replace(textAlone, either));
}
