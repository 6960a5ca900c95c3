import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { objectOr } from '../contract/json.ts';
import type { Json } from '../contract/model.ts';
import { unwrap } from '../model/command-error.ts';
import { pass, refuse, reject } from '../model/input-error.ts';
import type { Result } from '../model/model.ts';
import { manifestFile, readManifest } from '../project/manifest/manifest.ts';
import { readInput } from '../project/read/input.ts';
import { readDocument } from '../tools/read.ts';
import { changesBetween, changesSince } from './drift.ts';
import type { PreviousListing } from './examine.ts';
import { readMatching } from './examples.ts';
import type { KnownFailure } from './model.ts';
import { nameErrors } from './select.ts';
import type { Baseline } from './verdict.ts';

const baselineSchema = {
  type: 'object',
  properties: {
    known: {
      type: 'array',
      items: {
        type: 'object',
        properties: { rule: { type: 'string' }, tool: { type: 'string' } },
        required: ['rule'],
        additionalProperties: false,
      },
    },
  },
  required: ['known'],
  additionalProperties: false,
};

/** A baseline of known failures, JSON or YAML: `{"known": [{"rule": "input.sample", "tool": "get_price"}]}`. */
export async function readBaseline(file: string): Promise<Result<Baseline>> {
  const hint =
    'Write {"known": [{"rule": "input.sample", "tool": "get_price"}]}, or save one with --save-baseline.';
  const document = await readMatching(file, baselineSchema, hint);
  if (!document.ok) return document;
  const { known } = document.value as unknown as { known: readonly KnownFailure[] };
  const errors = known.flatMap(({ rule }, index) => nameErrors(`${file}.known[${index}].rule`, rule));
  return errors.length > 0 ? refuse(...errors) : pass({ file, known });
}

/** The path of a project's file with the listing of the marketplace, relative to the working directory. */
export function listingFile(directory: string): string {
  return fromHere(join(directory, 'listing.json'));
}

/**
 * The listing to compare with: that of a named file, else what a project has recorded, the list itself or its fingerprints.
 *
 * @throws CommandError `INVALID_INPUT`; ProjectError `NOT_READABLE`, `MANIFEST_DAMAGED`.
 */
export async function previousListing(
  named: string | undefined,
  directory: string | undefined,
): Promise<PreviousListing | undefined> {
  if (named !== undefined) return listingIn(named);
  if (directory === undefined) return undefined;
  const file = listingFile(directory);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) return listingIn(file);
  const { listed } = readManifest(directory);
  if (listed === null) return undefined;
  const manifest = fromHere(join(directory, manifestFile));
  return { file: manifest, changesTo: (tools) => changesSince(listed, tools) };
}

async function listingIn(file: string): Promise<PreviousListing> {
  const before = unwrap(await readListing(file));
  return { file, changesTo: (tools) => changesBetween(before, tools) };
}

function fromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** A recorded tool list: an array of tools, `{"tools": […]}`, or a whole JSON-RPC answer to tools/list. */
async function readListing(file: string): Promise<Result<readonly Json[]>> {
  const document = readDocument(await readInput(file), file);
  if (!document.ok) return document;
  const { value } = document;
  const { tools, result } = objectOr(value);
  const listed = [value, tools, objectOr(result).tools].find(Array.isArray);
  if (listed) return pass(listed);
  return reject(file, undefined, 'contains no list of tools', 'Save one with --save-listing.');
}
