import { lstatSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import type { ToolDefinition } from 'market-mcp-contract/definition';
import type { Json } from 'market-mcp-contract/json';
import {
  changeOf,
  type Drift,
  driftFrom,
  type ListingChange,
  listingIn,
  type PreviousListing,
  toolsByName,
} from 'market-mcp-contract/report';
import { driftOf, type Listed } from '../project/manifest/listed.ts';
import { manifestFile, readManifest } from '../project/manifest/manifest.ts';

/** The path of a project's file with the listing of the marketplace, relative to the working directory. */
export function listingFile(directory: string): string {
  return fromHere(join(directory, 'listing.json'));
}

/**
 * What a project has recorded of its listing: the list itself or its fingerprints.
 *
 * @throws CommandError `INVALID_INPUT`, `NOT_READABLE`, `MANIFEST_DAMAGED`.
 */
export async function previousListing(directory: string): Promise<PreviousListing | undefined> {
  const file = listingFile(directory);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) return listingIn(file);
  return fingerprintsIn(directory);
}

function fingerprintsIn(directory: string): PreviousListing | undefined {
  const { listed } = readManifest(directory);
  if (listed === null) return undefined;
  const file = fromHere(join(directory, manifestFile));
  return { file, changesTo: (tools) => changesSince(listed, tools) };
}

/** The listing in a file, which may be the manifest of a project. @throws as `previousListing` */
export async function listingAt(file: string): Promise<PreviousListing> {
  if (basename(file) !== manifestFile) return listingIn(file);
  const found = fingerprintsIn(dirname(file));
  const hint = 'Record the list with market-mcp list --mark-listed, or save one with --save-listing.';
  if (!found) throw new CommandError('NOT_READABLE', `${file} records no list of tools`, hint);
  return found;
}

/**
 * What has changed since a project recorded its listing; undefined if it has recorded none.
 *
 * @param tools elements of a tools/list result
 * @throws as `previousListing`
 */
export async function recordedDrift(directory: string, tools: readonly Json[]): Promise<Drift | undefined> {
  const previous = await previousListing(directory);
  return previous && driftFrom(previous, tools);
}

function fromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/**
 * The tools that have changed since a project recorded their fingerprints, without the details.
 *
 * @param tools elements of a tools/list result.
 */
export function changesSince(listed: Listed, tools: readonly Json[]): readonly ListingChange[] {
  const definitions = [...toolsByName(tools)].map(([name, tool]) => ({
    name,
    definition: { ...tool } as unknown as ToolDefinition,
  }));
  const { added, changed, removed } = driftOf(definitions, listed);
  return [
    ...removed.map((tool) => changeOf('tool.gone', tool)),
    ...changed.map((tool) => changeOf('tool.fingerprint', tool)),
    ...added.map((tool) => changeOf('tool.new', tool)),
  ];
}
