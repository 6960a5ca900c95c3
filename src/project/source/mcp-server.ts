import { setTimeout as startTimer } from 'node:timers';
import { CommandError } from 'market-mcp-contract/command';
import { bounds, isObject, type Json, type JsonObject } from 'market-mcp-contract/json';
import {
  connect,
  type Guarded,
  guardedFetch,
  isEventStream,
  metaKey,
  modernMessage,
  modernVersion,
  valuesIn,
} from 'market-mcp-contract/wire';
import type { ListedServer } from '../../import/mcp.ts';
import { notAnswered } from '../read/document.ts';

/** Time limits in milliseconds: of each answer, and of the whole import, whatever the server sends. */
const maxMs = { answer: 20_000, list: 60_000 };

/**
 * The tools that a running MCP server lists, read with limits of time and size. Redirects are not followed, and no tool is
 * called.
 *
 * @param token sent as a bearer token if the server requires one
 * @throws CommandError `NOT_READABLE`; `NOT_ANSWERED` when a time limit has passed
 */
export async function listServer(
  url: string,
  token: string | undefined,
  { list: listMs, answer: timeoutMs } = maxMs,
): Promise<ListedServer> {
  const shown = url.replace(/[?#].*$/s, '');
  const failed = (why: string, hint = 'Check the address: it is the MCP endpoint, such as') =>
    new CommandError('NOT_READABLE', `${shown}: ${why}`, `${hint} https://tools.example.com/mcp.`);
  const isPlain =
    URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).username === '';
  if (!isPlain) throw failed('it is not an http or https URL without a user');
  const ending = new AbortController();
  const { signal } = ending;
  const endLate = (what: string, ms: number): Error => {
    const late = notAnswered(shown, what, ms);
    ending.abort(late);
    return late;
  };
  const timer = startTimer(() => endLate('its tools were not listed', listMs), listMs);
  const access: Access = {
    url: new URL(url),
    token: token === undefined ? undefined : async () => token,
    listMs,
    guarded: {
      timeoutMs,
      signal,
      admit: () => signal.throwIfAborted(),
      onLate: (ms) => endLate('it did not answer', ms),
    },
  };
  const listed = async (): Promise<ListedServer> => {
    try {
      return { url, ...(await withSession(access)) };
    } catch (error) {
      // An answer other than a refusal may come from a server without sessions.
      const { code } = error as { readonly code?: unknown };
      if (typeof code !== 'number' || code === 401 || code === 403) throw failed(reasonOf(error as Error));
      const other = await withoutSession(access).catch((reason: Error) => reason);
      if (!(other instanceof Error)) return { url, ...other };
      if (await hasOldTransport(access)) {
        const why = 'it speaks only HTTP+SSE (MCP 2024-11-05), and calls are forwarded by Streamable HTTP';
        throw failed(why, 'Give its endpoint for Streamable HTTP if it has one, often such as');
      }
      // An error without a status concerns the tools of a server that speaks this version.
      throw failed(reasonOf('code' in other ? (error as Error) : other));
    }
  };
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  try {
    return await Promise.race([listed(), ended]);
  } finally {
    clearTimeout(timer);
    ending.abort(); // a stream may still be open
  }
}

interface Access {
  readonly url: URL;
  readonly listMs: number;
  readonly token: (() => Promise<string>) | undefined;
  readonly guarded: Guarded;
}

type Listed = Omit<ListedServer, 'url'>;

async function withSession({ url, token, listMs, guarded }: Access): Promise<Listed> {
  const session = await connect({
    url,
    headers: {},
    token,
    platform: { header: 'authorization', scheme: 'Bearer' },
    redirect: 'error',
    ...guarded,
  });
  try {
    const { client } = session;
    const options = { timeout: listMs, ...(guarded.signal && { signal: guarded.signal }) };
    const tools = await allPages(async (cursor) => {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, options);
      return { tools: page.tools as unknown as JsonObject[], nextCursor: page.nextCursor };
    });
    return { title: client.getServerVersion()?.name ?? '', tools };
  } finally {
    await session.close();
  }
}

/** The tools of a server that speaks only the stateless revision. */
async function withoutSession(access: Access): Promise<Listed> {
  let title = '';
  const tools = await allPages(async (cursor) => {
    const page = await statelessPage(access.url.href, cursor, authorizedFetch(access));
    title = page.title;
    return page;
  });
  return { title, tools, protocolVersion: modernVersion };
}

/** `fetch` with limits of time and size, and with the token; it follows no redirect. */
function authorizedFetch({ token, guarded }: Access): typeof fetch {
  const send = guardedFetch(guarded);
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (token) headers.set('authorization', `Bearer ${await token()}`);
    return send(input, { ...init, headers, redirect: 'error' });
  };
}

/** Milliseconds until the first event of a stream, and its characters. */
const firstEventMs = 5_000;
const longestEvent = 10_000;

/** Whether a GET opens a stream that names the endpoint for messages: the transport of MCP 2024-11-05. */
async function hasOldTransport(access: Access): Promise<boolean> {
  const ending = new AbortController();
  const timer = startTimer(() => ending.abort(), firstEventMs);
  try {
    const { body, headers } = await authorizedFetch(access)(access.url, {
      method: 'GET',
      headers: { accept: 'text/event-stream' },
      signal: ending.signal,
    });
    if (!body || !isEventStream(headers.get('content-type'))) return false;
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (/^event: ?endpoint\r?$/m.test(text)) return true;
      if (/\r?\n\r?\n/.test(text) || text.length > longestEvent) return false;
    }
    return false;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

interface Page {
  readonly tools: readonly JsonObject[];
  readonly nextCursor: string | undefined;
}

async function allPages(
  pageAt: (cursor: string | undefined) => Promise<Page>,
): Promise<readonly JsonObject[]> {
  const tools: JsonObject[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    if (pages >= bounds.pages || tools.length > bounds.tools)
      throw new Error(`its list of tools has more than ${bounds.tools} tools or ${bounds.pages} pages`);
    const page = await pageAt(cursor);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  }
  if (tools.length === 0) throw new Error('it lists no tools');
  return tools;
}

/**
 * Requests one page of tools by MCP 2026-07-28.
 *
 * @param send as of `authorizedFetch`
 * @throws Error with the server's answer
 */
async function statelessPage(
  url: string,
  cursor: string | undefined,
  send: typeof fetch,
): Promise<Page & { readonly title: string }> {
  const { body, headers } = modernMessage('tools/list', cursor === undefined ? {} : { cursor });
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await send(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...Object.fromEntries(given),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const values = valuesIn(text, response.headers.get('content-type'));
  const answer = values.find((value): value is JsonObject => isObject(value) && value.id === body.id);
  if (!isObject(answer?.result) || !Array.isArray(answer.result.tools))
    throw Object.assign(new Error(refusalOf(answer?.error, response.status)), { code: response.status });
  const { tools, nextCursor, _meta } = answer.result;
  const info = isObject(_meta) ? _meta[metaKey('serverInfo')] : undefined;
  return {
    tools: tools.filter(isObject),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
    title: isObject(info) && typeof info.name === 'string' ? info.name : '',
  };
}

function refusalOf(error: Json | undefined, status: number): string {
  return isObject(error) && typeof error.message === 'string'
    ? error.message
    : `HTTP ${status} without a list of tools`;
}

/** The message of an error on one line; text from a server is truncated. The SDK's errors use the HTTP status as code. */
function reasonOf(error: Error): string {
  const { message, cause, code: status } = error as Error & { readonly code?: unknown };
  if (status === 401 || status === 403)
    return 'it asks for a token: set one in the environment as MCP_SOURCE_TOKEN';
  const { code } = (cause ?? {}) as { code?: string };
  const text = code === undefined ? message : `${message} (${code})`;
  return `its tools cannot be listed: ${text.replaceAll(/\s+/g, ' ').slice(0, 200)}`;
}
