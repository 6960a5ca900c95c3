import type { ToolDefinition } from 'market-mcp-contract/definition';
import type { Json } from 'market-mcp-contract/json';
import { sha256 } from '../read/text.ts';

/** Fingerprint of each tool, by name, as the marketplace last read it (C§3.2). */
export type Listed = { readonly [tool: string]: string };

/** The differences between the tools and the last listing; names in order. */
export interface FingerprintDrift {
  /** Whether the marketplace offers other tools than the server, until "Refresh Skills" is pressed (C§9.3). */
  readonly refreshNeeded: boolean;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What the source of a tool reveals: its name, and its definition if all of it is literal. */
export interface DefinedTool {
  readonly name: string;
  readonly definition: ToolDefinition | null;
}

/** The fingerprints of tools. A definition that cannot be read from its source has none and counts as unchanged. */
export function listedOf(tools: readonly DefinedTool[]): Listed {
  return Object.fromEntries(
    tools
      .map(({ name, definition }) => [name, definition ? fingerprint(definition) : ''] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The differences between tools and the last listing; none if there was no listing. */
export function driftOf(tools: readonly DefinedTool[], listed: Listed | null): FingerprintDrift {
  if (listed === null) return { refreshNeeded: false, added: [], changed: [], removed: [] };
  const now = listedOf(tools);
  const names = Object.keys(now);
  const added = names.filter((name) => !Object.hasOwn(listed, name));
  const changed = names.filter(
    (name) =>
      Object.hasOwn(listed, name) && now[name] !== '' && listed[name] !== '' && now[name] !== listed[name],
  );
  const removed = Object.keys(listed)
    .filter((name) => !Object.hasOwn(now, name))
    .sort();
  return { refreshNeeded: added.length + changed.length + removed.length > 0, added, changed, removed };
}

/** SHA-256 of a definition; the order of members does not count. */
export function fingerprint(definition: ToolDefinition): string {
  return sha256(JSON.stringify(sorted({ ...definition })));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
