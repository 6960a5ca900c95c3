import type { JsonObject } from '../../../packages/contract/src/json/value.ts';
import { type BrokenServer, methodOf, withAnswer, withHeaders, withRequest } from '../variant.ts';
import type { Message } from '../wire.ts';

/** A server that responds differently to some messages. */
function responds(otherwise: (message: Message) => JsonObject | undefined): BrokenServer['breaks'] {
  return { respond: (good) => async (message) => otherwise(message) ?? good(message) };
}

/** A server that negotiates the version incorrectly. */
function negotiates(answered: (asked: unknown, agreed: unknown) => unknown): BrokenServer['breaks'] {
  return {
    initialize: (good) => (params) => {
      const agreed = good(params);
      const protocolVersion = String(answered(params.protocolVersion, agreed.protocolVersion));
      return { ...agreed, protocolVersion };
    },
  };
}

export const brokenProtocol: readonly BrokenServer[] = [
  {
    rule: 'protocol.platform-version',
    breaks: negotiates((asked, agreed) => (asked === '2024-11-05' ? '2025-06-18' : agreed)),
  },
  {
    rule: 'protocol.later-versions',
    breaks: negotiates((asked, agreed) => (asked === '2025-06-18' ? '2024-11-05' : agreed)),
  },
  { rule: 'protocol.unknown-version', breaks: negotiates((asked) => asked) },
  {
    rule: 'protocol.envelope',
    breaks: responds(({ id, method }) =>
      id === 0 && method === 'tools/list' ? { id: null, result: {} } : undefined,
    ),
  },
  {
    rule: 'protocol.string-id',
    along: ['protocol.envelope'],
    breaks: responds((message) => (typeof message.id === 'string' ? { id: null, result: {} } : undefined)),
  },
  {
    rule: 'protocol.optional-params',
    breaks: responds(({ method, params }) =>
      method === 'prompts/list' && params !== undefined
        ? { error: { code: -32602, message: 'No params expected' } }
        : undefined,
    ),
  },
  {
    rule: 'protocol.unknown-method',
    breaks: responds(({ method }) => (method === 'tools/destroy' ? { result: {} } : undefined)),
  },
  {
    rule: 'protocol.notification',
    breaks: withAnswer((answer, request) =>
      methodOf(request) === 'notifications/initialized'
        ? { status: 200, body: { jsonrpc: '2.0', id: null, result: {} } }
        : answer,
    ),
  },
  {
    rule: 'protocol.string-id',
    along: ['protocol.envelope'],
    breaks: responds((message) => (message.id === '4711' ? { id: 4711, result: {} } : undefined)),
  },
  {
    rule: 'protocol.version-header',
    breaks: withRequest((request) =>
      request.headers['mcp-protocol-version'] === '1900-01-01' &&
      !request.body?.includes('io.modelcontextprotocol')
        ? withHeaders(request, { 'mcp-protocol-version': undefined })
        : request,
    ),
  },
  { rule: 'protocol.ill-formed', breaks: lenient() },
  {
    rule: 'protocol.ping',
    breaks: responds(({ method }) =>
      method === 'ping' ? { error: { code: -32601, message: 'Method not found' } } : undefined,
    ),
  },
];

/** A server that accepts requests of any version of JSON-RPC. */
function lenient(): BrokenServer['breaks'] {
  return {
    parse: (good) => (request) =>
      good({ ...request, body: request.body?.replace('"jsonrpc":"1.0"', '"jsonrpc":"2.0"') }),
  };
}
