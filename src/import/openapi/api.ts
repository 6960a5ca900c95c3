import { isObject, shorten } from '../../contract/json.ts';
import type { Json, JsonObject } from '../../contract/model.ts';
import { below } from '../../contract/schema/schema.ts';
import type { Api, ApiVariable, Credential } from '../model.ts';
import { type OpenApiDocument, Refusal } from './document.ts';
import type { Operation } from './operations.ts';
import type { KeyParameter } from './parameters.ts';
import { plainText } from './text.ts';

/** The name in a host: `api.github.com` → github; undefined if the host is an IP address. */
function hostWords(url: string | null): readonly string[] | undefined {
  const labels = url === null ? [] : new URL(url).hostname.split('.');
  const isShared = /^(co|com|org|net|gov|ac|edu)$/.test(labels.at(-2) ?? '');
  const name = isShared && labels.length > 2 ? labels.at(-3) : labels.at(-2);
  const words = (name ?? '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? '') || words.length === 0 ? undefined : words;
}

function titleWords(title: string): readonly string[] {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !fillers.has(word));
  return words.length > 0 ? words.slice(0, 3) : ['api'];
}

/** Words in a title that do not name the API. */
const fillers = new Set(
  'the a an api apis rest restful v1 v2 v3 v4 http json openapi swagger public web service services'.split(
    ' ',
  ),
);

/** The name of an API's file, and the prefix of its variables: `github`, `GITHUB`. */
export function apiName(
  url: string | null,
  title: string,
  number = 1,
): { readonly file: string; readonly prefix: string } {
  const words = [...(hostWords(url) ?? titleWords(title)), ...(number > 1 ? [String(number)] : [])];
  const name = words.join('-').slice(0, 40);
  const file = /^[a-z]/.test(name) ? name : `api-${name}`;
  return { file, prefix: file.replaceAll('-', '_').toUpperCase() };
}

/** The APIs of a document: one for each base URL of the chosen operations, with all credentials that they need. */
export class Apis {
  readonly #document: OpenApiDocument;
  readonly #source: string | null;
  readonly #byUrl = new Map<string, Api>();

  /** @param source URL of the document, which resolves relative URLs; null if it is a file */
  constructor(document: OpenApiDocument, source: string | null) {
    this.#document = document;
    this.#source = source;
  }

  /**
   * The API of an operation. Its secrets are environment variables.
   *
   * @throws Refusal if none of its credentials is supported, or its base URL is invalid
   */
  of(operation: Operation, keys: readonly KeyParameter[]): Api {
    const url = this.#baseUrl(operation);
    const known = this.#byUrl.get(url ?? '') ?? this.#fresh(url);
    const prefix = known.baseUrl.replace(/_URL$/, '');
    const own = keys.map((key) => keyCredential(key, prefix));
    const api = [...this.#credentials(operation, prefix), ...own].reduce(withCredential, known);
    this.#byUrl.set(url ?? '', api);
    return api;
  }

  /** An API after all operations were added: with the credentials of all of them. */
  final({ file }: Api): Api {
    const api = [...this.#byUrl.values()].find((one) => one.file === file);
    if (!api) throw new Error(`no API ${file}`);
    return api;
  }

  #fresh(url: string | null): Api {
    const { info } = this.#document.root;
    const title = plainText(isObject(info) ? info.title : '', 80) || 'The API';
    const { file, prefix } = apiName(url, title, this.#byUrl.size + 1);
    const baseUrl = `${prefix}_URL`;
    const address: ApiVariable = {
      name: baseUrl,
      kind: 'url',
      text: `Address of ${title}`,
      ...(url !== null && { fallback: url }),
    };
    return { file, title, baseUrl, headers: [], query: [], variables: [address] };
  }

  /** The first server, with default variables; null if the document names none. */
  #baseUrl({ found, shared }: Operation): string | null {
    const { root, version } = this.#document;
    if (version === '2.0') return this.#oldUrl(root);
    const [place, servers] =
      [found, shared, { value: root, pointer: '#' }]
        .map(({ value, pointer }) => [below(pointer, 'servers', 0), value.servers] as const)
        .find(([, list]) => Array.isArray(list) && list.length > 0) ?? [];
    const server = Array.isArray(servers) ? (servers as readonly Json[])[0] : undefined;
    if (place === undefined || !isObject(server) || typeof server.url !== 'string') return null;
    const variables = isObject(server.variables) ? server.variables : {};
    const filled = server.url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return isObject(variable) ? String(variable.default ?? whole) : whole;
    });
    return this.#absolute(filled, place);
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
    const isPlain =
      parsed && /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.search === '';
    if (!parsed || !isPlain || /[{}]|%7B|%7D/i.test(parsed.href)) {
      throw new Refusal(`its server URL ${shorten(url)} is not a valid address for requests`, pointer);
    }
    return parsed.href.replace(/[#?].*$/, '').replace(/\/+$/, '');
  }

  /** The credentials of the first alternative whose schemes are all supported. */
  #credentials({ found: operation }: Operation, prefix: string): readonly Added[] {
    const hasOwn = Array.isArray(operation.value.security);
    const { value, pointer } = hasOwn ? operation : { value: this.#document.root, pointer: '#' };
    const listed = Array.isArray(value.security) ? value.security.filter(isObject) : [];
    if (listed.length === 0) return [];
    const isOptional = listed.some((one) => Object.keys(one).length === 0);
    for (const alternative of listed) {
      const found = Object.keys(alternative).map((name) => this.#credential(name, prefix, isOptional));
      if (found.length > 0 && found.every((one) => one !== null)) return found;
    }
    if (isOptional) return [];
    const message =
      'it accepts none of the supported credentials: an API key, a bearer token, or a user with a password';
    throw new Refusal(message, below(pointer, 'security'));
  }

  #credential(name: string, prefix: string, isOptional: boolean): Added | null {
    const { root, version } = this.#document;
    const components = isObject(root.components) ? root.components.securitySchemes : undefined;
    const schemes = version === '2.0' ? root.securityDefinitions : components;
    const at = version === '2.0' ? '#/securityDefinitions' : '#/components/securitySchemes';
    const scheme = isObject(schemes) && this.#document.object(schemes[name], below(at, name))?.value;
    if (!scheme) return null;
    const description = plainText(scheme.description, 120);
    const kind = String(scheme.scheme ?? '').toLowerCase();
    if (scheme.type === 'apiKey') {
      if (typeof scheme.name !== 'string' || !/^[\w.-]+$/.test(scheme.name)) return null;
      const text = description || `Key of the API (${scheme.name})`;
      const key = { name: scheme.name, isRequired: !isOptional, text };
      if (scheme.in === 'query' || scheme.in === 'header')
        return keyCredential({ ...key, in: scheme.in }, prefix);
      if (scheme.in !== 'cookie') return null;
      const variable = secretOf(`${prefix}_${constantOf(scheme.name)}`, key.text, isOptional);
      return added('header', { name: 'cookie', kind: 'cookie', cookie: scheme.name }, variable);
    }
    if (scheme.type === 'basic' || (scheme.type === 'http' && kind === 'basic')) {
      const user = secretOf(`${prefix}_USER`, description || 'User name at the API', isOptional);
      const password = secretOf(`${prefix}_PASSWORD`, 'Password of that user', isOptional);
      return added('header', { name: 'authorization', kind: 'basic' }, user, password);
    }
    const isToken =
      scheme.type === 'oauth2' ||
      scheme.type === 'openIdConnect' ||
      (scheme.type === 'http' && kind === 'bearer');
    if (!isToken) return null;
    const variable = secretOf(`${prefix}_TOKEN`, description || 'Token for the API', isOptional);
    return added('header', { name: 'authorization', kind: 'bearer' }, variable);
  }
}

/** A credential and its place in the request. */
interface Added {
  readonly in: 'query' | 'header';
  readonly credential: Credential;
  readonly variables: readonly ApiVariable[];
}

function keyCredential({ name, in: place, isRequired, text }: KeyParameter, prefix: string): Added {
  const variable = secretOf(`${prefix}_${constantOf(name)}`, text, !isRequired);
  return added(place, { name, kind: 'plain' }, variable);
}

function added(
  place: Added['in'],
  credential: Omit<Credential, 'variables'>,
  ...variables: readonly ApiVariable[]
): Added {
  const names = variables.map(({ name }) => name);
  return { in: place, credential: { ...credential, variables: names }, variables };
}

function secretOf(name: string, text: string, isOptional: boolean): ApiVariable {
  return { name, kind: 'secret', text, ...(isOptional && { optional: true }) };
}

/** `X-Api-Key` → `API_KEY`. */
function constantOf(name: string): string {
  const words = name
    .replace(/^x-/i, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return words.toUpperCase().slice(0, 40) || 'KEY';
}

/** A credential of one operation is optional if another operation needs none: only then does nothing fail without it. */
function withCredential(api: Api, { in: place, credential, variables }: Added): Api {
  const part = place === 'query' ? 'query' : 'headers';
  if (api[part].some(({ name }) => name.toLowerCase() === credential.name.toLowerCase())) {
    const needed = new Set(variables.filter(({ optional }) => !optional).map(({ name }) => name));
    return {
      ...api,
      variables: api.variables.map((variable) => {
        if (!needed.has(variable.name)) return variable;
        const { optional: _, ...required } = variable;
        return required;
      }),
    };
  }
  return { ...api, [part]: [...api[part], credential], variables: [...api.variables, ...variables] };
}
