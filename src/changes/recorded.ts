import type { JsonObject } from 'market-mcp-contract/json';
import type { ProjectFile } from '../plan/model.ts';
import { driftOf, type FingerprintDrift } from '../project/manifest/listed.ts';
import { type ManifestFile, withNextManifest } from '../project/manifest/manifest.ts';
import type { Project } from '../project/model.ts';
import { isAsWritten } from '../project/read/files.ts';
import { readIn } from '../project/read/inside.ts';
import { toolsNamed } from '../project/read/open.ts';
import { bytesOf, textOf } from '../project/read/text.ts';
import type { ProjectChange } from '../project/write/transaction.ts';
import { literal, property } from '../render/literal.ts';
import { readToolSource, withOutputSchema } from '../typescript/tool-source.ts';

/** What recorded answers change: nothing is written yet. */
export interface Proposal {
  /** Null if no file can be changed. */
  readonly change: ProjectChange | null;
  readonly drift: FingerprintDrift;
  /** The tools whose file is changed. */
  readonly tools: readonly string[];
  /** The tools whose outputSchema is not a literal, with the schema that their author may write. */
  readonly byHand: readonly { readonly tool: string; readonly path: string; readonly schema: JsonObject }[];
}

const print = { value: literal, member: property };

/**
 * Plans other outputSchemas of tools. Of their files, only the parts of the schemas that differ are changed.
 *
 * @param schemas by the name of the tool
 */
export function planSchemas(project: Project, schemas: ReadonlyMap<string, JsonObject>): Proposal {
  const { directory, manifest, tools } = project;
  const files = new Map<string, ProjectFile>();
  const records: { [path: string]: ManifestFile | undefined } = {};
  const changed: string[] = [];
  const byHand: { tool: string; path: string; schema: JsonObject }[] = [];
  const now = tools.map((tool) => {
    const { path, source } = tool;
    const schema = source.name === null ? undefined : schemas.get(source.name);
    if (source.name === null || !schema) return tool;
    const content = readIn(directory, path);
    const before = textOf(content);
    const after = withOutputSchema(before, schema, print);
    if (after === undefined) {
      byHand.push({ tool: source.name, path, schema });
      return tool;
    }
    changed.push(source.name);
    files.set(path, { content: bytesOf(after), owner: 'yours' });
    const record = manifest.files[path];
    if (!isAsWritten(content, record?.sha256)) records[path] = record;
    return { ...tool, source: readToolSource(after) };
  });
  const drift = driftOf(toolsNamed(now), manifest.listed);
  if (files.size === 0) return { change: null, drift, tools: changed, byHand };
  const written = withNextManifest(files, [], {}, manifest, records);
  return { change: { files: written, removed: [] }, drift, tools: changed, byHand };
}
