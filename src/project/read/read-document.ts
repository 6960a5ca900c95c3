import { setMaxListeners } from 'node:events';
import { basename, dirname, posix } from 'node:path';
import {
  allOf,
  CommandError,
  maskUrl,
  proxyNote,
  readInput,
  uriDecoded,
  utf8Text,
} from 'market-mcp-contract/command';
import { type Beside, nothingBeside } from '../../import/openapi/document-references.ts';
import { isInside, readIn } from './resolve-inside.ts';

/** Limits for documents from the network; the time limit is for all together. */
const maxBytes = 100_000_000;
const maxMs = 60_000;
const maxHops = 3;

/** Names and values of headers. */
export type HeaderPairs = readonly (readonly [string, string])[];

/** A document as text, and its URL if it came from the network. */
export interface DocumentText {
  readonly text: string;
  readonly url: string | null;
  /** What its references may lead to. */
  readonly beside: Beside;
}

/**
 * The text of a document: a file, `-` for standard input, or an http or https URL, which is requested
 * once. Redirects to another host are not followed.
 *
 * @param headers sent with each request; no error contains one
 * @throws CommandError `NOT_READABLE`; `NOT_ANSWERED` when the time limit has passed
 */
export async function readDocumentText(
  place: string,
  headers: HeaderPairs = [],
  ms = maxMs,
): Promise<DocumentText> {
  if (!/^https?:\/\//i.test(place)) {
    const readBeside = place === '-' ? besideInput : besideFile(place);
    return { text: await readInput(place, maxBytes), url: null, beside: readBeside };
  }
  const shownAddress = shownPlace(place);
  if (!URL.canParse(place)) throw unreadable(shownAddress, 'it is not a valid URL', 'Correct the address.');
  const { username, password } = new URL(place);
  if (username !== '' || password !== '')
    throw unreadable('the URL', 'it contains a user', "Give it by --header 'authorization: Basic …'.");
  const signal = AbortSignal.timeout(ms);
  // Each request listens to it, and a document may refer to many others.
  setMaxListeners(0, signal);
  const fetchText = (url: URL) => textFrom(url, { headers, signal, ms });
  const { text, url } = await fetchText(new URL(place));
  return { text, url: url.href, beside: besideUrl(url, async (fileUrl) => (await fetchText(fileUrl)).text) };
}

const besideInput: Beside = {
  ...nothingBeside,
  named: () => ({ why: 'standard input has no folder; save the document to a file' }),
};

/** A path, or a URL without its query and its secrets. */
export function shownPlace(place: string): string {
  if (/^https?:/i.test(place)) return maskUrl(place.replace(/[?#].*$/s, ''));
  return place;
}

/** Documents of the same origin. */
function besideUrl(root: URL, fetchText: (url: URL) => Promise<string>): Beside {
  const nameOf = ({ href }: URL) => href.replace(/#.*$/s, '');
  return {
    named(file, from) {
      const base = from === '' ? root.href : from;
      const url = URL.canParse(file, base) ? new URL(file, base) : null;
      if (url?.origin !== root.origin || url.username !== '' || url.password !== '')
        return { why: `only ${root.origin} is read, where the document is` };
      return { name: nameOf(url) === nameOf(root) ? '' : nameOf(url) };
    },
    read: (name) => fetchText(new URL(name)),
  };
}

interface Request {
  readonly headers: HeaderPairs;
  readonly signal: AbortSignal;
  readonly ms: number;
}

async function textFrom(url: URL, request: Request): Promise<{ readonly text: string; readonly url: URL }> {
  const shownAddress = shownPlace(url.href);
  try {
    return await fetched(url, shownAddress, request);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if ((error as Error).name === 'TimeoutError')
      throw notAnswered(shownAddress, 'it was not read', request.ms);
    const { code = (error as Error).name } = ((error as Error).cause ?? {}) as { code?: string };
    throw unreadable(
      shownAddress,
      `it cannot be fetched (${code})`,
      `Check the address, or save the document to a file.${proxyNote()}`,
    );
  }
}

async function fetched(
  address: URL,
  shownAddress: string,
  { headers: pairs, signal }: Request,
): Promise<{ readonly text: string; readonly url: URL }> {
  let url = address;
  const headers = new Headers(pairs.map(([name, value]): [string, string] => [name, value]));
  if (!headers.has('accept')) headers.set('accept', 'application/json, application/yaml, */*;q=0.5');
  for (let hops = 0; hops <= maxHops; hops += 1) {
    const response = await fetch(url, { redirect: 'manual', signal, headers });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) {
      return { text: await documentText(response, shownAddress), url };
    }
    await response.body?.cancel();
    url = redirectTarget(url, location, shownAddress);
  }
  throw unreadable(shownAddress, 'it redirects in a circle', 'Download the document and use the file.');
}

async function documentText(response: Response, shownAddress: string): Promise<string> {
  const { status } = response;
  if (!response.ok) {
    const needsKey = status === 401 || status === 403;
    const hint = needsKey
      ? "Give its key: --header 'authorization: Bearer …'."
      : 'Open the address in a browser, and correct it.';
    throw unreadable(shownAddress, `the server answers HTTP ${status}`, hint);
  }
  const tooLarge = () =>
    unreadable(shownAddress, `it has more than ${maxBytes} bytes`, 'Use a smaller document.');
  const bytes = await allOf(response.body ?? [], maxBytes, tooLarge);
  return new TextDecoder().decode(bytes);
}

/** Only the same host is followed, because the headers may contain a key. */
function redirectTarget(url: URL, location: string, shownAddress: string): URL {
  const target = URL.canParse(location, url.href) ? new URL(location, url.href) : null;
  const isSafe = target?.protocol === url.protocol || target?.protocol === 'https:';
  if (target?.host === url.host && isSafe) return target;
  const problem = `it redirects to another host, ${maskUrl(target?.href ?? location)}`;
  throw unreadable(shownAddress, problem, 'Use that address if you trust it.');
}

function unreadable(place: string, reason: string, hint: string): CommandError {
  return new CommandError('NOT_READABLE', `${place}: ${reason}`, hint);
}

/** The JSON and YAML files in the folder of a document and below it, without links and hidden files. */
function besideFile(path: string): Beside {
  const [directory, root] = [dirname(path), basename(path)];
  return {
    named(file, from) {
      if (/^(?:[a-z][a-z\d+.-]+:|\/\/)/i.test(file))
        return { why: 'only files beside the document are read' };
      const path = uriDecoded(file);
      const folder = posix.dirname(from === '' ? root : from);
      const name = posix.isAbsolute(path) ? path : posix.join(folder, path);
      if (!isInside(name) || name.includes('#')) return { why: 'it is not in the folder of the document' };
      if (name === root) return { name: '' };
      if (!/\.(?:json|ya?ml)$/i.test(name) || /(?:^|\/)\./.test(name))
        return {
          why: 'only .json, .yaml and .yml files are read, and none with a name that starts with a dot',
        };
      return { name };
    },
    async read(name) {
      try {
        return utf8Text(readIn(directory, name), name);
      } catch (error) {
        if (error instanceof CommandError) throw error;
        const { code } = error as NodeJS.ErrnoException;
        const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
        throw new CommandError('NOT_READABLE', `${name}: ${reason}`, 'Check the path.', { cause: error });
      }
    },
  };
}

/** The error of a server whose answer is not complete when a time limit has passed. */
export function notAnswered(place: string, problem: string, ms: number): CommandError {
  const message = `${place}: ${problem} within ${ms / 1_000} seconds`;
  const hint = `Check that the server works, or save its answer to a file and give that.${proxyNote()}`;
  return new CommandError('NOT_ANSWERED', message, hint);
}
