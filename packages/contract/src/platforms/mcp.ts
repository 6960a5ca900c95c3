import { generic } from './generic.ts';
import type { PlatformProfile } from './profile.ts';

const off = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 'off'] as const));
const should = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 'should'] as const));

/** Rules that the specification makes a MUST, each with its sentence. They have another level under other platforms. */
const sentences: Readonly<Record<string, string>> = {
  'identity.name': 'schema: serverInfo is an Implementation, whose name is required',
  'identity.tools': 'tools: "Servers that support tools MUST declare the tools capability"',
  'protocol.ping': 'ping: "The receiver MUST respond promptly with an empty response"',
  'protocol.unknown-version':
    'lifecycle: "Otherwise, the server MUST respond with another protocol version it supports"',
  'protocol.version-header':
    'transports: for an unsupported MCP-Protocol-Version, the server "MUST respond with 400 Bad Request"',
  'session.id-characters': 'transports: "The session ID MUST only contain visible ASCII characters"',
  // A MUST only for a target on loopback, as the rule decides.
  'http.foreign-origin':
    'transports: "Servers MUST validate the Origin header on all incoming connections to prevent DNS rebinding attacks"',
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
    },
  },
  sources: {
    ...generic.sources,
    rules: 'modelcontextprotocol.io, 2025-11-25 and 2026-07-28; RFC 9110, RFC 9112',
  },
};
