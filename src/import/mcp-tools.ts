import { hasUrlSecret } from 'market-mcp-contract/command';
import { onlyReads } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject, shorten, textOr } from 'market-mcp-contract/json';
import { isMap } from '../fixes/definitions.ts';
import type { DefinitionChange } from '../model/tool-model.ts';
import { textChange, withTextOutput } from '../tools/selection.ts';
import { apiName } from './api-name.ts';
import type { Api, ApiCall, ApiVariable, ImportedTool } from './imported-tool.ts';
import { plainText } from './openapi/document-text.ts';
import { toolToDo } from './to-do.ts';

/** An MCP server and the tools that it lists. */
export interface ListedServer {
  readonly url: string;
  /** The server's own title. */
  readonly title: string;
  readonly tools: readonly JsonObject[];
  /** The version of MCP without sessions; absent if the server has sessions. */
  readonly protocolVersion?: string;
}

/** Returns whether a tool runs only as a task, which no call of the marketplace starts (MCP 2025-11-25, `execution.taskSupport`). */
export function runsOnlyAsTask({ execution }: JsonObject): boolean {
  return isObject(execution) && execution.taskSupport === 'required';
}

/** The names of a server's tools that may change something. */
export function writingTools(tools: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(tools.filter((tool) => !onlyReads(tool)).map(({ name }) => textOr(name)));
}

/**
 * Tools that forward each call to the MCP server that lists them. The server's descriptions are untrusted:
 * they become data of the definitions and nothing else. Icons and `_meta` are dropped.
 */
export function toolsOfServer(server: ListedServer): readonly ImportedTool[] {
  const api = apiOf(server);
  const secrets = hasUrlSecret(server.url)
    ? new Map([[api.address.name, new URL(server.url).href]])
    : undefined;
  return server.tools.map((tool) => {
    const importedTool = forwardedTool(tool, api);
    return secrets ? { ...importedTool, secrets } : importedTool;
  });
}

function forwardedTool(tool: ListedServer['tools'][number], api: Api): ImportedTool {
  const { name, title: displayName, description, inputSchema, outputSchema, annotations } = tool;
  const hasOutput = isObject(outputSchema);
  const entry: { [member: string]: Json } = {};
  if (name !== undefined) entry.name = name;
  if (typeof displayName === 'string') entry.title = displayName;
  entry.description = isDescribed(description) ? description : toolToDo;
  entry.inputSchema = inputSchema ?? { type: 'object' };
  if (hasOutput) entry.outputSchema = outputSchema;
  // A hint that is absent means a tool that writes (MCP), so a name that says nothing must not become a read.
  entry.annotations = { readOnlyHint: onlyReads(tool), ...(isObject(annotations) && annotations) };
  const call: Omit<ApiCall, 'wrap'> = {
    api,
    method: 'call',
    path: `/${textOr(name)}`,
    params: [],
    query: [],
    headers: [],
    body: { kind: 'json', content: { members: [] } },
    notFoundIsEmpty: false,
  };
  if (hasOutput) {
    const wrap = isMap(outputSchema) ? 'result' : null;
    return { entry, sampleAnswers: [], changes: [], call: { ...call, wrap } };
  }
  const changes = [textChange(textOr(name), 'the server'), ...mediaChanges(tool)];
  return { entry: withTextOutput(entry), sampleAnswers: [], changes, call: { ...call, wrap: 'text' } };
}

/** The import goes on without a description: the rule tool.to-do reports what stands for it. */
function isDescribed(description: Json | undefined): description is string {
  return typeof description === 'string' && description.trim() !== '';
}

const media =
  /(?<![a-z])(image|screenshot|picture|photo|thumbnail|chart|diagram|audio|speech|video|pdf)s?(?![a-z])/i;

/** A list of tools does not say what content they return, but names and descriptions may. */
function mediaChanges({ name, description }: JsonObject): readonly DefinitionChange[] {
  const [word] = media.exec(`${name} ${description ?? ''}`) ?? [];
  if (word === undefined) return [];
  const reason = `it speaks of ${shorten(word)}, and the result is a text`;
  return [
    {
      tool: textOr(name),
      path: 'outputSchema',
      what: 'an answer that is not text ends in SOURCE_NOT_TEXT',
      why: reason,
    },
  ];
}

function apiOf({ url, title: serverTitle, protocolVersion }: ListedServer): Api {
  const title = plainText(serverTitle, 80) || 'The MCP server';
  const { file, prefix } = apiName(url, title);
  const text = `Token for ${title}, if it asks for one`;
  const token = { name: `${prefix}_TOKEN`, kind: 'secret', text, optional: true } as const;
  return {
    file,
    title,
    kind: 'mcp',
    ...(protocolVersion !== undefined && { protocolVersion }),
    address: endpointVariable(`${prefix}_URL`, title, url),
    sharedKeys: [{ key: 'token', in: 'headers', name: 'authorization', kind: 'bearer', variables: [token] }],
  };
}

/** The variable of an endpoint. A URL with a secret is a secret as a whole, so the project contains no default. */
function endpointVariable(name: string, title: string, url: string): ApiVariable {
  const text = `MCP endpoint of ${title}`;
  if (hasUrlSecret(url)) return { name, kind: 'secret', text };
  return { name, kind: 'url', text, fallback: url };
}
