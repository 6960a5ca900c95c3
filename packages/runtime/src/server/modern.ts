// The stateless era of MCP (2026-07-28): its methods and the checks of its headers.

import type { IncomingHttpHeaders } from 'node:http';
import type { Tool } from './define-tool.ts';
import {
  ErrorCode,
  type ErrorReply,
  errorReply,
  isNotification,
  isRequest,
  type McpMethod,
  type Request,
  type RequestId,
  requestMeta,
} from './json-rpc.ts';
import { isImplementation, type ServerInfo } from './mcp-methods.ts';
import { isObject } from './schema.ts';
import { paidMethod } from './tools-call.ts';

/** The stateless revision of MCP. */
export const modernVersion = '2026-07-28';

/** How long a client may cache the tool list in production, in milliseconds. A platform may miss new tools for this time. */
const freshMs = 60_000;

/** Error codes that the revision defines. */
const ModernCode = { HeaderMismatch: -32020, UnsupportedProtocolVersion: -32022 } as const;

/** The methods and the checks of the stateless revision. It keeps no state between requests. */
export interface ModernEra {
  readonly methods: ReadonlyMap<string, McpMethod>;
  /** Names of its request headers, lower case, including those that repeat arguments. */
  readonly headers: readonly string[];
  /** Returns the error for an invalid body; null if a method may run. The error has an id only if the body is a request. */
  refusalOf(body: unknown, headers: IncomingHttpHeaders): ErrorReply | null;
}

/** The name of a member of `_meta` that the revision defines. */
export const metaKey = (name: string) => `io.modelcontextprotocol/${name}`;
const versionKey = metaKey('protocolVersion');
const capabilitiesKey = metaKey('clientCapabilities');
const clientKey = metaKey('clientInfo');

/** Whether the header or the `_meta` of a message names the stateless revision or a later one. */
export function isModern(body: unknown, headers: IncomingHttpHeaders): boolean {
  const version = headers['mcp-protocol-version']?.toString() ?? '';
  if (version === modernVersion) return true;
  if (/^\d{4}-\d\d-\d\d$/.test(version) && version >= modernVersion) return true;
  const messages = Array.isArray(body) ? body : [body];
  return messages.some((message) => versionKey in requestMeta(message));
}

export function createModernEra(
  methods: ReadonlyMap<string, McpMethod>,
  { name, version, production }: ServerInfo & { readonly production: boolean },
  tools: readonly Tool[],
): ModernEra {
  const completeMembers = { resultType: 'complete', _meta: { [metaKey('serverInfo')]: { name, version } } };
  const cacheableMembers = { ...completeMembers, ttlMs: production ? freshMs : 0, cacheScope: 'public' };
  const discoverResult = {
    ...cacheableMembers,
    supportedVersions: [modernVersion],
    capabilities: { tools: {} },
  };
  /** Adds these members to the results of a method. */
  const methodEntry = (method: string, members: object): readonly [string, McpMethod] => {
    const leadingMembers = `${JSON.stringify(members).slice(1, -1)},`;
    const run = methods.get(method) as McpMethod;
    return [method, (params, context) => run(params, context, leadingMembers)];
  };
  const modernMethods = new Map<string, McpMethod>([
    ['server/discover', () => JSON.stringify(discoverResult)],
    methodEntry('tools/list', cacheableMembers),
    methodEntry(paidMethod, completeMembers),
  ]);
  const mirroringTools = tools.filter(({ inputSchema }) => mirroredArguments(inputSchema).length > 0);
  const mirrors = mirroringTools.flatMap(({ inputSchema }) => mirroredArguments(inputSchema));
  /** The tool names that a header contains without an encoding. Decoding is not necessary for most calls. */
  const plainNames = new Set(tools.map(({ name }) => name).filter((name) => decodeHeader(name) === name));

  return {
    methods: modernMethods,
    headers: ['mcp-method', 'mcp-name', ...new Set(mirrors.map(({ header }) => header))],
    refusalOf(body, headers) {
      if (isNotification(body)) return null;
      if (!isRequest(body)) return errorReply(ErrorCode.InvalidRequest, 'Expected one request');
      const refusal = versionRefusal(body, headers) ?? clientRefusal(body, headers);
      if (refusal) return refusal;
      const { id, method } = body;
      if (!modernMethods.has(method)) return errorReply(ErrorCode.MethodNotFound, 'Method not found', id);
      if (method === paidMethod) return callRefusal(body, headers, plainNames, mirroringTools);
      return null;
    },
  };
}

function invalidParams(id: RequestId, message: string): ErrorReply {
  return errorReply(ErrorCode.InvalidParams, message, id);
}

function headerMismatch(id: RequestId, header: string): ErrorReply {
  return errorReply(ModernCode.HeaderMismatch, `${header} differs from the body`, id);
}

/** Refuses a request whose header and `_meta` do not both name the stateless revision. */
function versionRefusal(body: Request, headers: IncomingHttpHeaders): ErrorReply | null {
  const { id, method } = body;
  const version = requestMeta(body)[versionKey];
  if (version === undefined && method === 'initialize') return headerMismatch(id, 'MCP-Protocol-Version');
  if (typeof version !== 'string') return invalidParams(id, `_meta lacks ${versionKey}`);
  if (headers['mcp-protocol-version'] !== version) return headerMismatch(id, 'MCP-Protocol-Version');
  if (version === modernVersion) return null;
  const data = { supported: [modernVersion], requested: version };
  return errorReply(ModernCode.UnsupportedProtocolVersion, 'Unsupported protocol version', id, data);
}

/** Refuses a request whose `_meta` does not describe its client. */
function clientRefusal(body: Request, headers: IncomingHttpHeaders): ErrorReply | null {
  const { id, method } = body;
  if (headers['mcp-method'] !== method) return headerMismatch(id, 'Mcp-Method');
  const { [capabilitiesKey]: capabilities, [clientKey]: client } = requestMeta(body);
  if (!isObject(capabilities)) return invalidParams(id, `_meta: expected an object as ${capabilitiesKey}`);
  if (client === undefined || isImplementation(client)) return null;
  return invalidParams(id, `_meta: expected a name and a version in ${clientKey}`);
}

/** Refuses a call whose headers name another tool, or repeat other arguments. */
function callRefusal(
  { id, params = {} }: Request,
  headers: IncomingHttpHeaders,
  plainNames: ReadonlySet<string>,
  mirroringTools: readonly Tool[],
): ErrorReply | null {
  const { name, arguments: args } = params;
  if (typeof name !== 'string') return invalidParams(id, 'params.name: expected a tool name');
  const headerName = headers['mcp-name'];
  const isPlain = headerName === name && plainNames.has(name);
  if (!isPlain && decodeHeader(headerName) !== name) return headerMismatch(id, 'Mcp-Name');
  if (mirroringTools.length === 0) return null;
  const tool = mirroringTools.find((mirroredTool) => mirroredTool.name === name);
  const ownMirrors = mirroredArguments(tool?.inputSchema, args);
  const differingMirror = ownMirrors.find(({ header, value }) => !matchesArgument(headers[header], value));
  if (differingMirror) return headerMismatch(id, differingMirror.header);
  return null;
}

type Header = IncomingHttpHeaders[string];

/** The text of a header, decoded if it is base64 of UTF-8 (`=?base64?…?=`). Null if the header is absent or has invalid characters. */
function decodeHeader(header: Header): string | null {
  const text = header?.toString();
  if (text === undefined || /[^\t\x20-\x7e]/.test(text)) return null;
  const base64 = /^=\?base64\?(.*)\?=$/.exec(text)?.[1];
  if (base64 === undefined) return text;
  const plainText = Buffer.from(base64, 'base64').toString();
  if (Buffer.from(plainText).toString('base64') === base64) return plainText;
  return null;
}

/** An argument that a header repeats, so that a proxy can route calls without reading bodies. */
interface MirroredArgument {
  readonly header: string;
  readonly value: unknown;
}

/** The arguments that an inputSchema marks with `x-mcp-header`. */
export function mirroredArguments(schema: unknown, args?: unknown): readonly MirroredArgument[] {
  if (!isObject(schema)) return [];
  const { 'x-mcp-header': headerName, properties } = schema;
  const ownMirror =
    typeof headerName === 'string' ? [{ header: `mcp-param-${headerName.toLowerCase()}`, value: args }] : [];
  const inner = isObject(properties) ? Object.entries(properties) : [];
  const argumentOf = (name: string) => (isObject(args) && Object.hasOwn(args, name) ? args[name] : undefined);
  return [
    ...ownMirror,
    ...inner.flatMap(([name, property]) => mirroredArguments(property, argumentOf(name))),
  ];
}

/** Whether a header repeats an argument. Numbers are compared by value. An absent or null argument has no header. */
function matchesArgument(header: Header, value: unknown): boolean {
  if (value === undefined || value === null) return header === undefined;
  const text = decodeHeader(header);
  if (typeof value !== 'number') return text === String(value);
  return text !== null && /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value;
}
