import type { Problem } from 'market-mcp-contract/definition';
import { type JsonObject, mismatches } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';

/** The version of the official MCP registry's format. */
export const registrySchema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

const text = (maxLength: number) => ({ type: 'string', maxLength, pattern: '\\S' });
/** An https URL of the characters that RFC 3986 allows, without template braces. */
const url = {
  type: 'string',
  pattern: "^https://[\\w.~-]+(:\\d+)?([/?#]([\\w.~:/?#@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$",
};
const label = '[a-zA-Z0-9]';

/** The repository URLs that the registry accepts, by its name of the host. */
const repositoryHosts: ReadonlyMap<string, RegExp> = new Map([
  ['github', /^https:\/\/(www\.)?github\.com\/[\w.-]+\/[\w.-]+\/?$/],
  ['gitlab', /^https:\/\/(www\.)?gitlab\.com\/[\w.-]+(\/[\w.-]+)+\/?$/],
]);

/**
 * The rules for the members that are written here, in JSON Schema of draft-07. They are those of the registry's schema of
 * 2025-12-11 and of its checks on publication, or stricter; `node evidence/listing-schema/run.js` compares them with that schema. Other
 * members (packages, icons) are not allowed.
 */
export const serverJsonSchema: JsonObject = {
  type: 'object',
  properties: {
    $schema: { const: registrySchema },
    name: {
      type: 'string',
      maxLength: 200,
      pattern: `^${label}[a-zA-Z0-9.-]*${label}/${label}[a-zA-Z0-9._-]*${label}$`,
    },
    title: text(100),
    description: text(100),
    // A single version: no range, no wildcard such as 1.x.
    version: { ...text(255), pattern: '^(?!latest$|v?(\\d+\\.)*[xX]([.-]|$))[^\\s^~<>=|*]+$' },
    websiteUrl: url,
    repository: {
      type: 'object',
      properties: { url: { type: 'string' }, source: { type: 'string' } },
      required: ['url', 'source'],
      additionalProperties: false,
      anyOf: [...repositoryHosts].map(([source, { source: pattern }]) => ({
        properties: { url: { pattern }, source: { const: source } },
      })),
    },
    remotes: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          type: { const: 'streamable-http' },
          url,
          headers: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                name: { type: 'string', minLength: 1 },
                description: { type: 'string' },
                isRequired: { type: 'boolean' },
                isSecret: { type: 'boolean' },
              },
              required: ['name'],
              additionalProperties: false,
            },
          },
        },
        required: ['type', 'url'],
        additionalProperties: false,
      },
    },
  },
  required: ['$schema', 'name', 'description', 'version', 'remotes'],
  additionalProperties: false,
};

/** The data of a server's entry. */
export interface ServerEntry {
  /** Reverse DNS name, a slash, and the server's name: `io.github.ada/gas`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly endpoint: string;
  readonly website: string | undefined;
  /** URL of the source code. */
  readonly repository: string | undefined;
}

/** The `server.json` of a remote server that requires the token of a marketplace. */
export function serverJson(entry: ServerEntry, token: PlatformProfile['token']): JsonObject {
  const { name, title, description, version, endpoint, website, repository } = entry;
  const links: { websiteUrl?: string; repository?: JsonObject } = {};
  if (website !== undefined) links.websiteUrl = website;
  if (repository !== undefined) links.repository = { url: repository, source: hostOf(repository) ?? '' };
  return {
    $schema: registrySchema,
    name,
    title,
    description,
    version,
    ...links,
    remotes: [
      {
        type: 'streamable-http',
        url: endpoint,
        headers: [
          {
            name: token.header.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase()),
            description: `${token.scheme} and the token of the marketplace: needed to call a tool, not to list tools.`,
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** The differences between a `server.json` and the registry's format. */
export function serverJsonProblems(document: JsonObject): readonly Problem[] {
  return mismatches(serverJsonSchema, document, 'server.json');
}

/**
 * A name in a namespace that the registry lets an author prove: of a GitHub account or a domain.
 *
 * @returns undefined if neither URL gives one
 */
export function registryName(
  project: string,
  repository: string | undefined,
  endpoint: string,
): string | undefined {
  const server = project.replace(/^@[^/]+\//, '').replaceAll(/[^a-zA-Z0-9._-]+/g, '-');
  const owner = /^https:\/\/github\.com\/([a-zA-Z0-9-]+)\//.exec(repository ?? '')?.[1];
  if (owner !== undefined) return `io.github.${owner}/${server}`;
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : '';
  if (host.includes('.') && !/^[\d.]+$/.test(host))
    return `${host.split('.').toReversed().join('.')}/${server}`;
  return undefined;
}

/** The registry's name of a repository's host; undefined if the registry does not accept the URL. */
export function hostOf(repository: string): string | undefined {
  return [...repositoryHosts].find(([, pattern]) => pattern.test(repository))?.[0];
}
