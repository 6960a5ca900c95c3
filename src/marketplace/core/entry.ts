import { join } from 'node:path';
import {
  CommandError,
  hasUrlSecret,
  type InputError,
  inputError,
  requireNone,
} from 'market-mcp-contract/command';
import { attempt, isObject, type JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { isLoopback } from 'market-mcp-contract/wire';
import type { Project } from '../../project/opened-project.ts';
import { readDotEnv } from '../../project/read/dot-env.ts';
import { parsedJson } from '../../project/read/file-text.ts';
import { readRegular } from '../../project/read/read-files.ts';
import { defaultCategory, formProblems, publicUrl, stakeOf } from './listing-form.ts';
import type { FieldProblem, ListingForm } from './marketplace-model.ts';
import { hostOf, registryName, type ServerEntry, serverJson, serverJsonProblems } from './server-json.ts';

/** What an author states instead of what the project says, by the names of the flags. */
export type Stated = {
  readonly [name in keyof ListingForm | 'summary' | 'registryName' | 'repository' | 'website']?:
    | string
    | undefined;
};

/** What a project, its environment and the flags say about its server. */
export interface EntryFacts extends Pick<ServerEntry, 'version' | 'endpoint' | 'website' | 'repository'> {
  /** The display name. */
  readonly name: string;
  /** The name in package.json. */
  readonly project: string;
  readonly description: string;
  readonly summary: string;
  /** The repository of package.json, if the registry does not accept its host. */
  readonly leftOut: string | undefined;
  readonly registryName: string | undefined;
}

/** What an author submits for a project, to the official MCP registry and to the marketplace. */
export interface Entry {
  /** The registry's `server.json`. */
  readonly server: JsonObject;
  /** The marketplace's registration form. */
  readonly form: ListingForm;
  readonly stake: number;
  readonly advice: readonly FieldProblem[];
}

/**
 * @param sections of the description, where the author states none
 * @throws CommandError `INVALID_INPUT` if there is no public endpoint, or a URL is invalid
 */
export function entryFacts(project: Project, statedFacts: Stated, sections: readonly string[]): EntryFacts {
  const draft = draftOf(project, sections);
  const manifest = packageOf(project.directory);
  const endpoint = statedFacts.endpoint ?? deployedAt(project.directory);
  const found = repositoryIn(manifest);
  const isTaken = found !== undefined && hostOf(found) !== undefined;
  const repository = statedFacts.repository ?? (isTaken ? found : undefined);
  const website = statedFacts.website ?? manifestText(manifest, 'homepage');
  requireNone([
    ...secretErrors({ '--endpoint': endpoint, '--repository': repository, '--website': website }),
    ...endpointErrors(endpoint),
    ...repositoryErrors(statedFacts.repository),
    ...websiteErrors(website),
  ]);
  const name = manifestText(manifest, 'name') ?? '';
  return {
    name: statedFacts.name ?? draft.name,
    project: name,
    description: statedFacts.description ?? draft.description,
    summary: statedFacts.summary ?? manifestText(manifest, 'description') ?? '',
    version: manifestText(manifest, 'version') ?? '',
    endpoint: endpoint ?? '',
    website,
    repository,
    leftOut: repository === undefined ? found : undefined,
    registryName: statedFacts.registryName ?? registryName(name, repository, endpoint ?? ''),
  };
}

/** The entry of a project. @throws CommandError `INVALID_INPUT` with every field that is missing or invalid. */
export function listingEntry(
  facts: EntryFacts,
  { token, listing }: PlatformProfile,
  statedFacts: Stated,
): Entry {
  const { name, description, endpoint } = facts;
  const form: ListingForm = {
    name,
    description,
    category: statedFacts.category ?? (listing.categories === null ? defaultCategory(listing) : ''),
    price: statedFacts.price ?? '0.01',
    endpoint,
  };
  const { server, errors } = registryEntry(facts, token);
  const problems = formProblems(form, listing);
  requireNone([...errors, ...formErrors(problems)]);
  return { server, form, stake: stakeOf(form.price, listing), advice: problems };
}

/** The `server.json` of a project, and the errors in it. */
export function registryEntry(
  facts: EntryFacts,
  token: PlatformProfile['token'],
): { readonly server: JsonObject; readonly errors: readonly InputError[] } {
  const { name: title, summary: description, registryName: name, endpoint } = facts;
  const server = serverJson({ ...facts, title, description, name: name ?? '' }, token);
  if (name === undefined) return { server, errors: [nameless(endpoint)] };
  const errors = serverJsonProblems(server).map(({ path = '', expected, actual }) =>
    inputError(path, actual, `expected ${expected}`, entryFieldHint(path)),
  );
  return { server, errors };
}

/** The problems of a form that reject it, by the flags that correct them. */
export function formErrors(problems: readonly FieldProblem[]): readonly InputError[] {
  return problems
    .filter(({ advice }) => !advice)
    .map(({ field, message }) =>
      inputError(`--${field}`, undefined, message.replace(/\.$/, ''), 'Correct the field.'),
    );
}

/** The form, filled in from a project. */
export function draftOf({ manifest, tools }: Project, descriptionSections: readonly string[]) {
  const servedTools = tools.filter(({ isServed }) => isServed);
  const [section = 'Features:', ...sections] = descriptionSections;
  const words = manifest.answers.name.replace(/^@[^/]+\//, '').replaceAll(/[-_.]+/g, ' ');
  const name = words.charAt(0).toUpperCase() + words.slice(1);
  return {
    name,
    description: [
      `${name}: ${servedTools.length === 1 ? 'one tool' : `${servedTools.length} tools`}.`,
      '',
      section,
      ...servedTools.map(({ file, source }) => `- ${source.description ?? source.name ?? file}`),
      ...sections.flatMap((title) => ['', title, '- ']),
    ].join('\n'),
  };
}

function secretErrors(urls: { readonly [flag: string]: string | undefined }): readonly InputError[] {
  return Object.entries(urls)
    .filter(([, url]) => url !== undefined && hasUrlSecret(url))
    .map(([flag, url]) => inputError(flag, url, publicUrl, 'Remove the user, the password or the key.'));
}

function endpointErrors(endpoint: string | undefined): readonly InputError[] {
  const hint = 'Write --endpoint https://tools.example.com/mcp, or set PLATFORM_AUDIENCE.';
  if (endpoint === undefined)
    return [inputError('--endpoint', undefined, 'the public address of the server is missing', hint)];
  const isLocal = URL.canParse(endpoint) && isLoopback(new URL(endpoint).hostname);
  if (isLocal) return [inputError('--endpoint', endpoint, 'is an address of this machine', hint)];
  return [];
}

function websiteErrors(website: string | undefined): readonly InputError[] {
  if (website === undefined || (URL.canParse(website) && website.startsWith('https://'))) return [];
  return [
    inputError('--website', website, 'is not an https URL', 'Write --website https://example.com/gas.'),
  ];
}

function repositoryErrors(repository: string | undefined): readonly InputError[] {
  if (repository === undefined || hostOf(repository) !== undefined) return [];
  const message = 'is not a repository of github.com or gitlab.com, and the registry takes no other';
  const hint = 'Write --repository https://github.com/<account>/<repository>, or leave it out.';
  return [inputError('--repository', repository, message, hint)];
}

/**
 * Returns how an author proves to own the namespace of a registry name: the command, and the file under `/.well-known/` for a server at
 * the domain of the namespace, as a member of the option `wellKnown` of `serve`.
 *
 * Source: https://modelcontextprotocol.io/registry/authentication, read on 2026-11-23.
 */
export function namespaceProof({ registryName = '', endpoint }: EntryFacts): {
  readonly login: string;
  readonly wellKnown: string | null;
} {
  if (registryName.startsWith('io.github.')) return { login: 'mcp-publisher login github', wellKnown: null };
  const [namespace = ''] = registryName.split('/', 1);
  const domain = namespace.split('.').toReversed().join('.');
  const isAtDomain = domain === new URL(endpoint).hostname;
  const method = isAtDomain ? 'http' : 'dns';
  return {
    login: `mcp-publisher login ${method} --domain ${domain} --private-key <key>`,
    wellKnown: isAtDomain ? "'mcp-registry-auth': 'v=MCPv1; k=ed25519; p=<public key>'" : null,
  };
}

function nameless(endpoint: string): InputError {
  const message = `no name can be derived from ${endpoint}`;
  const hint = 'Write --registry-name io.github.<account>/<server>.';
  return inputError('--registry-name', undefined, message, hint);
}

function entryFieldHint(path: string): string {
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
  const audience = process.env.PLATFORM_AUDIENCE ?? readDotEnv(directory).PLATFORM_AUDIENCE;
  if (['', 'pending', undefined].includes(audience?.trim())) return undefined;
  return audience?.trim();
}

function packageOf(directory: string): JsonObject {
  const file = join(directory, 'package.json');
  const value = jsonFile(file);
  if (isObject(value)) return value;
  throw new CommandError('INVALID_INPUT', `${file} is not a JSON object`, 'Correct it.');
}

/** The value of a JSON file; undefined if it cannot be read. */
export function jsonFile(file: string): unknown {
  return attempt(() => parsedJson(readRegular(file)), undefined);
}

function manifestText(manifest: JsonObject, member: string): string | undefined {
  const value = manifest[member];
  if (typeof value === 'string' && value.trim() !== '') return value;
  return undefined;
}

/** The repository's address, from any form that package.json may state it in, as a URL for browsers. */
function repositoryIn({ repository }: JsonObject): string | undefined {
  const repositoryUrl = isObject(repository) ? repository.url : repository;
  if (typeof repositoryUrl !== 'string' || repositoryUrl.trim() === '') return undefined;
  return repositoryUrl
    .trim()
    .replace(/^(github:)?(?=[\w.-]+\/[\w.-]+$)/, 'https://github.com/')
    .replace(/^gitlab:/, 'https://gitlab.com/')
    .replace(/^git\+/, '')
    .replace(/^(ssh:\/\/)?git@([^:/]+)[:/]/, 'https://$2/')
    .replace(/^(git|http):\/\//, 'https://')
    .replace(/\.git$/, '');
}
