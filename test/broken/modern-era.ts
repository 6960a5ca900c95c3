import { isObject } from '../../packages/contract/src/json/json.ts';
import type { Json, JsonObject } from '../../packages/contract/src/json/value.ts';
import type { Answer, Message, Request } from './wire.ts';

const version = '2026-07-28';
const key = (name: string) => `io.modelcontextprotocol/${name}`;

/** The parts of the session server that the stateless revision needs. */
interface EraServer {
  readonly identity: JsonObject;
  respond(message: Message): Promise<JsonObject>;
}

/** Whether a request belongs to the stateless revision, judged by its header only: its body may be unreadable. */
export function hasModernHeader({ headers }: Request): boolean {
  return (headers['mcp-protocol-version'] ?? '') >= version;
}

/** The answer to a message of the stateless revision; undefined for other messages. */
export async function modernAnswer(
  request: Request,
  message: Message,
  era: EraServer,
): Promise<Answer | undefined> {
  const { headers } = request;
  const params = isObject(message.params) ? message.params : {};
  const meta = isObject(params._meta) ? params._meta : {};
  const claimed = meta[key('protocolVersion')];
  if (claimed === undefined && !hasModernHeader(request)) return undefined;
  if (message.id === undefined) return { status: 202 };
  const refuse = (status: number, code: number, data?: JsonObject): Answer => ({
    status,
    body: { jsonrpc: '2.0', id: message.id, error: { code, message: 'Refused', ...(data && { data }) } },
  });
  if (typeof claimed !== 'string' || !isObject(meta[key('clientCapabilities')])) return refuse(400, -32602);
  if (headers['mcp-protocol-version'] !== claimed) return refuse(400, -32020);
  if (claimed !== version) return refuse(400, -32022, { supported: [version], requested: claimed });
  if (headers['mcp-method'] !== message.method) return refuse(400, -32020);
  if (message.method === 'tools/call' && nameIn(headers['mcp-name']) !== params.name)
    return refuse(400, -32020);
  const result = await resultOf(message, era);
  if (!result) return refuse(404, -32601);
  const serverInfo = { [key('serverInfo')]: era.identity };
  const body = {
    jsonrpc: '2.0',
    id: message.id,
    result: { ...result, resultType: 'complete', _meta: serverInfo },
  };
  return { status: 200, body };
}

async function resultOf(message: Message, { respond }: EraServer): Promise<JsonObject | undefined> {
  const cached = { ttlMs: 0, cacheScope: 'public' };
  switch (message.method) {
    case 'server/discover':
      return { supportedVersions: [version], capabilities: { tools: {} }, ...cached };
    case 'tools/list':
    case 'resources/list':
    case 'prompts/list':
      return { ...(objectOf((await respond(message)).result) ?? {}), ...cached };
    case 'tools/call':
      return objectOf((await respond(message)).result);
    default:
      return undefined;
  }
}

function objectOf(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function nameIn(header: string | readonly string[] | undefined): string | undefined {
  const text = header?.toString();
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(text ?? '') ?? [];
  return base64 === undefined ? text : Buffer.from(base64, 'base64').toString();
}
