import { isObject } from '../../../packages/contract/src/json/json.ts';
import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import type { Breaks, Steps } from '../good-server.ts';
import {
  type Broken,
  instead,
  methodOf,
  type Variant,
  where,
  withAnswer,
  withHeaders,
  withRequest,
} from '../variant.ts';
import type { Answer, Request } from '../wire.ts';

const version = '2026-07-28';

function isModern({ body = '' }: Request): boolean {
  return body.includes('io.modelcontextprotocol/');
}

/** Changes the results of the stateless revision. */
function withResult(change: (result: JsonObject, method: string | undefined) => JsonObject): Breaks {
  return withAnswer((answer, request) => {
    const { body } = answer;
    if (!isModern(request) || !isObject(body) || !isObject(body.result)) return answer;
    return { ...answer, body: { ...body, result: change(body.result as JsonObject, methodOf(request)) } };
  });
}

/** Changes the requests of the stateless revision before they are judged. */
function taking(change: (request: Request) => Request): Breaks {
  return withRequest((request) => (isModern(request) ? change(request) : request));
}

/** Replaces one error code and status by others in answers of the stateless revision. */
function withError(code: number, other: { readonly status?: number; readonly code?: number }): Breaks {
  return withAnswer((answer, request) => {
    const { body } = answer;
    if (!isModern(request) || !isObject(body) || !isObject(body.error) || body.error.code !== code)
      return answer;
    const error = { ...body.error, code: other.code ?? code };
    return { ...answer, status: other.status ?? answer.status, body: { ...body, error } };
  });
}

/** A request with its name and method headers corrected to match the body. */
function agreeing(request: Request, ...headers: readonly string[]): Request {
  const name = /"name":"(?!marketplace-contract)([^"]*)"/.exec(request.body ?? '')?.[1];
  const own: Record<string, string | undefined> = {
    'mcp-method': methodOf(request),
    'mcp-name': name,
    'mcp-protocol-version': /protocolVersion":"([^"]*)"/.exec(request.body ?? '')?.[1],
  };
  return withHeaders(request, Object.fromEntries(headers.map((header) => [header, own[header]])));
}

const unnamed = ({ ttlMs: _, ...result }: JsonObject) => result;

export const brokenModern: Broken<Variant> = {
  'modern.served': where((request) => isModern(request), { status: 400, body: { error: 'Invalid session' } }),
  'modern.discover': withResult((result) =>
    'supportedVersions' in result ? { ...result, supportedVersions: version } : result,
  ),
  'modern.tools': withResult((result) =>
    Array.isArray(result.tools) ? { ...result, tools: result.tools.slice(1) } : result,
  ),
  'modern.result-type': withResult((result, method) =>
    method === 'tools/list' ? { ...result, resultType: 'done' } : result,
  ),
  'modern.server-info': withResult((result) => ({ ...result, _meta: {} })),
  'modern.cache': withResult(unnamed),
  'modern.stateless': withAnswer((answer, request) =>
    isModern(request) ? { ...answer, headers: { 'mcp-session-id': 'one-more' } } : answer,
  ),
  'modern.call': withAnswer((answer, request) =>
    isModern(request) && methodOf(request) === 'tools/call' && answer.status === 200
      ? { status: 500, body: { error: 'no session' } }
      : answer,
  ),
  'modern.call-type': withResult((result, method) =>
    method === 'tools/call' ? { ...result, resultType: 'input_required' } : result,
  ),
  'modern.results': withResult((result, method) =>
    method === 'tools/call' && result.isError !== true
      ? { ...result, content: [{ type: 'text', text: '{"coins":[]}' }] }
      : result,
  ),
  'modern.failure': withResult((result) =>
    result.isError === true ? { ...result, isError: false } : result,
  ),
  'modern.encoded-name': instead((request) =>
    isModern(request) &&
    /^=\?base64\?\w/.test(String(request.headers['mcp-name'])) &&
    request.headers.authorization
      ? mismatch(request)
      : undefined,
  ),
  'modern.headers': taking((request) =>
    methodOf(request) === 'tools/list' && request.headers['mcp-protocol-version'] === version
      ? agreeing(request, 'mcp-method')
      : request,
  ),
  'modern.version-header': taking((request) =>
    isModern(request) &&
    request.headers['mcp-protocol-version'] === undefined &&
    methodOf(request) === 'tools/list'
      ? { ...request, headers: { ...request.headers, 'mcp-protocol-version': version } }
      : request,
  ),
  'modern.name-header': taking((request) =>
    request.headers['mcp-name'] === 'another_tool' ? agreeing(request, 'mcp-name') : request,
  ),
  'modern.version': withError(-32022, { code: -32600 }),
  'modern.meta': withError(-32602, { status: 200 }),
  'modern.unknown-method': withError(-32601, { status: 200 }),
  'modern.error-codes': withAnswer((answer, request) => {
    const { body } = answer;
    const isRead = isModern(request) && methodOf(request) === 'resources/read' && isObject(body);
    return isRead
      ? { status: 200, body: { ...body, error: { code: -32002, message: 'Not found' } } }
      : answer;
  }),
  'modern.notification': withAnswer((answer, request) =>
    isModern(request) && answer.status === 202
      ? { status: 200, body: { jsonrpc: '2.0', result: {} } }
      : answer,
  ),
  'modern.unreadable': withAnswer((answer, { headers }) => {
    const { status, body } = answer;
    const isError = headers['mcp-protocol-version'] === version && isObject(body) && 'error' in body;
    return isError && status === 400 && body.id === undefined ? { ...answer, status: 200 } : answer;
  }),
  'modern.error-id': withAnswer((answer, { headers }) => {
    const { status, body } = answer;
    const isError = headers['mcp-protocol-version'] === version && isObject(body) && 'error' in body;
    return isError && status === 400 && body.id === undefined
      ? { ...answer, body: { ...body, id: null } }
      : answer;
  }),
  'modern.no-token': givesAway(
    ({ headers }) => headers.authorization === undefined && headers['mcp-method'] === 'tools/call',
  ),
  'modern.forged-token': givesAway(
    async ({ headers }, { authorized }) =>
      headers.authorization !== undefined && !(await authorized(headers.authorization)),
  ),
  'modern.disguised-call': givesAway(
    ({ headers }) => headers.authorization === undefined && headers['mcp-method'] === 'tools/list',
  ),
};

/** Runs the calls of some requests without payment. */
function givesAway(when: (request: Request, steps: Steps) => boolean | Promise<boolean>): Breaks {
  return instead(async (request, steps) => {
    if (!isModern(request) || !request.body?.includes('"tools/call"')) return undefined;
    if (!(await when(request, steps))) return undefined;
    const messages: readonly JsonObject[] = [JSON.parse(request.body)].flat();
    const { id, params } = messages.find(({ method }) => method === 'tools/call') ?? {};
    return { status: 200, body: { jsonrpc: '2.0', id, result: await steps.call(params as JsonObject) } };
  });
}

function mismatch({ body }: Request): Answer {
  const { id } = JSON.parse(body ?? '{}');
  return { status: 400, body: { jsonrpc: '2.0', id, error: { code: -32020, message: 'Mcp-Name differs' } } };
}
