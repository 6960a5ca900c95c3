import type { TokenRules } from './auth.ts';
import type { Tool } from './define-tool.ts';
import { definitionOf, type ServerInfo } from './mcp.ts';

/** The files under `/.well-known/`, by their names there, such as `mcp/server-card.json`. */
export interface WellKnown {
  readonly [name: string]: string | object | true | undefined;
}

/** A file as it is answered. */
export interface WellKnownFile {
  readonly headers: { readonly [name: string]: string | number };
  readonly body: string;
}

const directory = '/.well-known/';
const serverCard = 'mcp/server-card.json';
const nameForm = /^[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/;

/**
 * The files of `wellKnown`, by their paths. One that is undefined or empty text does not exist.
 *
 * @param others paths that are answered otherwise
 * @throws Error that names a file that cannot be served
 */
export function wellKnownOf(
  { wellKnown = {}, ...server }: CardSubject & { readonly wellKnown?: WellKnown },
  tools: readonly Tool[],
  others: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, WellKnownFile> {
  const files = new Map<string, WellKnownFile>();
  for (const [name, value] of Object.entries(wellKnown)) {
    const place = `wellKnown: ${JSON.stringify(name)}`;
    if (!nameForm.test(name)) {
      throw new Error(
        `${place}: expected the name of a file under ${directory}, such as "openai-apps-challenge": letters, digits, "-", "_", "~", ".", and "/" between names that do not start with ".".`,
      );
    }
    if (value === undefined || value === '') continue;
    const path = directory + name;
    if (others.has(path)) throw new Error(`${place} is a route, too: remove one of them.`);
    files.set(path, fileOf(name, value === true ? cardOf(name, place, server, tools) : value, place));
  }
  return files;
}

function fileOf(name: string, value: unknown, place: string): WellKnownFile {
  const isText = typeof value === 'string';
  if (isText && name.endsWith('.json')) {
    throw new Error(`${place}: expected an object, which is sent as JSON, got text.`);
  }
  if (!isText && (typeof value !== 'object' || value === null)) {
    throw new Error(`${place}: expected text, or an object, which is sent as JSON.`);
  }
  const body = isText ? value : jsonOf(value, place);
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
  // Directories read the files on demand, after a change or a deployment.
  const headers = { 'content-type': type, 'cache-control': 'no-cache' };
  return { headers: { ...headers, 'content-length': Buffer.byteLength(body) }, body };
}

function jsonOf(value: unknown, place: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new Error(`${place} cannot be sent as JSON: ${(error as Error).message.split('\n')[0]}`);
  }
}

interface CardSubject extends ServerInfo {
  readonly token: Pick<TokenRules, 'header' | 'scheme'> | null;
}

/** The server card that Smithery reads where it cannot scan a server: what discovery says, and that calls need a token. */
function cardOf(name: string, place: string, server: CardSubject, tools: readonly Tool[]): object {
  if (name !== serverCard) {
    throw new Error(`${place}: only "${serverCard}" can be made from the tools; give text or an object.`);
  }
  const { token } = server;
  const schemes = token === null ? [] : [token.scheme.toLowerCase() || token.header];
  return {
    serverInfo: { name: server.name, version: server.version },
    authentication: { required: token !== null, schemes },
    tools: tools.map(definitionOf),
    resources: [],
    prompts: [],
  };
}
