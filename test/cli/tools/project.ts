import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { addTool } from '../../../src/cli/add-tool/command.ts';
import { runList } from '../../../src/cli/commands/list.ts';
import { removeTool } from '../../../src/cli/commands/remove-tool.ts';
import { renameTool } from '../../../src/cli/commands/rename-tool.ts';
import { create } from '../../../src/cli/create/command.ts';
import type {
  AddToolSwitches,
  RemoveToolSwitches,
  RenameToolSwitches,
} from '../../../src/questions/add-tool.ts';
import type { Flags } from '../../../src/questions/read-flags.ts';
import type { ToolQuestionAnswers } from '../../../src/questions/tool-questions.ts';
import { directory, tree } from '../../project/directory.ts';
import { inProcess } from '../sinks.ts';

export const quick = { yes: true, json: false, dryRun: false, check: false, force: false, overwrite: false };
const template = new Map<string, string>();

export { inProcess as run };

export const add = (
  cwd: string,
  flags: Flags<ToolQuestionAnswers>,
  switches: Partial<AddToolSwitches> = {},
) =>
  inProcess(cwd, switches.json ?? false, (output) =>
    addTool(flags.tool, output, { ...quick, ...switches, ...flags }),
  );
export const remove = (cwd: string, names: string[], switches: Partial<RemoveToolSwitches> = {}) =>
  inProcess(cwd, switches.json ?? false, (output) => removeTool(names, output, { ...quick, ...switches }));
export const rename = (cwd: string, from: string, to: string, switches: Partial<RenameToolSwitches> = {}) =>
  inProcess(cwd, switches.json ?? false, (output) => renameTool(from, to, output, { ...quick, ...switches }));
export const listed = async (cwd: string, markListed = false) =>
  JSON.parse((await inProcess(cwd, true, (output) => runList(output, { markListed }))).stdout);
export const namesIn = async (cwd: string) =>
  (await listed(cwd)).tools.map(({ name }: { name: string }) => name);

beforeAll(async () => {
  const root = directory();
  const answers = { tool: 'get_gas_price', platform: 'context' };
  const switches = { ...quick, install: false, git: false };
  const made = await inProcess(root, false, (output) => create('gas', output, { ...answers, ...switches }));
  if (made.exitCode !== 0) throw new Error(made.stderr);
  // The packed programs are a megabyte, which no command reads.
  for (const [path, text] of Object.entries(tree(join(root, 'gas'))))
    if (!path.startsWith('vendor/')) template.set(path, text);
});

/** A project with the tool `get_gas_price`. */
export function project(): string {
  const root = directory();
  for (const [path, text] of template) put(root, path, text);
  return root;
}

export function put(root: string, path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

export const text = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
export const index = 'src/tools/index.ts';

/** A file with the specs of these tools. */
export function specOf(...names: string[]): string {
  const tools = names.map((name) => ({
    name,
    description: `Returns the ${name} of a chain, in gwei. Use it when a question asks for ${name}.`,
    input: [],
    output: [{ name: 'value', type: 'number', required: true, description: 'The value' }],
  }));
  const path = join(directory(), 'spec.json');
  writeFileSync(path, JSON.stringify(tools));
  return path;
}
