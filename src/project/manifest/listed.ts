import { lstatSync } from 'node:fs';
import { unwrap } from 'market-mcp-contract/command';
import type { ToolDefinition } from 'market-mcp-contract/definition';
import { readableToolsByName, readToolList } from 'market-mcp-contract/document';
import { type Json, type JsonObject, objectOr } from 'market-mcp-contract/json';
import type { ProjectFile } from '../../plan/planned-file.ts';
import { decodeText, sha256 } from '../read/file-text.ts';
import { readIn, resolveInside } from '../read/resolve-inside.ts';

/**
 * The file of a project with the tool list that the marketplace last read (C§3.2), as the result of tools/list:
 * `{"tools": […]}`. The author commits it.
 */
export const listingFile = 'listing.json';

/** The fingerprint of each tool, by name: the record in the manifest of projects of 0.4.0 and before. */
export type Fingerprints = { readonly [tool: string]: string };

/** A recorded tool list. */
export interface RecordedList {
  /** The file in the project that records it. */
  readonly file: string;
  /** Elements of tools/list. A tool of which only the fingerprint is recorded is `{ name, fingerprint }`. */
  readonly tools: readonly Json[];
}

/** The differences between the tools and the recorded list; names in order. */
export interface ToolListDrift {
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

/**
 * The tool list in `listing.json`; null if there is no such file. A link is not followed, because it may have come with the project.
 *
 * @throws CommandError `INVALID_INPUT` if the file contains no tool list
 */
export function listInFile(directory: string): RecordedList | null {
  if (!lstatSync(resolveInside(directory, listingFile), { throwIfNoEntry: false })?.isFile()) return null;
  const tools = unwrap(readToolList(decodeText(readIn(directory, listingFile)), listingFile));
  return { file: listingFile, tools };
}

/** The fingerprints in a manifest as a tool list; null if it has none. */
export function listOfFingerprints(
  file: string,
  fingerprints: Fingerprints | null = null,
): RecordedList | null {
  if (fingerprints === null) return null;
  return { file, tools: Object.entries(fingerprints).map(([name, fingerprint]) => ({ name, fingerprint })) };
}

/** The file that records a tool list. */
export function listingContent(tools: readonly Json[]): ProjectFile {
  const content = new TextEncoder().encode(`${JSON.stringify({ tools }, null, 2)}\n`);
  return { content, owner: 'yours' };
}

/**
 * A recorded list in which the current definition replaces each fingerprint that is equal to its fingerprint. A fingerprint
 * of a definition that could not be read when it was recorded is empty; it equals every definition.
 *
 * @param current the readable tools of the server or of the sources
 */
export function withDefinitions(recorded: readonly Json[], current: readonly Json[]): readonly Json[] {
  const currentTools = readableToolsByName(current);
  return recorded.map((element) => {
    const { name, fingerprint } = objectOr(element);
    const tool = currentTools.get(String(name));
    const isUnchanged = tool && typeof fingerprint === 'string' && !hasToolChanged({ fingerprint }, tool);
    return isUnchanged ? tool : element;
  });
}

/** The differences between tools and the recorded list; none if no list was recorded. */
export function driftOf(tools: readonly DefinedTool[], recorded: RecordedList | null): ToolListDrift {
  if (recorded === null) return { refreshNeeded: false, added: [], changed: [], removed: [] };
  const recordedTools = readableToolsByName(recorded.tools);
  const definitions = new Map(tools.map(({ name, definition }) => [name, definition]));
  const names = [...definitions.keys()].sort();
  const added = names.filter((name) => !recordedTools.has(name));
  const changed = names.filter((name) => {
    const [recordedTool, definition] = [recordedTools.get(name), definitions.get(name)];
    return recordedTool && definition && hasToolChanged(recordedTool, { ...definition });
  });
  const removed = [...recordedTools.keys()].filter((name) => !definitions.has(name)).sort();
  return { refreshNeeded: added.length + changed.length + removed.length > 0, added, changed, removed };
}

function hasToolChanged(recorded: JsonObject, current: JsonObject): boolean {
  if (typeof recorded.fingerprint !== 'string') return fingerprint(recorded) !== fingerprint(current);
  return recorded.fingerprint !== '' && recorded.fingerprint !== fingerprint(current);
}

/** SHA-256 of a definition; the order of members does not count. */
export function fingerprint(definition: JsonObject): string {
  return sha256(JSON.stringify(sortKeys(definition)));
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
