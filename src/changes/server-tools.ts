import { pass, type Result, refuse, reject, shellLine } from 'market-mcp-contract/command';
import { textOr } from 'market-mcp-contract/json';
import type { ImportedTool } from '../import/imported-tool.ts';
import { type ListedServer, runsOnlyAsTask, toolsOfServer, writingTools } from '../import/mcp-tools.ts';
import type { DefinitionChange, SpecEntry } from '../model/tool-model.ts';
import { listServer, TokenRefusal } from '../project/source/mcp-server.ts';
import type { KeyAccess, ServerAnswers } from '../questions/tool-answers.ts';
import { selectTools } from '../tools/selection.ts';
import type { ImportRun } from './import-run.ts';
import { findKeyValues, type RequestKeys, unusedVariables } from './key-values.ts';

export const tokenVariable = 'MCP_SOURCE_TOKEN';

/**
 * Returns the tools of a running MCP server. Each server is read once per run.
 *
 * @throws the errors of `listServer`; its `TokenRefusal` names the variable that may not be sent yet
 */
export async function mcpServerAt(url: string, access: KeyAccess, run: ImportRun): Promise<ListedServer> {
  const server = run.servers.get(url) ?? (await readServer(url, access, run));
  run.servers.set(url, server);
  return server;
}

async function readServer(url: string, access: KeyAccess, run: ImportRun): Promise<ListedServer> {
  const { origin, secrets, unpermitted } = await findKeyValues(serverKeys(url), access, run);
  try {
    return await listServer(url, secrets.get(tokenVariable));
  } catch (error) {
    if (!(error instanceof TokenRefusal) || unpermitted.length === 0) throw error;
    const reason = `it asks for a token, and nobody allowed to send ${tokenVariable} of your environment`;
    throw new TokenRefusal(origin, reason, `Add --env ${tokenVariable} to allow it.`);
  }
}

/** The token that the server may ask for. */
export function serverKeys(url: string): RequestKeys {
  return { origin: new URL(url).origin, sources: new Map([[tokenVariable, { variable: tokenVariable }]]) };
}

const asTask = 'runs only as a task, which a call of the marketplace does not start';

function taskChange(tool: string): DefinitionChange {
  return { tool, path: 'tools', what: 'is not imported', why: `it ${asTask}` };
}

/** The chosen tools of a running MCP server. Tools that may change something are imported only if they are named. */
export async function toolsFromServer(
  answers: ServerAnswers,
  run: ImportRun,
): Promise<Result<readonly ImportedTool[]>> {
  const { url, selection } = answers;
  const { only = [] } = selection;
  const unused = unusedVariables(answers.env, [serverKeys(url)]);
  if (unused.length > 0) return refuse(...unused);
  const listed = await mcpServerAt(url, answers, run);
  const taskTools = listed.tools.filter(runsOnlyAsTask).map(({ name }) => textOr(name));
  const taskTool = taskTools.find((name) => only.includes(name));
  if (taskTool !== undefined) return reject('--only', taskTool, asTask, 'Name another tool.');
  const server = { ...listed, tools: listed.tools.filter((tool) => !runsOnlyAsTask(tool)) };
  if (server.tools.length === 0 && taskTools.length > 0)
    return reject('--from-url', url, `has no tool to import: each ${asTask}`, 'Name another server.');
  const imported = toolsOfServer(server);
  const selected = selectTools(
    imported.map(({ entry }) => entry),
    selection,
  );
  if (!selected.ok) return selected;
  const writing = writingTools(server.tools);
  const isExcluded = ({ name }: SpecEntry) => only.length === 0 && writing.has(textOr(name));
  const exclusions = selected.value.entries.filter(isExcluded).map(
    ({ name }): DefinitionChange => ({
      tool: textOr(name),
      path: 'tools',
      what: 'is not imported',
      why: `it may change something: to import it, name it with ${shellLine(['--only', textOr(name)])}`,
    }),
  );
  const names = new Map(imported.map((tool) => [tool.entry.name, tool]));
  const selectedTools = selected.value.entries
    .filter((entry) => !isExcluded(entry))
    .flatMap((entry): ImportedTool[] => {
      const importedTool = names.get(entry.name);
      if (importedTool) return [{ ...importedTool, entry }];
      return [];
    });
  const [first, ...otherTools] = selectedTools;
  if (!first) {
    const hint = `Name those that you want: ${shellLine(['--only', [...writing][0] ?? ''])}`;
    return reject('--from-url', url, 'each of its tools may change something', hint);
  }
  const changes = [...taskTools.map(taskChange), ...exclusions, ...selected.value.changes, ...first.changes];
  return pass([{ ...first, changes }, ...otherTools]);
}
