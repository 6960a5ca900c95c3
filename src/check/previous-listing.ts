import { basename, dirname, join, relative } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import type { Json } from 'market-mcp-contract/json';
import {
  changesBetween,
  type Drift,
  driftFrom,
  listingIn,
  type PreviousListing,
} from 'market-mcp-contract/report';
import { listingFile, type RecordedList, withDefinitions } from '../project/manifest/listed.ts';
import { manifestFile, readManifest, recordedList } from '../project/manifest/manifest.ts';

/** The path of a project's file with the recorded tool list, relative to the working directory. */
export function listingPath(directory: string): string {
  return fromHere(join(directory, listingFile));
}

/**
 * The tool list that a project has recorded; undefined if it has recorded none.
 *
 * @throws CommandError `INVALID_INPUT`, `MANIFEST_DAMAGED`.
 */
export function previousListing(directory: string): PreviousListing | undefined {
  const list = recordedList(directory, readManifest(directory));
  if (list === null) return undefined;
  return comparedWith(directory, list);
}

/** The tool list in a file. A manifest stands for the list that its project has recorded. @throws as `listingIn` and `previousListing` */
export async function listingAt(file: string): Promise<PreviousListing> {
  if (basename(file) !== manifestFile) return listingIn(file);
  const previous = previousListing(dirname(file));
  if (previous) return previous;
  const hint = 'Record the list with market-mcp list --mark-listed, or save one with --save-listing.';
  throw new CommandError('NOT_READABLE', `the project of ${file} records no list of tools`, hint);
}

/**
 * What has changed since a project recorded its listing; undefined if it has recorded none.
 *
 * @param tools elements of a tools/list result
 * @throws as `previousListing`
 */
export function recordedDrift(directory: string, tools: readonly Json[]): Drift | undefined {
  const previous = previousListing(directory);
  return previous && driftFrom(previous, tools);
}

function comparedWith(directory: string, { file, tools: recorded }: RecordedList): PreviousListing {
  const changesTo: PreviousListing['changesTo'] = (tools) =>
    changesBetween(withDefinitions(recorded, tools), tools);
  return { file: fromHere(join(directory, file)), changesTo };
}

function fromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
