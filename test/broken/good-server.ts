import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importSPKI, type JWTHeaderParameters, type JWTVerifyResult, jwtVerify } from 'jose';
import { blankResult } from '../../packages/contract/src/definition/outcomes.ts';
import { compileSchema } from '../../packages/contract/src/json/compile.ts';
import { isObject } from '../../packages/contract/src/json/json.ts';
import { mismatchesIn } from '../../packages/contract/src/json/schema.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import { type GoodTool, goodTools, type Outcome } from './good-tools.ts';
import { hasModernHeader, modernAnswer } from './modern-era.ts';
import type { Answer, Message, Request } from './wire.ts';

/** The key and issuer that a server trusts. */
export interface Trust {
  /** PEM (SPKI). */
  readonly publicKey: string;
  readonly issuer: string;
  readonly audience: string;
}

/** The steps of the server. A broken server replaces or wraps some of them. */
export interface Steps {
  /** Answers any HTTP request. */
  answer(request: Request): Promise<Answer>;
  health(): Answer;
  /** The message in a body, or the refusal of the body. */
  parse(request: Request): { readonly message: Message } | Answer;
  /** Whether a message requires a paying caller. */
  isPaid(message: unknown): boolean;
  /** Whether the token header contains a valid token. */
  authorized(header: string | undefined): Promise<boolean>;
  /** Opens a session. */
  open(): string;
  isKnown(session: string | undefined): boolean;
  close(session: string): void;
  /** The members that a response adds to `jsonrpc` and `id`. */
  respond(message: Message): Promise<JsonObject>;
  initialize(params: JsonObject): JsonObject;
  list(): readonly JsonObject[];
  call(params: JsonObject): Promise<JsonObject>;
  /** A tool's outcome as a result. */
  result(outcome: Outcome, tool: GoodTool): JsonObject;
}

/** The changed steps of a broken server. Each gets the good step and all steps in use. */
export type Breaks = { readonly [Name in keyof Steps]?: (good: Steps[Name], steps: Steps) => Steps[Name] };

export interface RunningServer {
  readonly url: string;
  readonly server: Server;
  stop(): Promise<void>;
}

const identity = { name: 'good-server', version: '1.2.3' };
const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const invalidSession: Answer = { status: 400, body: { error: 'Invalid session' } };
const unauthorized: Answer = { status: 401, body: { error: 'Unauthorized' } };
const maximumBytes = 1024 * 1024;
/** The pages that may call the server. */
const pages = 'https://ctxprotocol.com';
const forPages = {
  'access-control-allow-origin': pages,
  'access-control-allow-headers': 'content-type, mcp-session-id',
  'access-control-expose-headers': 'mcp-session-id',
};

/** The steps of a server that meets the whole contract, with some of them replaced. */
export function createSteps(trust: Trust, breaks: Breaks = {}): Steps {
  const tools = new Map(goodTools.map((tool) => [tool.definition.name, tool]));
  const sessions = new Set<string>();
  const key = importSPKI(trust.publicKey, 'RS256');

  const steps: Steps = {
    async answer(request) {
      if (request.path === '/health') return steps.health();
      if (!request.path.endsWith('/mcp')) return { status: 404, body: { error: 'Not found' } };
      const { origin, ...headers } = request.headers;
      if (origin === pages) {
        const answer =
          request.method === 'OPTIONS' ? { status: 204 } : await steps.answer({ ...request, headers });
        return { ...answer, headers: { ...answer.headers, ...forPages } };
      }
      if (origin !== undefined) return { status: 403, body: { error: 'Origin not allowed' } };
      const session = request.headers['mcp-session-id']?.toString();
      switch (request.method) {
        case 'POST':
          return post(request, session);
        case 'GET':
          if (!steps.isKnown(session)) return invalidSession;
          return { status: 200, headers: { 'content-type': 'text/event-stream' }, stream: true };
        case 'DELETE':
          if (session === undefined || !steps.isKnown(session)) return invalidSession;
          steps.close(session);
          return { status: 204 };
        default:
          return { status: 405, body: { error: 'Method not allowed' } };
      }
    },
    health: () => ({ status: 200, body: { status: 'ok', server: identity.name, version: identity.version } }),
    parse(request) {
      const { headers, body } = request;
      const id = hasModernHeader(request) ? undefined : null;
      if (body === undefined) return { status: 413, body: { error: 'Request too large' } };
      if (!/^application\/json(; *charset=[\w-]+)?$/i.test(headers['content-type'] ?? '')) {
        return { status: 415, body: { error: 'Content-Type must be application/json' } };
      }
      try {
        const message: unknown = JSON.parse(body);
        if (isMessage(message)) return { message };
        return steps.isPaid(message) ? unauthorized : rpcError(id, -32600, 'Invalid Request', 400);
      } catch {
        return rpcError(id, -32700, 'Parse error', 400);
      }
    },
    isPaid: (message) =>
      Array.isArray(message)
        ? message.some(steps.isPaid)
        : isObject(message) && message.method === 'tools/call',
    async authorized(header = '') {
      const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? [];
      if (token === undefined) return false;
      return jwtVerify(token, await key, {
        algorithms: ['RS256'],
        issuer: trust.issuer,
        audience: trust.audience,
        requiredClaims: ['exp'],
      }).then(isTimely, () => false);
    },
    open() {
      const session = randomUUID();
      sessions.add(session);
      return session;
    },
    isKnown: (session) => session !== undefined && sessions.has(session),
    close: (session) => sessions.delete(session),
    async respond({ method, params }): Promise<JsonObject> {
      const given = isObject(params) ? params : {};
      switch (method) {
        case 'initialize':
          return { result: steps.initialize(given) };
        case 'ping':
          return { result: {} };
        case 'tools/list':
          if (given.cursor !== undefined) return { error: { code: -32602, message: 'Unknown cursor' } };
          return { result: { tools: steps.list() } };
        case 'resources/list':
          return { result: { resources: [] } };
        case 'prompts/list':
          return { result: { prompts: [] } };
        case 'tools/call':
          return { result: await steps.call(given) };
        default:
          return { error: { code: -32601, message: 'Method not found' } };
      }
    },
    initialize: ({ protocolVersion }) => ({
      protocolVersion: versions.find((version) => version === protocolVersion) ?? versions[0] ?? '',
      capabilities: { tools: {} },
      serverInfo: identity,
    }),
    list: () => goodTools.map(({ definition }) => ({ ...definition })),
    async call({ name, arguments: given = {} }) {
      const tool = typeof name === 'string' ? tools.get(name) : undefined;
      if (!tool) return { isError: true, content: [{ type: 'text', text: `Unknown tool: ${name}` }] };
      const outcome = outcomeOf(tool, given);
      return steps.result(outcome, tool);
    },
    result(outcome, { definition }) {
      const blank = blankResult(definition.outputSchema);
      const base = blank.ok ? blank.result : {};
      switch (outcome.kind) {
        case 'found':
          return resultOf(outcome.data);
        case 'empty':
          return resultOf({ ...base, searchExhausted: true, noResultsReason: outcome.reason });
        case 'fail':
          return { ...resultOf({ ...base, error: outcome.error, message: outcome.message }), isError: true };
      }
    },
  };

  async function post(request: Request, session: string | undefined): Promise<Answer> {
    const parsed = steps.parse(request);
    if (!('message' in parsed)) return parsed;
    const { message } = parsed;
    if (steps.isPaid(message) && !(await steps.authorized(request.headers.authorization)))
      return unauthorized;
    const modern = await modernAnswer(request, message, { identity, respond: steps.respond });
    if (modern) return modern;
    const opens = message.method === 'initialize' && session === undefined;
    if (!opens && !steps.isKnown(session)) return invalidSession;
    const version = request.headers['mcp-protocol-version']?.toString();
    if (!opens && version !== undefined && !versions.includes(version))
      return rpcError(message.id, -32600, 'Unsupported MCP-Protocol-Version', 400);
    if (message.id === undefined) return { status: 202 };
    const response = { jsonrpc: '2.0', id: message.id, ...(await steps.respond(message)) };
    return { status: 200, ...(opens ? { headers: { 'mcp-session-id': steps.open() } } : {}), body: response };
  }

  for (const name of Object.keys(steps) as (keyof Steps)[]) breakStep(steps, name, breaks);
  return steps;
}

/** Serves the steps at 127.0.0.1. `attach` gets the server before it listens. */
export async function serve(
  steps: Steps,
  port = 0,
  attach: (server: Server) => void = () => {},
): Promise<RunningServer> {
  const server = createServer(async (incoming, response) => {
    const { method = 'GET', url = '/', headers, rawHeaders, httpVersion: version } = incoming;
    const names = rawHeaders.filter((_, index) => index % 2 === 0);
    const body = await readBody(incoming).catch(() => '');
    const { pathname, search } = new URL(url, 'http://localhost');
    send(response, await steps.answer({ method, version, path: pathname, search, headers, names, body }));
  });
  attach(server);
  return listening(server, port);
}

/** Starts a server at 127.0.0.1. */
export async function listening(server: Server, port = 0): Promise<RunningServer> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    server,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether a token is a JWT for one server, was not issued in the future and is not valid for longer than ten minutes. */
export function isTimely({ payload, protectedHeader: { typ } }: Verified): boolean {
  const { iat = 0, exp = 0, aud } = payload;
  return typ === 'JWT' && [aud].flat().length === 1 && iat <= Date.now() / 1000 && exp - iat <= 600;
}

type Verified = Pick<JWTVerifyResult, 'payload'> & {
  readonly protectedHeader: JWTHeaderParameters | { typ?: string };
};

/** A successful result of structured data. */
export function resultOf(data: JsonObject): JsonObject {
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}

export function rpcError(id: Json | undefined, code: number, message: string, status = 200): Answer {
  return { status, body: { jsonrpc: '2.0', id, error: { code, message } } };
}

function outcomeOf({ definition, run }: GoodTool, given: Json): Outcome {
  const invalid = (message: string): Outcome => ({ kind: 'fail', error: 'INVALID_ARGUMENTS', message });
  try {
    const args: JsonObject = structuredClone(given as JsonObject);
    const validate = compileSchema(definition.inputSchema, { useDefaults: true });
    return validate(args) ? run(args) : invalid(JSON.stringify(mismatchesIn(validate, args, 'arguments')));
  } catch {
    return invalid('The arguments are nested too deeply.');
  }
}

function breakStep<Name extends keyof Steps>(steps: Steps, name: Name, breaks: Breaks): void {
  const broken = breaks[name];
  if (broken) steps[name] = broken(steps[name], steps);
}

function isMessage(value: unknown): value is Message {
  if (!isObject(value) || value.jsonrpc !== '2.0' || typeof value.method !== 'string') return false;
  const { id, params } = value;
  return (
    (id === undefined || typeof id === 'string' || typeof id === 'number') &&
    (params === undefined || isObject(params))
  );
}

async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes <= maximumBytes) chunks.push(chunk);
  }
  return bytes > maximumBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, headers, body, stream }: Answer): void {
  if (status === 0) return void response.socket?.resetAndDestroy();
  const isAsItIs = typeof body === 'string' || body instanceof Uint8Array;
  const text = isAsItIs ? body : JSON.stringify(body); // undefined stays undefined
  response.writeHead(status, {
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  });
  if (!stream) response.end(text);
  else if (text !== undefined) response.write(text);
  else response.flushHeaders();
}
