import { hasUrlSecret } from 'market-mcp-contract/command';
import { type JsonObject, objectOr, shorten, textOr } from 'market-mcp-contract/json';
import { apiAt, apiName } from '../api-name.ts';
import type { Api } from '../imported-tool.ts';
import { plainText } from './document-text.ts';
import { DocumentRefusal, type OpenApiDocument } from './openapi-document.ts';
import { ApiKeys } from './openapi-keys.ts';
import type { ApiOperation } from './operations.ts';

/** The APIs of a document: one for each base URL of the chosen operations. */
export class Apis {
  readonly keys: ApiKeys;
  readonly #document: OpenApiDocument;
  readonly #source: string | null;
  readonly #byUrl = new Map<string, Api>();

  /** @param source URL of the document, which resolves relative URLs; null if it is a file */
  constructor(document: OpenApiDocument, source: string | null) {
    this.keys = new ApiKeys(document);
    this.#document = document;
    this.#source = source;
  }

  /**
   * The API of an operation, without its keys, and the prefix of its variables.
   *
   * @throws Refusal if its base URL is invalid
   */
  of(operation: ApiOperation): { readonly api: Api; readonly prefix: string } {
    const url = this.#baseUrl(operation);
    const api = this.#byUrl.get(url ?? '') ?? this.#fresh(url);
    this.#byUrl.set(url ?? '', api);
    return { api, prefix: api.address.name.replace(/_URL$/, '') };
  }

  #fresh(url: string | null): Api {
    const title = plainText(this.#document.root.at('info').members.title, 80) || 'The API';
    return apiAt(url, { title, ...apiName(url, title, this.#byUrl.size + 1) });
  }

  /** The first server, with default variables; null if the document names none. */
  #baseUrl({ found, shared }: ApiOperation): string | null {
    const { root, version } = this.#document;
    if (version === '2.0') return this.#oldUrl(root.members);
    const server = [found, shared, root].flatMap((place) => place.at('servers').items().slice(0, 1))[0];
    const { url, variables } = server?.members ?? {};
    if (!server || typeof url !== 'string') return null;
    const filled = url.replaceAll(/\{([^{}]+)\}/g, (match, name: string) =>
      textOr(objectOr(objectOr(variables)[name]).default, match),
    );
    return this.#absolute(filled, server.from);
  }

  #oldUrl({ host, basePath, schemes }: JsonObject): string | null {
    if (typeof host !== 'string')
      return typeof basePath === 'string' ? this.#absolute(basePath, '#/basePath') : null;
    const scheme =
      Array.isArray(schemes) && !schemes.includes('https') && schemes.includes('http') ? 'http' : 'https';
    return this.#absolute(`${scheme}://${host}${typeof basePath === 'string' ? basePath : ''}`, '#/host');
  }

  #absolute(url: string, pointer: string): string | null {
    const base = this.#source ?? undefined;
    if (!URL.canParse(url) && base === undefined) return null;
    const parsed = URL.canParse(url, base) ? new URL(url, base) : null;
    // A secret of the document's URL must not come into the project: its author states the address.
    if (parsed && !URL.canParse(url) && hasUrlSecret(parsed.origin + parsed.pathname)) return null;
    const isPlain =
      parsed && /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.search === '';
    if (!parsed || !isPlain || /[{}]|%7B|%7D/i.test(parsed.href)) {
      throw new DocumentRefusal(
        `its server URL ${shorten(url)} is not a valid address for requests`,
        pointer,
      );
    }
    return parsed.href.replace(/[#?].*$/, '').replace(/\/+$/, '');
  }
}
