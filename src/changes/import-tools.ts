import { pass, type Result } from 'market-mcp-contract/command';
import { effects, onlyReads } from 'market-mcp-contract/definition';
import { isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { type ImportedTool, toImportedTool } from '../import/imported-tool.ts';
import type { DefinitionChange, ToolSpec } from '../model/tool-model.ts';
import type { ManifestAnswers } from '../project/manifest/manifest.ts';
import type { FieldAnswers, SampleAnswers, SpecAnswers, ToolAnswers } from '../questions/tool-answers.ts';
import { defaultDescription } from '../questions/tool-defaults.ts';
import { definitionOf } from '../tools/definition.ts';
import { metaForWrites, metaFromSettings } from '../tools/meta-settings.ts';
import { selectTools } from '../tools/selection.ts';
import type { ImportRun } from './import-run.ts';

/**
 * Imports the tools that an author wants, as `prepareTools` takes them.
 *
 * @param earlierChoices the fields that were chosen earlier, by tool; a new choice for a tool replaces them
 */
export async function importTools(
  toolAnswers: ToolAnswers,
  profile: PlatformProfile,
  run: ImportRun,
  earlierChoices: ManifestAnswers['fields'] = {},
): Promise<Result<readonly ImportedTool[]>> {
  if (toolAnswers.kind === 'fields' || toolAnswers.kind === 'spec')
    return importWholeTools(toolAnswers, profile, run);
  const { fields, description } = toolAnswers;
  const earlierFields = Object.entries(earlierChoices).map(([tool, paths]) => `${tool}:${paths.join(',')}`);
  const toolAnswersWithEarlierFields = { ...toolAnswers, fields: [...fields, ...earlierFields] };
  const importedTools = await importWholeTools(toolAnswersWithEarlierFields, profile, run);
  if (!importedTools.ok) return importedTools;
  const { withFields } = await import('../import/answer-fields.ts');
  const { withDescriptions } = await import('../import/tool-prefix.ts');
  const statedTools = importedTools.value.map((tool) => {
    const entry = { ...tool.entry, ...statedMembers(toolAnswers, profile) };
    return withMetaForWrites({ ...tool, entry }, profile);
  });
  const describedTools = withDescriptions(statedTools, description);
  if (!describedTools.ok) return describedTools;
  const keptFields = fieldsWithoutNewChoice(earlierFields, fields, importedTools.value);
  return withFields(describedTools.value, [...fields, ...keptFields]);
}

/** The earlier choices for tools for which the author makes no new choice. */
function fieldsWithoutNewChoice(
  earlierFields: readonly string[],
  newFields: readonly string[],
  tools: readonly ImportedTool[],
): readonly string[] {
  const isOnlyTool = tools.length === 1;
  const prefixes = tools
    .map(({ entry }) => `${entry.name}:`)
    .filter((prefix) => !newFields.some((text) => isOnlyTool || text.startsWith(prefix)));
  return earlierFields.filter((text) => prefixes.some((prefix) => text.startsWith(prefix)));
}

/** Imports tools without applying `--fields`. For OpenAPI, `fields` still decides how deep the document is read. */
export async function importWholeTools(
  toolAnswers: ToolAnswers,
  profile: PlatformProfile,
  run: ImportRun,
): Promise<Result<readonly ImportedTool[]>> {
  switch (toolAnswers.kind) {
    case 'fields':
      return pass([
        toImportedTool({
          ...definitionOf(specOfFields(toolAnswers)),
          ...statedMembers(toolAnswers, profile),
        }),
      ]);
    case 'sample':
      return toolFromSamples(toolAnswers);
    case 'request':
      return (await import('./request-tools.ts')).toolsFromRequests(toolAnswers, run);
    case 'openapi':
      return (await import('./openapi.ts')).toolsFromOpenApi(toolAnswers, run);
    case 'url':
      return (await import('./server-tools.ts')).toolsFromServer(toolAnswers, run);
    case 'spec':
      return toolsFromSpec(toolAnswers);
  }
}

/** The tool that its author describes. */
function specOfFields({ tool, description, input, output, returns }: FieldAnswers): ToolSpec {
  return { name: tool, description: description.join('\n'), input, output, returns };
}

/** The members of a definition that the author states for tools of any source. */
function statedMembers({ title, effect, meta }: ToolAnswers, { toolMeta }: PlatformProfile): JsonObject {
  const members: { [member: string]: Json } = {};
  if (title !== undefined) members.title = title;
  if (effect !== undefined) members.annotations = effects[effect];
  if (meta.length > 0) members._meta = metaFromSettings(meta, toolMeta);
  return members;
}

async function toolsFromSpec({ path, selection }: SpecAnswers): Promise<Result<readonly ImportedTool[]>> {
  const { readInput } = await import('market-mcp-contract/command');
  const { readSpec } = await import('../tools/read-spec.ts');
  const entries = readSpec(await readInput(path), path === '-' ? '--spec' : path);
  if (!entries.ok) return entries;
  const selected = selectTools(entries.value, selection);
  if (!selected.ok) return selected;
  const [first, ...otherTools] = selected.value.entries.map(toImportedTool);
  return pass(first ? [{ ...first, changes: selected.value.changes }, ...otherTools] : []);
}

/** A tool that calls its source and may change something, with the `_meta` that keeps a platform from calling it to answer a question. */
function withMetaForWrites(tool: ImportedTool, { toolMeta }: PlatformProfile): ImportedTool {
  const { entry } = tool as { readonly entry: JsonObject };
  if (!tool.call || onlyReads(entry)) return tool;
  const statedMeta = isObject(entry._meta) ? entry._meta : {};
  const meta = metaForWrites(statedMeta, toolMeta);
  if (meta === statedMeta) return tool;
  const added = Object.keys(meta).filter((name) => !Object.hasOwn(statedMeta, name));
  const executionHint =
    meta.surface === 'execute'
      ? ''
      : '; to offer it for execution, add a price, pricing.executeUsd, and surface: execute';
  const changes = added.map(
    (name): DefinitionChange => ({
      tool: String(entry.name),
      path: `_meta.${name}`,
      what: `became ${JSON.stringify(meta[name])}`,
      why: `the tool may change something, so no platform should call it to answer a question${executionHint}`,
    }),
  );
  return { ...tool, entry: { ...entry, _meta: meta }, changes: [...tool.changes, ...changes] };
}

/** The values of the keys of all tools, by variable. */
export function secretsOf(importedTools: readonly ImportedTool[]): ReadonlyMap<string, string> {
  return new Map(importedTools.flatMap(({ secrets = [] }) => [...secrets]));
}

async function toolFromSamples({ paths, tool: name, input }: SampleAnswers) {
  const { readSamples } = await import('./send-requests.ts');
  const { toolOfSamples } = await import('../import/sample.ts');
  const samples = await readSamples(paths);
  if (!samples.ok) return samples;
  const tool = toolOfSamples(samples.value, { name, input }, (fields, returns) =>
    defaultDescription(name, fields, returns),
  );
  return tool.ok ? pass([tool.value]) : tool;
}
