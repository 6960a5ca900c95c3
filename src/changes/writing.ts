import { isObject, type JsonObject } from 'market-mcp-contract/json';
import type { Imported } from '../import/model.ts';
import type { DefinitionChange } from '../model/model.ts';
import { metaOfWriting } from '../tools/meta.ts';

/** A tool that may change something, with the `_meta` that says so on platforms that know it. */
export function forWriting(tool: Imported, toolMeta: JsonObject | null): Imported {
  const { entry } = tool as { readonly entry: JsonObject };
  const given = isObject(entry._meta) ? entry._meta : {};
  const meta = metaOfWriting(given, toolMeta);
  if (meta === given) return tool;
  const added = Object.keys(meta).filter((name) => !Object.hasOwn(given, name));
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
