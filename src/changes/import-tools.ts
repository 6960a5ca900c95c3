import { pass, type Result } from 'market-mcp-contract/command';
import { effects, onlyReads } from 'market-mcp-contract/definition';
import { isObject, type JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { asImported, type Imported } from '../import/imported-tool.ts';
import type { DefinitionChange, ToolSpec } from '../model/tool-model.ts';
import type { ManifestAnswers } from '../project/manifest/manifest.ts';
import { defaultDescription } from '../questions/defaults.ts';
import type { FieldAnswers, SampleAnswers, SpecAnswers, ToolAnswers } from '../questions/tool-answers.ts';
import { definitionOf } from '../tools/definition.ts';
import { metaFromSettings, metaOfWriting } from '../tools/meta-settings.ts';
import { selectTools } from '../tools/selection.ts';
import type { ImportRun } from './import-run.ts';

/**
 * The tools that an author wants, as `prepareTools` takes them.
 *
 * @param recorded the fields that were chosen earlier, by tool; a new choice for a tool replaces them
 */
export async function importTools(
  answers: ToolAnswers,
  profile: PlatformProfile,
  run: ImportRun,
  recorded: ManifestAnswers['fields'] = {},
): Promise<Result<readonly Imported[]>> {
  if (answers.kind === 'fields' || answers.kind === 'spec') return wholeEntriesOf(answers, profile, run);
  const { fields, description } = answers;
  const recordedFields = Object.entries(recorded).map(([tool, paths]) => `${tool}:${paths.join(',')}`);
  const importedTools = await wholeEntriesOf(
    { ...answers, fields: [...fields, ...recordedFields] },
    profile,
    run,
  );
  if (!importedTools.ok) return importedTools;
  const isOne = importedTools.value.length === 1;
  const withoutNewChoice = importedTools.value
    .map(({ entry }) => `${entry.name}:`)
    .filter((name) => !fields.some((text) => isOne || text.startsWith(name)));
  const keptFields = recordedFields.filter((text) => withoutNewChoice.some((name) => text.startsWith(name)));
  const { withFields } = await import('../import/fields.ts');
  const { withDescriptions } = await import('../import/tool-prefix.ts');
  const statedMembers = statementMembers(answers, profile);
  const described = withDescriptions(
    importedTools.value.map((tool) =>
      forWriting({ ...tool, entry: { ...tool.entry, ...statedMembers } }, profile),
    ),
    description,
  );
  if (described.ok) return withFields(described.value, [...fields, ...keptFields]);
  return described;
}

/** The tools with all fields of their answers; `importTools` reduces them. */
export async function wholeEntriesOf(
  answers: ToolAnswers,
  profile: PlatformProfile,
  run: ImportRun,
): Promise<Result<readonly Imported[]>> {
  switch (answers.kind) {
    case 'fields':
      return pass([
        asImported({ ...definitionOf(describedTool(answers)), ...statementMembers(answers, profile) }),
      ]);
    case 'sample':
      return fromSamples(answers);
    case 'request':
      return (await import('./request-tools.ts')).fromRequests(answers, run);
    case 'openapi':
      return (await import('./openapi.ts')).fromOpenApi(answers, run);
    case 'url':
      return (await import('./server-tools.ts')).fromServer(answers, run);
    case 'spec':
      return fromSpec(answers);
  }
}

/** The tool that complete answers describe. */
function describedTool({ tool, description, input, output, returns }: FieldAnswers): ToolSpec {
  return { name: tool, description: description.join('\n'), input, output, returns };
}

/** The members of a definition that the author states, whatever the tool is made from. */
function statementMembers({ title, effect, meta }: ToolAnswers, { toolMeta }: PlatformProfile): JsonObject {
  return {
    ...(title !== undefined && { title }),
    ...(effect !== undefined && { annotations: effects[effect] }),
    ...(meta.length > 0 && { _meta: metaFromSettings(meta, toolMeta) }),
  };
}

async function fromSpec({ path, selection }: SpecAnswers): Promise<Result<readonly Imported[]>> {
  const { readInput } = await import('market-mcp-contract/command');
  const { readSpec } = await import('../tools/read-spec.ts');
  const entries = readSpec(await readInput(path), path === '-' ? '--spec' : path);
  if (!entries.ok) return entries;
  const selected = selectTools(entries.value, selection);
  if (!selected.ok) return selected;
  const [first, ...otherTools] = selected.value.entries.map(asImported);
  return pass(first ? [{ ...first, changes: selected.value.changes }, ...otherTools] : []);
}

/** A tool that calls its source and may change something gets the `_meta` that states it on platforms that know it. */
function forWriting(tool: Imported, { toolMeta }: PlatformProfile): Imported {
  const { entry } = tool as { readonly entry: JsonObject };
  if (!tool.call || onlyReads(entry)) return tool;
  const statedMeta = isObject(entry._meta) ? entry._meta : {};
  const meta = metaOfWriting(statedMeta, toolMeta);
  if (meta === statedMeta) return tool;
  const added = Object.keys(meta).filter((name) => !Object.hasOwn(statedMeta, name));
  const offer =
    meta.surface === 'execute'
      ? ''
      : '; to offer it for execution, add a price, pricing.executeUsd, and surface: execute';
  const changes = added.map(
    (name): DefinitionChange => ({
      tool: String(entry.name),
      path: `_meta.${name}`,
      what: `became ${JSON.stringify(meta[name])}`,
      why: `the tool may change something, so no platform should call it to answer a question${offer}`,
    }),
  );
  return { ...tool, entry: { ...entry, _meta: meta }, changes: [...tool.changes, ...changes] };
}

/** The values of the keys of tools that were made from requests. */
export function secretsOf(entries: readonly Imported[]): ReadonlyMap<string, string> {
  return new Map(entries.flatMap(({ secrets = [] }) => [...secrets]));
}

async function fromSamples({ paths, tool: name, input }: SampleAnswers) {
  const { samplesAt } = await import('./send-requests.ts');
  const { toolOfSamples } = await import('../import/sample.ts');
  const samples = await samplesAt(paths);
  if (!samples.ok) return samples;
  const tool = toolOfSamples(samples.value, { name, input }, (fields, returns) =>
    defaultDescription(name, fields, returns),
  );
  return tool.ok ? pass([tool.value]) : tool;
}
