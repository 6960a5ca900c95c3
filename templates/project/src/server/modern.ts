import type { IncomingHttpHeaders } from 'node:http';
import type { Tool } from './define-tool.ts';
import {
  ErrorCode,
  isQuiet,
  isRequest,
  type Method,
  paidMethod,
  type RequestId,
  type ServerInfo,
} from './mcp.ts';
import { isObject, type Members } from './schema.ts';

/** The stateless revision of MCP. */
export const modernVersion = '2026-07-28';

/** How long a client may cache a list in production, in milliseconds. A platform may miss new tools for this time. */
const freshMs = 60_000;

/** Error codes that the revision defines. */
const ModernCode = { HeaderMismatch: -32020, UnsupportedProtocolVersion: -32022 } as const;

export interface Refusal {
  readonly status: 400 | 404;
  readonly reply: {
    readonly jsonrpc: '2.0';
    /** Absent if the request has no valid id. */
    readonly id?: RequestId;
    readonly error: { readonly code: number; readonly message: string; readonly data?: object };
  };
}

/** Serves requests of the stateless revision. It keeps no state between requests. */
export interface Modern {
  readonly methods: ReadonlyMap<string, Method>;
  /** Names of its request headers, lower case, including those that repeat arguments. */
  readonly headers: readonly string[];
  /** Checks a body before a method runs; null if it is valid. */
  refusalOf(body: unknown, headers: IncomingHttpHeaders): Refusal | null;
}

const metaKey = (name: string) => `io.modelcontextprotocol/${name}`;
const versionKey = metaKey('protocolVersion');

/** Whether the header or the `_meta` of a message names the stateless revision or a later one. */
export function isModern(body: unknown, headers: IncomingHttpHeaders): boolean {
  const version = textOf(headers['mcp-protocol-version']);
  if (version !== null && /^\d{4}-\d\d-\d\d$/.test(version) && version >= modernVersion) return true;
  const messages = Array.isArray(body) ? body : [body];
  return messages.some((message) => versionKey in metaOf(message));
}

export function createModern(
  methods: ReadonlyMap<string, Method>,
  { name, version, production }: ServerInfo & { readonly production: boolean },
  tools: readonly Tool[],
): Modern {
  const info = { name, version };
  const ttlMs = production ? freshMs : 0;
  const complete = `{"resultType":"complete","_meta":${JSON.stringify({ [metaKey('serverInfo')]: info })}`;
  const cacheable = `${complete},"ttlMs":${ttlMs},"cacheScope":"public"`;
  const discovered = JSON.stringify({ supportedVersions: [modernVersion], capabilities: { tools: {} } });
  const resultsOf = (method: string): Method => {
    const run = methods.get(method);
    const head = method === paidMethod ? complete : cacheable;
    return async (params, onGone) => `${head},${(await run?.(params, onGone))?.slice(1)}`;
  };
  const served = new Map<string, Method>([
    ['server/discover', () => `${cacheable},${discovered.slice(1)}`],
    ...['tools/list', paidMethod].map((method) => [method, resultsOf(method)] as const),
  ]);
  const mirrors = new Map(tools.map(({ name, inputSchema }) => [name, mirrorsIn(inputSchema)]));

  return {
    methods: served,
    headers: ['mcp-method', 'mcp-name', ...new Set([...mirrors.values()].flat().map(({ header }) => header))],
    refusalOf(body, headers) {
      if (!isObject(body)) return refusal(ErrorCode.InvalidRequest, 'Expected one JSON-RPC message');
      if (!isRequest(body)) {
        const isNotification = isQuiet(body) && 'method' in body;
        return isNotification ? null : refusal(ErrorCode.InvalidRequest, 'Expected a request');
      }
      const { id, method, params = {} } = body;
      const meta = metaOf(body);
      const refused = (code: number, message: string, data?: object) => refusal(code, message, id, data);
      const mismatch = (header: string) =>
        refused(ModernCode.HeaderMismatch, `${header} differs from the body`);

      const version = meta[versionKey];
      if (version === undefined && method === 'initialize') return mismatch('MCP-Protocol-Version');
      if (typeof version !== 'string') return refused(ErrorCode.InvalidParams, `_meta lacks ${versionKey}`);
      if (textOf(headers['mcp-protocol-version']) !== version) return mismatch('MCP-Protocol-Version');
      if (version !== modernVersion) {
        const data = { supported: [modernVersion], requested: version };
        return refused(ModernCode.UnsupportedProtocolVersion, 'Unsupported protocol version', data);
      }
      if (textOf(headers['mcp-method']) !== method) return mismatch('Mcp-Method');
      const missing = misshapenIn(meta);
      if (missing) return refused(ErrorCode.InvalidParams, `_meta: expected ${missing}`);
      if (!served.has(method)) {
        return { ...refused(ErrorCode.MethodNotFound, 'Method not found'), status: 404 };
      }
      if (method !== paidMethod) return null;

      const { name, arguments: args } = params;
      if (typeof name !== 'string')
        return refused(ErrorCode.InvalidParams, 'params.name: expected a tool name');
      if (decoded(headers['mcp-name']) !== name) return mismatch('Mcp-Name');
      const differs = mirrors.get(name)?.find(({ header, path }) => {
        return !repeats(headers[header], valueAt(args, path));
      });
      return differs ? mismatch(differs.header) : null;
    },
  };
}

function refusal(code: number, message: string, id?: RequestId, data?: object): Refusal {
  return { status: 400, reply: { jsonrpc: '2.0', id, error: { code, message, data } } };
}

function metaOf(message: unknown): Members {
  const params = isObject(message) ? message.params : undefined;
  return isObject(params) && isObject(params._meta) ? params._meta : {};
}

/** The expected form of the first invalid entry in `_meta`; null if all are valid. */
function misshapenIn(meta: Members): string | null {
  const [capabilities, client] = [metaKey('clientCapabilities'), metaKey('clientInfo')];
  if (!isObject(meta[capabilities])) return `an object as ${capabilities}`;
  const info = meta[client];
  if (info === undefined) return null;
  const isComplete = isObject(info) && typeof info.name === 'string' && typeof info.version === 'string';
  return isComplete ? null : `a name and a version in ${client}`;
}

/** A trimmed header; null if it is absent or has invalid characters. */
function textOf(value: string | readonly string[] | undefined): string | null {
  const text = value?.toString();
  return text === undefined || /[^\t\x20-\x7e]/.test(text) ? null : text.replace(/^[\t ]+|[\t ]+$/g, '');
}

/** Decodes a header whose value may be base64 of UTF-8: `=?base64?…?=`. */
function decoded(value: string | readonly string[] | undefined): string | null {
  const text = textOf(value);
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(text ?? '') ?? [];
  if (base64 === undefined) return text;
  const plain = Buffer.from(base64, 'base64').toString();
  return Buffer.from(plain).toString('base64') === base64 ? plain : null;
}

/** An argument that a header repeats, so that a proxy can route calls without reading bodies. */
interface Mirror {
  readonly header: string;
  /** Property names that lead to the argument. */
  readonly path: readonly string[];
}

/** The arguments that an inputSchema marks with `x-mcp-header`. */
export function mirrorsIn(schema: unknown, path: readonly string[] = []): readonly Mirror[] {
  if (!isObject(schema)) return [];
  const marked = schema['x-mcp-header'];
  const own = typeof marked === 'string' ? [{ header: `mcp-param-${marked.toLowerCase()}`, path }] : [];
  const { properties } = schema;
  const inner = isObject(properties) ? Object.entries(properties) : [];
  return [...own, ...inner.flatMap(([name, property]) => mirrorsIn(property, [...path, name]))];
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((member, name) => {
    return isObject(member) && Object.hasOwn(member, name) ? member[name] : undefined;
  }, value);
}

/** Whether a header repeats an argument. Numbers are compared by value. An absent or null argument has no header. */
function repeats(header: string | readonly string[] | undefined, value: unknown): boolean {
  if (value === undefined || value === null) return header === undefined;
  const text = decoded(header);
  if (typeof value !== 'number') return text === String(value);
  return text !== null && /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value;
}
