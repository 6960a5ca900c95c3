import {
  CommandError,
  hasUrlSecret,
  maskJson,
  maskUrl,
  proxyNote,
  urlMasker,
} from 'market-mcp-contract/command';
import { bounds, isObject, type Json, type JsonObject, objectOr, textOr } from 'market-mcp-contract/json';
import { mcp } from 'market-mcp-contract/platforms';
import {
  fetchToolList,
  Hang,
  isDeniedByStatus,
  metaKey,
  modernRpc,
  modernVersion,
  nextId,
  Probe,
  type RpcAnswer,
  redirectTarget,
  rpcAnswer,
  rpcRequest,
} from 'market-mcp-contract/wire';
import type { ListedServer } from '../../import/mcp-tools.ts';
import { notAnswered } from '../read/read-document.ts';

/** Time limits in milliseconds: of each answer, and of the whole import, whatever the server sends. */
const maxMs = { answer: 20_000, list: 60_000 };

/** The newest version of MCP with sessions. */
const sessionsVersion = '2025-11-25';

/** A server does not list its tools without a valid token. */
export class TokenRefusal extends CommandError {
  constructor(url: string, reason: string, hint: string) {
    super('NOT_READABLE', `${url}: ${reason}`, hint);
  }
}

/** A server answered, but not with a list of tools: it may have another form. */
class NoList extends Error {}

/** A server redirects to another address. */
class Redirect extends Error {}

type Listed = Omit<ListedServer, 'url'>;
type Answered = (answer: Promise<RpcAnswer>) => Promise<RpcAnswer>;

/**
 * The tools that a running MCP server lists, read with limits of time and size. Redirects are not followed, and no tool is
 * called. Secrets of the URL are masked in what the server says.
 *
 * @param token sent as a bearer token if the server requires one
 * @throws CommandError `NOT_READABLE`, as `TokenRefusal` if a token is asked for; `NOT_ANSWERED` when a time limit has passed
 */
export async function listServer(
  url: string,
  token: string | undefined,
  { list: listMs, answer: timeoutMs } = maxMs,
): Promise<ListedServer> {
  const shownUrl = maskUrl(url.replace(/[?#].*$/s, ''));
  const mask = urlMasker([url]);
  const withoutSecrets = (listed: Listed) => (hasUrlSecret(url) ? maskJson(listed, mask) : listed);
  const failed = (reason: string, hint = 'Check the address: it is the MCP endpoint, such as', note = '') =>
    new CommandError(
      'NOT_READABLE',
      mask(`${shownUrl}: ${reason}`),
      `${hint} https://tools.example.com/mcp.${note}`,
    );
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain = parsed?.username === '' && parsed.password === '' && /^https?:$/.test(parsed.protocol);
  if (!isPlain) throw failed('it is not an http or https URL without a user');
  const headers: Readonly<Record<string, string>> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const timeout = AbortSignal.timeout(listMs);
  const probe = new Probe({ url, profile: mcp, headers, timeoutMs }, timeout);
  const answered: Answered = async (pendingAnswer) => {
    const answer = await pendingAnswer.catch((error: unknown) => {
      throw error instanceof Hang ? notAnswered(shownUrl, 'it did not answer', timeoutMs) : error;
    });
    if (isDeniedByStatus(answer.http))
      throw new TokenRefusal(
        shownUrl,
        token === undefined ? 'it asks for a token' : 'it refuses the token',
        'Set MCP_SOURCE_TOKEN in the environment to a valid token, and add --env MCP_SOURCE_TOKEN.',
      );
    return answer;
  };
  try {
    const listed = await orNoList(inSession(probe, answered));
    if (!(listed instanceof NoList)) return { url, ...withoutSecrets(listed) };
    const sessionless = await orNoList(withoutSession(probe, answered));
    if (!(sessionless instanceof NoList)) return { url, ...withoutSecrets(sessionless) };
    if (!(await hasOldTransport(url, headers))) throw listed;
    const sessionlessReason =
      'it speaks only HTTP+SSE (MCP 2024-11-05), and calls are forwarded by Streamable HTTP';
    throw failed(sessionlessReason, 'Give its endpoint for Streamable HTTP if it has one, often such as');
  } catch (error) {
    if (timeout.aborted) throw notAnswered(shownUrl, 'its tools were not listed', listMs);
    if (error instanceof CommandError) throw error;
    if (error instanceof Redirect)
      throw new CommandError(
        'NOT_READABLE',
        mask(`${shownUrl}: it redirects to ${error.message}`),
        'Redirects are not followed: give that address if you trust it.',
      );
    const reason = (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 200);
    throw failed(`its tools cannot be listed: ${reason}`, undefined, proxyNote());
  } finally {
    await probe.close();
  }
}

async function orNoList(pendingList: Promise<Listed>): Promise<Listed | NoList> {
  return pendingList.catch((error: unknown) => {
    if (error instanceof NoList) return error;
    throw error;
  });
}

/** The tools of a server with sessions, or of one that answers without them. */
async function inSession(probe: Probe, answered: Answered): Promise<Listed> {
  const initialized = await answered(probe.initialize(sessionsVersion));
  const { result, http, error } = initialized;
  if (!result) {
    const target = redirectTarget(http);
    if (target !== undefined) throw new Redirect(target);
    throw new NoList(textOr(error?.message, `HTTP ${http.status} without a result`));
  }
  const session = await probe.confirmSession(initialized);
  const version = typeof result.protocolVersion === 'string' ? result.protocolVersion : undefined;
  const options = { session, headers: { 'mcp-protocol-version': version } };
  const tools = await allPages(async (params) => {
    const id = nextId();
    return answered(
      probe.post(rpcRequest(id, 'tools/list', params), options).then((answer) => rpcAnswer(answer, id)),
    );
  });
  return { title: serverTitle(result.serverInfo), tools };
}

/** The tools of a server that speaks only the stateless revision. */
async function withoutSession(probe: Probe, answered: Answered): Promise<Listed> {
  let title = '';
  const tools = await allPages(async (params) => {
    const answer = await answered(modernRpc(probe, 'tools/list', objectOr(params)));
    title = serverTitle(objectOr(answer.result?._meta)[metaKey('serverInfo')]);
    return answer;
  });
  return { title, tools, protocolVersion: modernVersion };
}

function serverTitle(serverInfo: Json | undefined): string {
  const { name } = objectOr(serverInfo);
  if (typeof name === 'string') return name;
  return '';
}

async function allPages(ask: (params?: Json) => Promise<RpcAnswer>): Promise<readonly JsonObject[]> {
  const { tools, isComplete, fault } = await fetchToolList(ask);
  if (fault) throw fault.noAnswer ?? new NoList(fault.problem.actual);
  if (!isComplete)
    throw new Error(`its list of tools has more than ${bounds.tools} tools or ${bounds.pages} pages`);
  if (tools.length === 0) throw new Error('it lists no tools');
  return tools.filter(isObject);
}

/** Milliseconds until the first event of a stream, and its characters. */
const firstEventMs = 5_000;
const longestEvent = 10_000;

/** Whether a GET opens a stream that names the endpoint for messages: the transport of MCP 2024-11-05. */
async function hasOldTransport(url: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const { body } = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream' },
      redirect: 'error',
      signal: AbortSignal.timeout(firstEventMs),
    });
    let text = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/\r?\n\r?\n/.test(text) || text.length > longestEvent) break;
    }
    return /^event: ?endpoint\r?$/m.test(text);
  } catch {
    return false;
  }
}
