import { generic } from './generic.ts';
import type { PlatformProfile } from './profile.ts';

const off = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 'off'] as const));
const should = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 'should'] as const));

/** JSON-RPC 2.0, which all messages must follow (basic: messages). */
const reply =
  'JSON-RPC 2.0, response object: "When a rpc call is made, the Server MUST reply with a Response"';

/**
 * Each rule that is a MUST under this profile, with its sentence: the page of the specification, 2025-11-25 if no revision is named, and its
 * words or its section. A rule without a sentence is at most a SHOULD.
 */
export const sentences: Readonly<Record<string, string>> = {
  'tool.name': 'schema: the name of a Tool is required',
  'input.object-root': 'schema: the inputSchema of a Tool is required, with the type "object"',
  'input.compiles':
    'basic, JSON Schema usage: "Schemas MUST be valid according to their declared or default dialect"',
  'identity.name': 'schema: serverInfo is an Implementation, whose name and version are required',
  'identity.tools': 'tools: "Servers that support tools MUST declare the tools capability"',
  'endpoint.stays-up': reply,
  'discovery.initialize': 'lifecycle: "The server MUST respond with its own capabilities and information"',
  'discovery.tools-list': 'schema: tools/list is answered with a ListToolsResult, whose tools are required',
  'discovery.client':
    'basic: the schema, by which the client validates, is "the source of truth for all protocol messages and structures"',
  'session.id-characters': 'transports: "The session ID MUST only contain visible ASCII characters"',
  'session.two-at-once': reply,
  'explore.own-answer': reply,
  'explore.own-texts': reply,
  'protocol.unknown-version':
    'lifecycle: "Otherwise, the server MUST respond with another protocol version it supports"',
  'protocol.version-header':
    'transports: for an unsupported MCP-Protocol-Version, the server "MUST respond with 400 Bad Request"',
  'protocol.envelope': 'basic: "Result responses MUST include the same ID as the request they correspond to"',
  'protocol.string-id': 'basic: "Requests MUST include a string or integer ID"',
  'protocol.optional-params': 'JSON-RPC 2.0, request object: params "MAY be omitted"',
  'protocol.unknown-method': 'JSON-RPC 2.0, error object: -32601 means that the method does not exist',
  'protocol.notification':
    'transports: for a notification, "the server MUST return HTTP status code 202 Accepted with no body"',
  'protocol.ping': 'ping: "The receiver MUST respond promptly with an empty response"',
  // Only for a target on loopback, as the rule decides.
  'http.foreign-origin':
    'transports: "Servers MUST validate the Origin header on all incoming connections to prevent DNS rebinding attacks"',
  'explore.answered': reply,
  'answers.steady': reply,
  'result.fits': 'tools: "Servers MUST provide structured results that conform to this schema"',
  'outcome.client':
    'tools: "Servers MUST provide structured results that conform to this schema", by which the client validates',
  'answers.utf8': 'transports: "JSON-RPC messages MUST be UTF-8 encoded"',
  'answers.framing': 'RFC 9110 §8.6: no Content-Length "that is known to be incorrect"',
  'answers.type':
    'transports: for a request, the server "MUST either return Content-Type: text/event-stream" or "application/json"',
  'modern.parameter-header': '2026-07-28, Streamable HTTP: custom headers from tool parameters',
  'modern.discover': '2026-07-28, discovery',
  'modern.tools': '2026-07-28, listing tools',
  'modern.result-type': '2026-07-28, result responses',
  'modern.cache': '2026-07-28, caching',
  'modern.stateless': '2026-07-28, Streamable HTTP: earlier revisions',
  'modern.call': '2026-07-28, calling tools',
  'modern.call-type': '2026-07-28, result responses',
  'modern.encoded-name': '2026-07-28, Streamable HTTP: value encoding',
  'modern.headers': '2026-07-28, Streamable HTTP: server validation',
  'modern.name-header': '2026-07-28, Streamable HTTP: server validation',
  'modern.version': '2026-07-28, protocol version negotiation',
  'modern.meta': '2026-07-28, per-request protocol fields',
  'modern.unknown-method': '2026-07-28, Streamable HTTP: protocol version header',
  'modern.error-codes': '2026-07-28, error codes',
  'modern.notification': '2026-07-28, Streamable HTTP: sending messages',
  'modern.unreadable': '2026-07-28, Streamable HTTP: sending messages; requests: the id is never null',
};

/** Only the text of MCP and HTTP, for servers of no marketplace: without payment, health, sessions as a duty, or signals of outcomes. */
export const mcp: PlatformProfile = {
  ...generic,
  name: 'mcp',
  title: 'the Model Context Protocol and HTTP alone',
  rules: {
    facts: 'off',
    overrides: {
      ...off('gate', 'health', 'meta', 'submission', 'process', 'runtime'),
      ...off('identity.same', 'endpoint.path', 'http.any-host', 'protocol.platform-version'),
      ...off('discovery.resources-list', 'discovery.prompts-list', 'discovery.invalid-token'),
      // Sessions are a choice, and so is the form of a refusal.
      ...off('session.open', 'session.get-known', 'session.missing-call', 'session.foreign-initialize'),
      ...off('session.missing-post', 'session.missing-get', 'session.unknown-post', 'session.unknown-get'),
      ...off('session.prototype', 'session.delete', 'session.delete-unknown'),
      // A client must accept both forms of an answer.
      ...off('http.accept-any', 'http.accept-events', 'answers.accepted'),
      ...off('modern.served', 'modern.no-token', 'modern.forged-token', 'modern.disguised-call'),
      ...off('modern.results', 'input.properties', 'input.required', 'input.sample', 'input.placeholder'),
      // outputSchema is optional, and content may be other than JSON.
      ...off('output.object-root', 'output.no-root-union', 'output.holds-empty'),
      ...off('output.empty-signal', 'output.failure-signal', 'output.compiles'),
      ...off('result.content', 'result.json-text', 'result.structured', 'result.schema-copy'),
      ...off('result.no-refusal', 'result.no-error', 'outcome.empty', 'outcome.empty-signal'),
      ...off('outcome.failure-payload', 'call.unknown-tool', 'call.unknown-tool-names'),
      ...Object.fromEntries(Object.keys(sentences).map((id) => [id, 'must'] as const)),
      // No sentence of the specification requires these.
      ...should('session.lasting', 'session.parallel', 'tool.name-unique', 'input.default'),
      ...should('input.required-declared', 'output.required-declared', 'http.charset'),
      ...should(
        'tool.description',
        'tool.name-pattern',
        'endpoint.https',
        'outcome.in-time',
        'outcome.alternates',
      ),
      ...should('result.same-data', 'result.failure-fits', 'result.failure-flagged'),
      ...should('answers.no-credentials'),
      ...should('tool.readable', 'discovery.tools', 'session.unique', 'modern.failure', 'answers.numbers'),
      ...should('outcome.found', 'outcome.fail', 'explore.valid', 'call.answered'),
    },
  },
  sources: {
    ...generic.sources,
    rules: 'modelcontextprotocol.io, 2025-11-25 and 2026-07-28; RFC 9110, RFC 9112',
  },
};
