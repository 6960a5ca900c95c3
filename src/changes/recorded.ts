import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from 'market-mcp-contract/json';
import { type SeenAnswer, seenIn } from '../import/schema-update.ts';
import type { ProjectFile } from '../plan/planned-file.ts';
import { driftOf, type ToolListDrift } from '../project/manifest/listed.ts';
import { withNextManifest } from '../project/manifest/manifest.ts';
import type { Project } from '../project/opened-project.ts';
import { recordsOfEdited } from '../project/read/edited-files.ts';
import { decodeText, encodeText } from '../project/read/file-text.ts';
import { toolsNamed } from '../project/read/open.ts';
import { readIn } from '../project/read/resolve-inside.ts';
import type { ProjectChange } from '../project/write/transaction.ts';
import { printLiteral, propertyText } from '../render/literal.ts';
import { type RequestChange, requestInSource, withRequestOptions } from '../typescript/request-source.ts';
import { readToolSource, withOutputSchema } from '../typescript/tool-source.ts';

/** What recorded answers change: nothing is written yet. */
export interface Proposal {
  /** Null if no file can be changed. */
  readonly change: ProjectChange | null;
  readonly drift: ToolListDrift;
  /** The tools whose file is changed. */
  readonly tools: readonly string[];
  /** The tools whose outputSchema or request is not a literal, with what their author may write. */
  readonly byHand: readonly ByHand[];
}

interface ByHand {
  readonly tool: string;
  readonly path: string;
  readonly schema: JsonObject;
  /** Other options of the request. */
  readonly request?: RequestChange | undefined;
}

/** A tool as its compiled code declares it, and the answers of its source. */
export interface RecordedTool {
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly answers: readonly SeenAnswer[];
}

const print = { value: printLiteral, member: propertyText };

/**
 * Plans the outputSchemas that admit recorded answers. Only the differing parts of the tools' files are changed.
 *
 * @param recorded by the name of the tool
 */
export function planSchemas(project: Project, recorded: ReadonlyMap<string, RecordedTool>): Proposal {
  const { directory, manifest, tools } = project;
  const files = new Map<string, ProjectFile>();
  const changed: string[] = [];
  const byHand: ByHand[] = [];
  const currentTools = tools.map((tool) => {
    const { path, source } = tool;
    const newAnswers = source.name === null ? undefined : recorded.get(source.name);
    if (source.name === null || !newAnswers) return tool;
    const sourceChange = admitAnswers(decodeText(readIn(directory, path)), newAnswers);
    if (!sourceChange) return tool;
    const { schema, request, text } = sourceChange;
    if (text === undefined) {
      byHand.push({ tool: source.name, path, schema, request });
      return tool;
    }
    changed.push(source.name);
    files.set(path, { content: encodeText(text), owner: 'yours' });
    return { ...tool, source: readToolSource(text) };
  });
  const drift = driftOf(toolsNamed(currentTools), project.recordedList);
  if (files.size === 0) return { change: null, drift, tools: changed, byHand };
  const records = recordsOfEdited(directory, manifest, [...files.keys()]);
  const nextFiles = withNextManifest(files, [], {}, manifest, records);
  return { change: { files: nextFiles, removed: [] }, drift, tools: changed, byHand };
}

/** A change of a tool's source. */
interface SourceChange {
  readonly schema: JsonObject;
  readonly request: RequestChange | undefined;
  /** Undefined if the schema or the request is not a literal. */
  readonly text: string | undefined;
}

/** Changes the source of a tool so that it admits recorded answers; null if it admits them already. */
function admitAnswers(source: string, recorded: RecordedTool): SourceChange | null {
  const sourceRequest = requestInSource(source);
  const takesPages = sourceRequest?.method === 'get' && sourceRequest.asksByQuery && !sourceRequest.hasPages;
  const success = sourceRequest && sourceRequest.method !== 'call' ? sourceRequest.success : null;
  const about = { ...recorded, wrap: sourceRequest?.wrap, takesPages, success };
  const { schema, ...request } = seenIn(about, recorded.answers);
  const isSame = isDeepStrictEqual(schema, recorded.outputSchema);
  if (isSame && !request.success) return null;
  const typed = isSame ? source : withOutputSchema(source, schema, print);
  const text = typed && withRequestOptions(typed, request, print);
  const hasRequest = Object.keys(request).length > 0;
  return { schema, request: hasRequest ? request : undefined, text };
}
