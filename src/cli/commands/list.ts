import { counted, type ExitCode, type Output, singleLine } from 'market-mcp-contract/command';
import { signals } from 'market-mcp-contract/definition';
import { isObject, type JsonObject, objectOr, requiredOf, typesOf } from 'market-mcp-contract/json';
import { planToolList } from '../../changes/plan-tool-list.ts';
import { driftOf, type ToolListDrift } from '../../project/manifest/listed.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import type { ToolFile } from '../../project/opened-project.ts';
import { openProject, toolsNamed } from '../../project/read/open.ts';
import { changeProject } from '../../project/write/change.ts';
import { showDrift } from '../tools/tool-drift.ts';

/**
 * `market-mcp list`: the tools, read from their sources without running the project.
 *
 * @param markListed records that the marketplace has read the present tools.
 */
export async function runList(output: Output, { markListed }: { markListed?: boolean }): Promise<ExitCode> {
  const directory = findProject(process.cwd());
  if (markListed) await changeProject(directory, async () => planToolList(await openProject(directory)));
  const project = await openProject(directory);
  const tools = project.tools.filter(({ isServed }) => isServed);
  const drift = driftOf(toolsNamed(tools), project.recordedList);
  const isListed = project.recordedList !== null;
  for (const tool of tools) showTool(tool, drift, isListed, output);
  output.line(`${counted(tools.length, 'tool')}, platform ${project.profile.name}`);
  for (const { path } of project.tools.filter(({ isServed }) => !isServed)) {
    output.note(`${path} exports a tool but is not in the list of tools; the next add-tool adds it`);
  }
  showDrift(drift, output);
  return output.result({
    directory,
    platform: project.profile.name,
    tools: tools.map((tool) => listEntry(tool, drift, isListed)),
    refresh: drift,
  });
}

function showTool(tool: ToolFile, drift: ToolListDrift, isListed: boolean, output: Output): void {
  const { name, file, state, description, inputs, outputs } = listEntry(tool, drift, isListed);
  const mark = state === 'listed' || state === 'unlisted' ? '' : `  (${state})`;
  output.line(`${output.style('bold', singleLine(name))}  ${output.style('dim', singleLine(file))}${mark}`);
  if (description !== null) output.line(`  ${singleLine(description)}`);
  if (inputs === null || outputs === null)
    output.line('  its definition is computed at run time: start the server to see it');
  else {
    output.line(`  in   ${memberList(inputs)}`);
    output.line(`  out  ${memberList(outputs.filter(({ name }) => !Object.hasOwn(signals, name)))}`);
  }
}

/** @param isListed whether the marketplace has read the tools of the project before */
function listEntry(
  { file, path, test, source: { name, definition } }: ToolFile,
  drift: ToolListDrift,
  isListed: boolean,
) {
  const toolName = name ?? file;
  let state = isListed ? 'listed' : 'unlisted';
  if (drift.added.includes(toolName)) state = 'new';
  else if (drift.changed.includes(toolName)) state = 'changed';
  return {
    name: toolName,
    file: path,
    test,
    state,
    description: definition?.description.split('\n')[0] ?? null,
    inputs: definition && fieldMembers(definition.inputSchema),
    outputs: definition && fieldMembers(definition.outputSchema),
  };
}

function memberList(members: readonly FieldMember[]): string {
  const words = members.map(
    ({ name, type, required }) => `${singleLine(name)}${required ? '' : '?'}:${type}`,
  );
  return words.length === 0 ? 'nothing' : words.join(', ');
}

/** A parameter, or a field of the answer. */
interface FieldMember {
  readonly name: string;
  /** `string`, `number|null`, `object[]` */
  readonly type: string;
  readonly required: boolean;
  readonly description: string | null;
}

/** The properties of an object schema, without their members. */
function fieldMembers(root: JsonObject): readonly FieldMember[] {
  return Object.entries(objectOr(root.properties)).map(([name, property]) => {
    const schema = objectOr(property);
    const { description } = schema;
    return {
      name,
      type: schemaTypeText(schema),
      required: requiredOf(root).includes(name),
      description: typeof description === 'string' ? description : null,
    };
  });
}

function schemaTypeText(schema: JsonObject): string {
  const types = typesOf(schema).map((type) => {
    if (type !== 'array' || !isObject(schema.items)) return String(type);
    return `${schemaTypeText(schema.items)}[]`;
  });
  return types.length === 0 ? 'any' : types.join('|');
}
