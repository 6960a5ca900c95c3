import type { Json, ToolDefinition } from '../contract/model.ts';
import { sha256 } from './hash.ts';

/** Fingerprint of each tool, by name, as the marketplace last read it (C§3.2). */
export type Listed = { readonly [tool: string]: string };

/** How the tools differ from those that the marketplace last read; names in order. */
export interface Drift {
  /** The marketplace offers other tools than the server does, until "Refresh Skills" is pressed (C§9.3). */
  readonly refreshNeeded: boolean;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** A tool as far as its source can be read: its name, and its definition where all of it is written out. */
export interface NamedTool {
  readonly name: string;
  readonly definition: ToolDefinition | null;
}

/** The fingerprints of tools. What cannot be read off a source has none and counts as unchanged. */
export function listedOf(tools: readonly NamedTool[]): Listed {
  return Object.fromEntries(
    tools
      .map(({ name, definition }) => [name, definition ? fingerprint(definition) : ''] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** How tools differ from those that the marketplace last read; in nothing where it has read none yet. */
export function driftOf(tools: readonly NamedTool[], listed: Listed | null): Drift {
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
