import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { resolvePlatform } from '../../changes/platform.ts';
import type { JsonObject } from '../../contract/model.ts';
import type { PlatformProfile } from '../../contract/platforms/profile.ts';
import { type Entry, entryOf, jsonIn } from '../../marketplace/core/entry.ts';
import { CommandError, type ExitCode, unwrap } from '../../model/command-error.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { refuseUnwritable, saveJson } from '../../project/write/save.ts';
import type { ListingFlags } from '../marketplace/options.ts';
import type { Output } from '../output.ts';
import { singleLine } from '../single-line.ts';

/**
 * `market-mcp listing`: writes the `server.json` of the official MCP registry and prints the fields of the marketplace's
 * registration form. Submits neither.
 *
 * @throws CommandError with every field that is missing or invalid; then nothing is written.
 */
export async function listing(output: Output, flags: ListingFlags): Promise<ExitCode> {
  const { platform, dryRun = false, force = false, out } = flags;
  const project = await openProject(findProject(process.cwd()));
  const profile = platform === undefined ? project.profile : unwrap(await resolvePlatform(platform));
  const { leftOut, ...entry } = entryOf(project, profile, flags);
  const file = resolve(out ?? join(project.directory, 'server.json'));
  const written = !dryRun && (await write(file, entry.server, force));
  show(entry, profile.listing, output);
  if (leftOut !== undefined) {
    output.note(
      `${leftOut} of package.json is left out: the registry takes repositories of github.com and gitlab.com`,
    );
  }
  const shown = relative(process.cwd(), file) || file;
  if (written) output.done(`${shown} written; submit it with: mcp-publisher publish`);
  else output.note(dryRun ? `nothing written (${shown})` : `${shown} is up to date`);
  return output.result({ ok: true, file, written, ...entry });
}

function show(
  { server, form, stake, advice }: Omit<Entry, 'leftOut'>,
  rules: PlatformProfile['listing'],
  output: Output,
): void {
  output.line(output.style('bold', 'server.json of the official MCP registry'));
  output.line(safeLines(JSON.stringify(server, null, 2)).join('\n'));
  output.line();
  const where = rules.url === null ? '' : ` (${rules.url})`;
  output.line(output.style('bold', `Registration form of the marketplace${where}`));
  for (const [field, value] of Object.entries(form)) {
    output.line(`${field.padEnd(12)}${safeLines(value).join(`\n${' '.repeat(12)}`)}`);
  }
  output.line(`${'stake'.padEnd(12)}${stake} ${rules.stake.currency}`);
  for (const { field, message } of advice) output.line(`${output.style('yellow', '!')} ${field}: ${message}`);
  output.line();
}

function safeLines(text: string): readonly string[] {
  return text.split('\n').map(singleLine);
}

/** @returns whether the file was written; false if it already has this content. */
async function write(file: string, document: JsonObject, force: boolean): Promise<boolean> {
  await refuseUnwritable(file);
  if (existsSync(file) && !force) {
    if (isDeepStrictEqual(jsonIn(file), document)) return false;
    const hint = 'Compare with --dry-run, then add --force to replace it.';
    throw new CommandError('FILE_EXISTS', `${file} exists and differs from what would be written`, hint);
  }
  await saveJson(file, document);
  return true;
}
