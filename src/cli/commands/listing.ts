import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  CommandError,
  type ExitCode,
  type Output,
  refuseUnwritable,
  saveJson,
  singleLine,
  unwrap,
  writeWhereLinksLead,
} from 'market-mcp-contract/command';
import type { ToolDefinition } from 'market-mcp-contract/definition';
import type { Json, JsonObject } from 'market-mcp-contract/json';
import { type PlatformProfile, resolvePlatform } from 'market-mcp-contract/platforms';
import { driftLines } from 'market-mcp-contract/report';
import { recordedDrift } from '../../check/previous-listing.ts';
import {
  type Entry,
  type EntryFacts,
  entryFacts,
  jsonFile,
  listingEntry,
  namespaceProof,
} from '../../marketplace/core/entry.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/opened-project.ts';
import { openProject } from '../../project/read/open.ts';
import type { ListingFlags } from '../command-flags.ts';

/**
 * `market-mcp listing`: writes the `server.json` of the official MCP registry and prints the fields of the marketplace's
 * registration form. Submits nothing.
 *
 * @throws CommandError with every field that is missing or invalid; then nothing is written.
 */
export async function listing(output: Output, flags: ListingFlags): Promise<ExitCode> {
  const project = await openProject(findProject(process.cwd()));
  const { platform } = flags;
  const profile = platform === undefined ? project.profile : unwrap(await resolvePlatform(platform));
  const facts = entryFacts(project, flags, project.profile.listing.descriptionSections);
  const entry = listingEntry(facts, profile, flags);
  const file = await writeListing(project, 'server.json', entry.server, flags);
  showListing(entry, profile.listing, output);
  const definitions = definitionsOf(project);
  const drift =
    definitions &&
    recordedDrift(
      project.directory,
      definitions.map((definition) => ({ ...definition }) as Json),
    );
  if (drift) output.line(`${driftLines(drift, output.paint).join('\n')}\n`);
  noteLeftOut(facts, output);
  const { login, wellKnown } = namespaceProof(facts);
  if (wellKnown !== null)
    output.line(`Add to the options of serve in src/main.ts:\n  wellKnown: { ${wellKnown} },\n`);
  showFile(file, `submit it with: ${login}, then mcp-publisher publish`, flags, output);
  return output.result({ ok: true, ...file, ...entry, login, wellKnown, ...(drift && { drift }) });
}

/** The definitions of the served tools; undefined if one is computed at run time. */
function definitionsOf({ tools }: Project): readonly ToolDefinition[] | undefined {
  const definitions = tools.filter((tool) => tool.isServed).map(({ source }) => source.definition);
  if (definitions.every((definition) => definition !== null)) return definitions;
  return undefined;
}

function showListing(
  { server, form, stake, advice }: Entry,
  rules: PlatformProfile['listing'],
  output: Output,
): void {
  output.line(output.style('bold', 'server.json of the official MCP registry'));
  showJson(server, output);
  const location = rules.url === null ? '' : ` (${rules.url})`;
  output.line(output.style('bold', `Registration form of the marketplace${location}`));
  for (const [field, value] of Object.entries(form)) {
    output.line(`${field.padEnd(12)}${safeLines(value).join(`\n${' '.repeat(12)}`)}`);
  }
  output.line(`${'stake'.padEnd(12)}${stake} ${rules.stake.currency}`);
  for (const { field, message } of advice) output.line(`${output.style('yellow', '!')} ${field}: ${message}`);
  output.line();
}

function showJson(document: JsonObject, output: Output): void {
  output.line(safeLines(JSON.stringify(document, null, 2)).join('\n'));
  output.line();
}

function safeLines(text: string): readonly string[] {
  return text.split('\n').map(singleLine);
}

interface Made {
  readonly file: string;
  readonly written: boolean;
}

function noteLeftOut({ leftOut }: EntryFacts, output: Output): void {
  if (leftOut === undefined) return;
  output.note(
    `${leftOut} of package.json is left out: the registry takes repositories of github.com and gitlab.com`,
  );
}

function showFile({ file, written }: Made, next: string, { dryRun }: ListingFlags, output: Output): void {
  const shownPath = relative(process.cwd(), file) || file;
  if (written) output.done(`${shownPath} written; ${next}`);
  else output.note(dryRun ? `nothing written (${shownPath})` : `${shownPath} is up to date`);
}

/** Writes a file unless it already has this content. @throws CommandError `FILE_EXISTS` if it has another one */
async function writeListing(
  { directory }: Project,
  name: string,
  document: JsonObject,
  { out, dryRun = false, force = false }: ListingFlags,
): Promise<Made> {
  const file = resolve(out ?? join(directory, name));
  if (dryRun) return { file, written: false };
  await refuseUnwritable(file);
  if (existsSync(file) && !force) {
    if (isDeepStrictEqual(jsonFile(file), document)) return { file, written: false };
    const hint = 'Compare with --dry-run, then add --force to replace it.';
    throw new CommandError('FILE_EXISTS', `${file} exists and differs from what would be written`, hint);
  }
  await (out === undefined ? saveJson(file, document) : saveJson(file, document, writeWhereLinksLead));
  return { file, written: true };
}
