import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolFile } from '../../src/model/names.ts';
import type { ToolSpec } from '../../src/model/tool-model.ts';
import { compile, scaffold } from '../e2e/support.ts';

/** A tool whose author has replaced its sample source. */
export interface AuthoredTool {
  readonly spec: ToolSpec;
  /** The lines of `source.read`. */
  readonly read: readonly string[];
}

/** Creates a project of these tools below `cwd` and compiles it. Returns its directory. */
export async function authorProject(
  name: string,
  tools: readonly AuthoredTool[],
  cwd: string,
): Promise<string> {
  const file = join(cwd, `${name}.spec.json`);
  writeFileSync(file, JSON.stringify(tools.map(({ spec }) => spec)));
  const { directory } = await scaffold([name, '--spec', file], { cwd });
  for (const tool of tools) writeRead(directory, tool);
  const built = await compile(directory);
  if (built.status !== 0) throw new Error(`tsc exited ${built.status}\n${built.stdout}`);
  return directory;
}

const body = /( {2}async read\([^)]*\): Promise<Answer \| undefined> \{\n).*?(\n {2}\},\n)/s;

function writeRead(directory: string, { spec, read }: AuthoredTool): void {
  const path = join(directory, 'src/tools', `${toolFile(spec.name)}.ts`);
  const source = readFileSync(path, 'utf8');
  if (!body.test(source)) throw new Error(`${path} has no source.read`);
  const lines = read.map((line) => `    ${line}`).join('\n');
  writeFileSync(
    path,
    source.replace(body, (_, head: string, end: string) => head + lines + end),
  );
}
