import { pass, type Result, reject, shellLine } from 'market-mcp-contract/command';
import { type ListedServer, toolsOfServer, writingTools } from '../import/mcp.ts';
import type { Imported } from '../import/model.ts';
import type { DefinitionChange, SpecEntry } from '../model/model.ts';
import { listServer } from '../project/source/mcp-server.ts';
import type { ToolAnswers } from '../questions/tool-answers.ts';
import { selectTools } from '../tools/selection.ts';

const known = new Map<string, ListedServer>();

/** The tools of a running MCP server. Each server is read once per run. */
export async function mcpServerAt(url: string): Promise<ListedServer> {
  const listed = known.get(url) ?? (await listServer(url, process.env.MCP_SOURCE_TOKEN || undefined));
  known.set(url, listed);
  return listed;
}

/** The chosen tools of a running MCP server. Tools that write are left out unless they are named. */
export async function fromServer(answers: ToolAnswers): Promise<Result<readonly Imported[]>> {
  const { fromUrl = '', only = [] } = answers;
  const server = await mcpServerAt(fromUrl);
  const imported = toolsOfServer(server);
  const selected = selectTools(
    imported.map(({ entry }) => entry),
    answers,
  );
  if (!selected.ok) return selected;
  const writing = writingTools(server.tools);
  const isOff = ({ name }: SpecEntry) => only.length === 0 && writing.has(String(name));
  const off = selected.value.entries.filter(isOff).map(
    ({ name }): DefinitionChange => ({
      tool: String(name),
      path: 'tools',
      what: 'was left out',
      why: `it may change something: to import it, name it with ${shellLine(['--only', String(name)])}`,
    }),
  );
  const names = new Map(imported.map((one) => [one.entry.name, one]));
  const taken = selected.value.entries
    .filter((entry) => !isOff(entry))
    .flatMap((entry): Imported[] => {
      const one = names.get(entry.name);
      return one ? [{ ...one, entry }] : [];
    });
  const [first, ...others] = taken;
  if (!first) {
    const hint = `Name those that you want: ${shellLine(['--only', [...writing][0] ?? ''])}`;
    return reject('--from-url', fromUrl, 'each of its tools may change something', hint);
  }
  return pass([{ ...first, changes: [...off, ...selected.value.changes, ...first.changes] }, ...others]);
}
