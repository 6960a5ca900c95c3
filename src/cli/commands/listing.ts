import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  CommandError,
  type ExitCode,
  flagName,
  inputError,
  type Output,
  refuseUnwritable,
  requireNone,
  saveJson,
  saveOutput,
  singleLine,
  unwrap,
} from 'market-mcp-contract/command';
import type { ToolDefinition } from 'market-mcp-contract/definition';
import type { Json, JsonObject } from 'market-mcp-contract/json';
import { type PlatformProfile, resolvePlatform } from 'market-mcp-contract/platforms';
import { driftLines } from 'market-mcp-contract/report';
import { recordedDrift } from '../../check/files.ts';
import {
  type Directory,
  type DirectoryFlag,
  directories,
  directoryErrors,
  readOn,
  type Subject,
} from '../../marketplace/core/directories.ts';
import { type Entry, type EntryFacts, entryFacts, entryOf, jsonFile } from '../../marketplace/core/entry.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import type { Project } from '../../project/model.ts';
import { openProject } from '../../project/read/open.ts';
import { marketCommand } from '../../system/command-line.ts';
import { type ListingFlags, listingFlags } from '../flags.ts';

/**
 * `market-mcp listing`: writes the `server.json` of the official MCP registry and prints the fields of the marketplace's
 * registration form; with `--for`, what that directory takes. Submits nothing.
 *
 * @throws CommandError with every field that is missing or invalid; then nothing is written.
 */
export async function listing(output: Output, flags: ListingFlags): Promise<ExitCode> {
  refuseUnread(flags);
  const project = await openProject(findProject(process.cwd()));
  const { platform } = flags;
  const profile = platform === undefined ? project.profile : unwrap(await resolvePlatform(platform));
  if (flags.for !== undefined) return listIn(directories[flags.for], project, profile, flags, output);
  const facts = entryFacts(project, flags, project.profile.listing.descriptionSections);
  const entry = entryOf(facts, profile, flags);
  const made = await write(project, 'server.json', entry.server, flags);
  show(entry, profile.listing, output);
  const definitions = definitionsOf(project);
  const drift =
    definitions &&
    (await recordedDrift(
      project.directory,
      definitions.map((one) => ({ ...one }) as Json),
    ));
  if (drift) output.line(`${driftLines(drift, output.paint).join('\n')}\n`);
  noteLeftOut(facts, output);
  showFile(made, 'submit it with: mcp-publisher publish', flags, output);
  return output.result({ ok: true, ...made, ...entry, ...(drift && { drift }) });
}

async function listIn(
  directory: Directory,
  project: Project,
  { token, title: platform }: PlatformProfile,
  flags: ListingFlags,
  output: Output,
): Promise<ExitCode> {
  const facts = entryFacts(project, flags, []);
  const subject = { ...facts, token, writes: writesOf(project), maintainer: flags.maintainer };
  const fields = directory.fields(subject);
  const file = directory.file?.(subject);
  requireNone([...directoryErrors(fields, subject), ...(file?.errors ?? [])]);
  const made = file && (await write(project, file.name, file.document, flags));
  const start = directory.start(subject);
  const wellKnown = directory.wellKnown(subject);
  const open = 'Discovery is open: anyone can list the tools. A call needs a token of';
  const calls = `${open} ${platform}. ${directory.calls}`;
  const check = directory.platform && marketCommand('check', '--platform', directory.platform);

  output.line(output.style('bold', `For ${directory.title}: ${start}`));
  if (file !== undefined) showJson(file.document, output);
  for (const { name, value, note = '' } of fields) {
    const wanted = value === undefined ? `(yours${note && `: ${note}`})` : value;
    output.line(`${name.padEnd(36)}${safeLines(wanted).join(`\n${' '.repeat(36)}`)}`);
  }
  if (fields.length > 0) output.line();
  if (wellKnown !== undefined)
    output.line(`Among the options of serve, in src/main.ts:\n  wellKnown: { ${wellKnown} },\n`);
  if (check !== undefined) output.line(`Whether the tools meet its criteria: ${check}\n`);
  output.note(calls);
  if (flags.for === 'registry') noteLeftOut(facts, output);
  if (made !== undefined) showFile(made, 'commit it', flags, output);
  output.line(output.style('dim', `Read on ${readOn}, not tried: ${directory.sources.join('; ')}`));
  const shown = fields.map(({ name, value = null, note = null }) => ({ name, value, note }));
  const written = { file: null, written: false, ...made, document: file?.document ?? null };
  const rest = { start, fields: shown, wellKnown: wellKnown ?? null, check: check ?? null, calls };
  return output.result({ ok: true, for: flags.for, ...written, ...rest, readOn, sources: directory.sources });
}

/** The names of the tools that are not marked as reading only; undefined if a definition is computed at run time. */
function writesOf(project: Project): Subject['writes'] {
  return definitionsOf(project)
    ?.filter(({ annotations }) => annotations?.readOnlyHint !== true)
    .map(({ name }) => name);
}

/** The definitions of the served tools; undefined if one is computed at run time. */
function definitionsOf({ tools }: Project): readonly ToolDefinition[] | undefined {
  const served = tools.filter((tool) => tool.served).map(({ source }) => source.definition);
  return served.every((definition) => definition !== null) ? served : undefined;
}

/** The flags that only some forms of the command read. */
const read: readonly DirectoryFlag[] = [
  ...['name', 'summary', 'description', 'category', 'price', 'registryName'],
  ...['repository', 'website', 'out', 'force'],
] as const satisfies readonly DirectoryFlag[];

function refuseUnread(flags: ListingFlags): void {
  const known: readonly DirectoryFlag[] = flags.for === undefined ? read : directories[flags.for].flags;
  const where = flags.for === undefined ? 'without --for glama' : `with --for ${flags.for}`;
  const unread = [...read, 'maintainer' as const].filter(
    (name) => !known.includes(name) && flags[name] !== undefined,
  );
  requireNone(
    unread.map((name) =>
      inputError(flagName(listingFlags[name]), undefined, `has no effect ${where}`, 'Leave it out.'),
    ),
  );
}

function show(
  { server, form, stake, advice }: Entry,
  rules: PlatformProfile['listing'],
  output: Output,
): void {
  output.line(output.style('bold', 'server.json of the official MCP registry'));
  showJson(server, output);
  const where = rules.url === null ? '' : ` (${rules.url})`;
  output.line(output.style('bold', `Registration form of the marketplace${where}`));
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
  const shown = relative(process.cwd(), file) || file;
  if (written) output.done(`${shown} written; ${next}`);
  else output.note(dryRun ? `nothing written (${shown})` : `${shown} is up to date`);
}

/** Writes a file unless it already has this content. @throws CommandError `FILE_EXISTS` if it has another one */
async function write(
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
  await (out === undefined ? saveJson(file, document) : saveJson(file, document, saveOutput));
  return { file, written: true };
}
