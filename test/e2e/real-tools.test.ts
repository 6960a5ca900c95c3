import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../../src/contract/model.ts';
import { failuresOf, prove, repository, scaffold, scratch } from './support.ts';

const fixtures = join(repository, 'test/fixtures/real-tools');
const files = readdirSync(fixtures).filter((file) => file.endsWith('.json'));

const root = scratch();
const toolsOf = (file: string): ToolDefinition[] =>
  JSON.parse(readFileSync(join(fixtures, file), 'utf8')).tools;

describe.concurrent('a project from the tools/list of a real server passes its check', () => {
  it.each(files)('%s', async (file) => {
    await expectGreen(file.replace('.json', ''), join(fixtures, file), toolsOf(file));
  });

  it('all in one project', async () => {
    const tools = files.flatMap(toolsOf);
    const spec = join(root, 'all.json');
    writeFileSync(spec, JSON.stringify({ tools }));
    await expectGreen('all', spec, tools);
  });
});

async function expectGreen(name: string, spec: string, given: readonly ToolDefinition[]): Promise<void> {
  const created = await scaffold([name, '--spec', spec, '--platform', 'context'], { cwd: root });
  expect(created.tools).toEqual(given.map((tool) => tool.name));
  expect(created.changes.length).toBeGreaterThan(0);

  const { report, unitTests } = await prove(created.directory);
  expect(failuresOf(report).filter((failure) => mustFail(report, failure))).toEqual([]);
  expect(report.ok).toBe(true);
  expect(unitTests, unitTests.stdout).toMatchObject({ status: 0 });

  const { tools } = await import(join(created.directory, 'dist/src/tools/index.js'));
  expect(tools.map((tool: ToolDefinition) => tool.name)).toEqual(given.map((tool) => tool.name));
  const served = new Map<string, ToolDefinition>(tools.map((tool: ToolDefinition) => [tool.name, tool]));
  for (const tool of given) {
    expect(served.get(tool.name)?.description).toBe(tool.description);
    expect(Object.keys(served.get(tool.name)?.inputSchema.properties ?? {})).toEqual(
      Object.keys(tool.inputSchema.properties ?? {}),
    );
    expect(Object.keys(served.get(tool.name)?.outputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(Object.keys(tool.outputSchema.properties ?? {})),
    );
  }
}

/** Missing descriptions of the authors are advice; a failed MUST is our error. */
function mustFail(report: Awaited<ReturnType<typeof prove>>['report'], failure: unknown): boolean {
  const { id } = failure as { id: string };
  return report.rules.some((rule) => rule.id === id && rule.level === 'must');
}
