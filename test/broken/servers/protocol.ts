import {
  type Broken,
  methodOf,
  responds,
  type Variant,
  where,
  withAnswer,
  withHeaders,
  withRequest,
} from '../variant.ts';

/** A server that negotiates the version incorrectly. */
function negotiates(answered: (asked: unknown, agreed: unknown) => unknown): Variant {
  return {
    initialize: (good) => (params) => {
      const agreed = good(params);
      const protocolVersion = String(answered(params.protocolVersion, agreed.protocolVersion));
      return { ...agreed, protocolVersion };
    },
  };
}

export const brokenProtocol: Broken<Variant> = {
  'protocol.platform-version': negotiates((asked, agreed) =>
    asked === '2024-11-05' ? '2025-06-18' : agreed,
  ),
  'protocol.later-versions': negotiates((asked, agreed) => (asked === '2025-06-18' ? '2024-11-05' : agreed)),
  'protocol.unknown-version': negotiates((asked) => asked),
  'protocol.envelope': responds(({ id, method }) =>
    id === 0 && method === 'tools/list' ? { id: null, result: {} } : undefined,
  ),
  'protocol.string-id': where(({ body }) => body?.includes('"id":0,'), {
    status: 400,
    body: { error: 'Missing id' },
  }),
  'protocol.string-id protocol.envelope': [
    responds((message) => (typeof message.id === 'string' ? { id: null, result: {} } : undefined)),
    responds((message) => (message.id === '4711' ? { id: 4711, result: {} } : undefined)),
  ],
  'protocol.optional-params': responds(({ method, params }) =>
    method === 'prompts/list' && params !== undefined
      ? { error: { code: -32602, message: 'No params expected' } }
      : undefined,
  ),
  'protocol.unknown-method': responds(({ method }) =>
    method === 'tools/destroy' ? { result: {} } : undefined,
  ),
  'protocol.notification': withAnswer((answer, request) =>
    methodOf(request) === 'notifications/initialized'
      ? { status: 200, body: { jsonrpc: '2.0', id: null, result: {} } }
      : answer,
  ),
  'protocol.version-header': withRequest((request) =>
    request.headers['mcp-protocol-version'] === '1900-01-01' &&
    !request.body?.includes('io.modelcontextprotocol')
      ? withHeaders(request, { 'mcp-protocol-version': undefined })
      : request,
  ),
  'protocol.ill-formed': lenient(),
  'protocol.ping': responds(({ method }) =>
    method === 'ping' ? { error: { code: -32601, message: 'Method not found' } } : undefined,
  ),
};

/** A server that accepts requests of any version of JSON-RPC. */
function lenient(): Variant {
  return {
    parse: (good) => (request) =>
      good({ ...request, body: request.body?.replace('"jsonrpc":"1.0"', '"jsonrpc":"2.0"') }),
  };
}
