import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { resolvePlatform } from '../../changes/platform.ts';
import { isObject } from '../../contract/json.ts';
import type { JsonObject } from '../../contract/model.ts';
import { isLoopback } from '../../contract/probe/address.ts';
import { environmentFile } from '../../dev/local-server.ts';
import { formProblems, stakeOf } from '../../marketplace/core/form.ts';
import type { FieldProblem, ListingForm } from '../../marketplace/core/model.ts';
import { hostOf, registryName, serverJson, serverJsonProblems } from '../../marketplace/core/server-json.ts';
import { CommandError, type ExitCode, exitCodes, invalidInput, unwrap } from '../../model/command-error.ts';
import { inputError } from '../../model/input-error.ts';
import type { InputError } from '../../model/model.ts';
import { findProject } from '../../project/manifest/manifest.ts';
import { openProject } from '../../project/read/open.ts';
import { readRegular } from '../../project/read/read.ts';
import { refuseUnwritable, saveJson } from '../../project/write/save.ts';
import { draftOf } from '../marketplace/draft.ts';
import type { ListingFlags } from '../marketplace/flags.ts';
import type { Output } from '../output.ts';
import { singleLine } from '../single-line.ts';

/**
 * `market-mcp listing`: writes the `server.json` of the official MCP registry and prints the fields of the marketplace's
 * registration form. Submits neither.
 *
 * @throws CommandError with every field that is missing or invalid; then nothing is written.
 */
export async function listing(flags: ListingFlags, output: Output): Promise<ExitCode> {
  const project = await openProject(findProject(process.cwd()));
  const profile =
    flags.platform === undefined ? project.profile : unwrap(await resolvePlatform(flags.platform));
  const draft = draftOf(project);
  const manifest = packageOf(project.directory);
  const endpoint = flags.endpoint ?? deployedAt(project.directory);
  const found = repositoryIn(manifest);
  const isTaken = found !== undefined && hostOf(found) !== undefined;
  const repository = flags.repository ?? (isTaken ? found : undefined);
  const form: ListingForm = {
    name: flags.name ?? draft.name,
    description: flags.description ?? draft.description,
    category: flags.category ?? (profile.listing.categories === null ? 'Other' : ''),
    price: flags.price ?? '0.01',
    endpoint: endpoint ?? '',
  };
  const summary = flags.summary ?? textIn(manifest, 'description') ?? '';
  const registered =
    flags.registryName ?? registryName(textIn(manifest, 'name') ?? '', repository, form.endpoint);
  const errors = [
    ...endpointErrors(endpoint),
    ...(flags.repository === undefined || hostOf(flags.repository) !== undefined
      ? []
      : [foreignRepository(flags.repository)]),
    ...websiteErrors(flags.website ?? textIn(manifest, 'homepage')),
    ...(registered === undefined && endpoint !== undefined ? [nameless(endpoint)] : []),
  ];
  if (errors.length > 0) throw invalidInput(errors);
  const document = serverJson(
    {
      name: registered ?? '',
      title: form.name,
      description: summary,
      version: textIn(manifest, 'version') ?? '',
      endpoint: form.endpoint,
      website: flags.website ?? textIn(manifest, 'homepage'),
      repository,
    },
    profile.token,
  );
  const problems = formProblems(form, profile.listing);
  const invalid = [
    ...serverJsonProblems(document).map(({ path = '', expected, actual }) =>
      inputError(path, actual, `expected ${expected}`, hintFor(path)),
    ),
    ...problems.filter(({ advice }) => !advice).map(formError),
  ];
  if (invalid.length > 0) throw invalidInput(invalid);
  const file = resolve(flags.out ?? join(project.directory, 'server.json'));
  const isWritten = flags.dryRun !== true && (await write(file, document, flags.force === true));
  report({ document, form, problems, stake: stakeOf(form.price, profile.listing) }, profile.listing, output);
  if (found !== undefined && repository === undefined) {
    output.note(
      `${found} of package.json is left out: the registry takes repositories of github.com and gitlab.com`,
    );
  }
  const shown = relative(process.cwd(), file) || file;
  if (isWritten) output.done(`${shown} written; submit it with: mcp-publisher publish`);
  else output.note(flags.dryRun === true ? `nothing written (${shown})` : `${shown} is up to date`);
  output.result({
    ok: true,
    file,
    written: isWritten,
    server: document,
    form,
    stake: stakeOf(form.price, profile.listing),
    advice: problems,
  });
  return exitCodes.ok;
}

interface Listing {
  readonly document: JsonObject;
  readonly form: ListingForm;
  readonly problems: readonly FieldProblem[];
  readonly stake: number;
}

function report(
  { document, form, problems, stake }: Listing,
  rules: { readonly url: string | null; readonly stake: { readonly currency: string } },
  output: Output,
): void {
  output.line(output.style('bold', 'server.json of the official MCP registry'));
  output.line(safeLines(JSON.stringify(document, null, 2)).join('\n'));
  output.line();
  const where = rules.url === null ? '' : ` (${rules.url})`;
  output.line(output.style('bold', `Registration form of the marketplace${where}`));
  for (const [field, value] of Object.entries(form)) {
    output.line(`${field.padEnd(12)}${safeLines(value).join(`\n${' '.repeat(12)}`)}`);
  }
  output.line(`${'stake'.padEnd(12)}${stake} ${rules.stake.currency}`);
  for (const { field, message } of problems)
    output.line(`${output.style('yellow', '!')} ${field}: ${message}`);
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

function endpointErrors(endpoint: string | undefined): readonly InputError[] {
  const hint = 'Write --endpoint https://tools.example.com/mcp, or set PLATFORM_AUDIENCE.';
  if (endpoint === undefined)
    return [inputError('--endpoint', undefined, 'the public address of the server is missing', hint)];
  const isLocal = URL.canParse(endpoint) && isLoopback(new URL(endpoint).hostname);
  return isLocal ? [inputError('--endpoint', endpoint, 'is an address of this machine', hint)] : [];
}

function websiteErrors(website: string | undefined): readonly InputError[] {
  if (website === undefined || (URL.canParse(website) && website.startsWith('https://'))) return [];
  return [
    inputError('--website', website, 'is not an https URL', 'Write --website https://example.com/gas.'),
  ];
}

function foreignRepository(repository: string): InputError {
  const message = 'is not a repository of github.com or gitlab.com, and the registry takes no other';
  const hint = 'Write --repository https://github.com/<account>/<repository>, or leave it out.';
  return inputError('--repository', repository, message, hint);
}

function nameless(endpoint: string): InputError {
  const message = `no name can be derived from ${endpoint}`;
  const hint = 'Write --registry-name io.github.<account>/<server>.';
  return inputError('--registry-name', undefined, message, hint);
}

function formError({ field, message }: FieldProblem): InputError {
  return inputError(`--${field}`, undefined, message, 'Correct the field.');
}

function hintFor(path: string): string {
  if (path.endsWith('.description'))
    return 'Give a summary of 1 to 100 characters: --summary "Gas prices of chains".';
  if (path.endsWith('.title')) return 'Give a name of 1 to 100 characters: --name "Gas prices".';
  if (path.endsWith('.name'))
    return 'Write --registry-name io.github.<account>/<server>, each of two characters at least.';
  if (path.endsWith('remotes[0].url')) return 'Write --endpoint https://tools.example.com/mcp.';
  if (path.endsWith('.websiteUrl')) return 'Write --website https://example.com/gas.';
  if (path.endsWith('.version')) return 'Write one version, such as 1.0.2, into package.json.';
  return 'Correct the value.';
}

/** The public endpoint of the deployed server. */
function deployedAt(directory: string): string | undefined {
  const given = process.env.PLATFORM_AUDIENCE ?? environmentFile(directory).PLATFORM_AUDIENCE;
  return given === undefined || given.trim() === '' ? undefined : given.trim();
}

function packageOf(directory: string): JsonObject {
  const file = join(directory, 'package.json');
  const value = jsonIn(file);
  if (isObject(value)) return value;
  throw new CommandError('INVALID_INPUT', `${file} is not a JSON object`, 'Correct it.');
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readRegular(file).toString('utf8'));
  } catch {
    return undefined;
  }
}

function textIn(manifest: JsonObject, member: string): string | undefined {
  const value = manifest[member];
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The repository's address, from any form that package.json may state it in, as a URL for browsers. */
function repositoryIn({ repository }: JsonObject): string | undefined {
  const given = isObject(repository) ? repository.url : repository;
  if (typeof given !== 'string' || given.trim() === '') return undefined;
  return given
    .trim()
    .replace(/^(github:)?(?=[\w.-]+\/[\w.-]+$)/, 'https://github.com/')
    .replace(/^gitlab:/, 'https://gitlab.com/')
    .replace(/^git\+/, '')
    .replace(/^(ssh:\/\/)?git@([^:/]+)[:/]/, 'https://$2/')
    .replace(/^(git|http):\/\//, 'https://')
    .replace(/\.git$/, '');
}
