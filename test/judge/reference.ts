import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { readToken, type TokenChecks, type Trust, tokenChecks } from './token.ts';
import { type Data, outcomeOf, type Tool, tools } from './tools.ts';

/** A request that has been read. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if it was too large. */
  readonly body: string | undefined;
  /** Header names as they were written, each followed by its value. */
  readonly raw: readonly string[];
}

/** An answer. A text body is written as it is, anything else as JSON. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether it is written without being ended, as the stream of a session. */
  readonly open?: true;
}

/** A JSON-RPC message with a method. */
export interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/**
 * A tool server in parts. Each part asks the others through this object, so a test replaces one part, and all
 * others stay what they are.
 */
export interface Parts {
  readonly trust: Trust;
  /** name and version (C§2.4). */
  identity: Data;
  capabilities: Data;
  health: () => Reply;
  tools: readonly Tool[];
  /** tools/list, a page of it. */
  list: (cursor: unknown) => Data;
  /** tools/call (C§2.2, C§4.1). */
  run: (name: unknown, args: unknown) => Data | Promise<Data>;
  /** The content and structuredContent of a result. */
  result: (data: Data, isError: boolean) => Data;
  /** The checks that a token must pass. */
  checks: TokenChecks;
  /** Whether the value of the header Authorization is that of the platform (C§5). */
  isPaid: (authorization: string | undefined) => boolean;
  /** Whether a message needs a token (C§5.1, C§5.2). */
  isCharged: (message: unknown) => boolean;
  unauthorized: () => Reply;
  invalidSession: () => Reply;
  sessions: { open(): string; has(id: string): boolean; end(id: string): void };
  sessionOf: (asked: Asked) => string | undefined;
  /** The session of a request that opens none; undefined if it is refused. */
  known: (asked: Asked, message?: Message) => string | undefined;
  parse: (text: string) => unknown;
  /** Each method: the result of a request. */
  methods: Record<string, (params: Data, asked: Asked) => unknown>;
  /** Refuses a POST before its body is parsed. */
  precheck: (asked: Asked) => Reply | undefined;
  /** The HTTP answer that carries a JSON-RPC response. */
  write: (message: Data, headers: Readonly<Record<string, string>>, asked: Asked) => Reply;
  post: (asked: Asked) => Promise<Reply>;
  /** One request in a session. */
  answer: (message: Message, asked: Asked, headers: Readonly<Record<string, string>>) => Promise<Reply>;
  route: (asked: Asked) => Promise<Reply>;
  /** The maximum number of bytes of a body. */
  maximum: number;
  /** Gets the server before it listens. */
  prepare: (server: Server) => void;
  send: (response: ServerResponse, reply: Reply) => void;
}

/** Replaces parts of a server. */
export type Change = (parts: Parts) => void;

/** A server that listens on a free port of loopback. */
export interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

const failure = (id: unknown, code: number, message: string): Data => ({
  jsonrpc: '2.0',
  id: id ?? null,
  error: { code, message },
});

/** MCP versions with sessions. */
const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** A correct tool server, written from the contract and the platform facts alone. */
export function reference(trust: Trust): Parts {
  const open = new Set<string>();
  const parts: Parts = {
    trust,
    identity: { name: 'lakes-and-tides', version: '3.1.4' },
    capabilities: { tools: {} },
    health: () => {
      const { name: server, version } = parts.identity;
      return { status: 200, body: { status: 'ok', server, version } };
    },
    tools,
    list: () => ({ tools: parts.tools.map(({ definition }) => definition) }),
    run(name, args) {
      const tool = parts.tools.find(({ definition }) => definition.name === name);
      if (!tool) return { content: [{ type: 'text', text: `Unknown tool: ${String(name)}` }], isError: true };
      const { data, isError = false } = outcomeOf(tool, args ?? {});
      return parts.result(data, isError);
    },
    result: (data, isError) => ({
      content: [{ type: 'text', text: JSON.stringify(data) }],
      structuredContent: data,
      ...(isError && { isError }),
    }),
    checks: { ...tokenChecks },
    isPaid(authorization = '') {
      const [scheme = '', text = '', ...more] = authorization.split(' ');
      const token = scheme.toLowerCase() === 'bearer' && more.length === 0 ? readToken(text) : undefined;
      return token !== undefined && Object.values(parts.checks).every((holds) => holds(token, trust));
    },
    isCharged: (message) => [message].flat().some((one) => (one as Message | null)?.method === 'tools/call'),
    unauthorized: () => ({ status: 401, body: { error: 'Unauthorized' } }),
    invalidSession: () => ({ status: 400, body: { error: 'Invalid session' } }),
    sessions: {
      open() {
        const id = randomUUID();
        open.add(id);
        return id;
      },
      has: (id) => open.has(id),
      end: (id) => open.delete(id),
    },
    sessionOf: ({ headers }) => headers['mcp-session-id']?.toString(),
    known(asked) {
      const id = parts.sessionOf(asked);
      return id !== undefined && parts.sessions.has(id) ? id : undefined;
    },
    parse: (text) => JSON.parse(text),
    methods: {
      initialize: ({ protocolVersion }) => ({
        protocolVersion: versions.includes(String(protocolVersion)) ? protocolVersion : versions.at(-1),
        capabilities: parts.capabilities,
        serverInfo: parts.identity,
      }),
      ping: () => ({}),
      'tools/list': ({ cursor }) => parts.list(cursor),
      'resources/list': () => ({ resources: [] }),
      'prompts/list': () => ({ prompts: [] }),
      'tools/call': ({ name, arguments: args }) => parts.run(name, args),
    },
    precheck({ headers, body }) {
      if (body === undefined)
        return { status: 413, headers: { connection: 'close' }, body: failure(null, -32600, 'Too large') };
      if (headers.origin !== undefined) return { status: 403, body: failure(null, -32600, 'Foreign origin') };
      const [type = ''] = (headers['content-type'] ?? '').split(';');
      if (type.trim().toLowerCase() === 'application/json') return undefined;
      return { status: 415, body: failure(null, -32600, 'Send application/json') };
    },
    write: (message, headers) => ({ status: 200, headers, body: message }),
    async post(asked) {
      const refused = parts.precheck(asked);
      if (refused) return refused;
      let message: Message;
      try {
        message = parts.parse(asked.body ?? '') as Message;
      } catch {
        return { status: 400, body: failure(null, -32700, 'Not JSON') };
      }
      if (parts.isCharged(message) && !parts.isPaid(asked.headers.authorization)) return parts.unauthorized();
      const problem = problemOf(message);
      if (problem) return { status: 400, body: failure(null, -32600, problem) };
      if (
        message.method === 'initialize' &&
        message.id !== undefined &&
        parts.sessionOf(asked) === undefined
      ) {
        return parts.answer(message, asked, { 'mcp-session-id': parts.sessions.open() });
      }
      if (parts.known(asked, message) === undefined) return parts.invalidSession();
      if (message.id === undefined) return { status: 202 };
      return parts.answer(message, asked, {});
    },
    async answer({ id, method, params }, asked, headers) {
      const name = String(method);
      const act = Object.hasOwn(parts.methods, name) ? parts.methods[name] : undefined;
      if (!act) return parts.write(failure(id, -32601, `No method ${name}`), headers, asked);
      const result = await act((params ?? {}) as Data, asked);
      return parts.write({ jsonrpc: '2.0', id, result }, headers, asked);
    },
    async route(asked) {
      const { method, path } = asked;
      if (path === '/health') return method === 'GET' ? parts.health() : { status: 405 };
      if (path !== '/mcp') return { status: 404 };
      if (method === 'POST') return parts.post(asked);
      if (method !== 'GET' && method !== 'DELETE')
        return { status: 405, headers: { allow: 'GET, POST, DELETE' } };
      const session = parts.known(asked);
      if (session === undefined) return parts.invalidSession();
      if (method === 'GET')
        return { status: 200, headers: { 'content-type': 'text/event-stream' }, open: true };
      parts.sessions.end(session);
      return { status: 204 };
    },
    maximum: 1_000_000,
    prepare: () => {},
    send(response, { status, headers = {}, body, open: isOpen }) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const type = text === undefined ? {} : { 'content-type': 'application/json' };
      response.writeHead(status, { ...type, ...headers });
      if (isOpen) response.flushHeaders();
      else response.end(text);
    },
  };
  return parts;
}

/** Sessions with ids of their own; the first count is 1. */
export const identified =
  (idOf: (count: number) => string): Change =>
  (parts) => {
    const { open, has, end } = parts.sessions;
    const real = new Map<string, string>();
    parts.sessions = {
      open: () => {
        const id = idOf(real.size + 1);
        real.set(id, open());
        return id;
      },
      has: (id) => has(real.get(id) ?? ''),
      end: (id) => end(real.get(id) ?? ''),
    };
  };

/** Why a value is no JSON-RPC 2.0 request or notification; undefined if it is one. */
function problemOf(message: Message | null): string | undefined {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'Send one message';
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return 'Not a JSON-RPC 2.0 request';
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') return 'The id has a wrong type';
  return params === undefined || (typeof params === 'object' && params !== null) ? undefined : 'Wrong params';
}

/** Serves the reference server, changed. */
export async function serve(trust: Trust, change: Change = () => {}): Promise<Served> {
  const parts = reference(trust);
  change(parts);
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const asked = await read(request, parts.maximum).catch(() => undefined);
    if (!asked) return;
    const reply = await parts.route(asked).catch((): Reply => ({ status: 500, body: 'Internal error' }));
    parts.send(response, reply);
  });
  parts.prepare(server);
  return listening(server);
}

/** Listens on a free port of loopback. */
export async function listening(server: Server): Promise<Served> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage, maximum: number): Promise<Asked> {
  const { method = '', url = '/', headers, rawHeaders: raw } = request;
  const path = new URL(url, 'http://localhost').pathname;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maximum) break;
  }
  const body = bytes > maximum ? undefined : Buffer.concat(chunks).toString();
  return { method, path, headers, body, raw };
}
