import { generic } from './generic.ts';
import type { PlatformProfile } from './profile.ts';

const off = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 'off'] as const));
const should = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 'should'] as const));

/** The text of MCP and HTTP alone, for servers of no marketplace: without payment, health, sessions as a duty, or signals of outcomes. */
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
      ...off('session.tampered', 'session.tampered-get', 'session.long', 'session.long-get'),
      ...off('session.prototype', 'session.prototype-get', 'session.delete', 'session.delete-unknown'),
      // A client must accept both forms of an answer.
      ...off('http.accept-absent', 'http.accept-any', 'http.accept-json', 'http.accept-events'),
      ...off('modern.served', 'modern.no-token', 'modern.forged-token', 'modern.disguised-call'),
      ...off('modern.results', 'input.properties', 'input.required', 'input.sample', 'input.placeholder'),
      // outputSchema is optional, and content may be other than JSON.
      ...off('output.object-root', 'output.no-root-union', 'output.holds-empty', 'output.holds-failure'),
      ...off('output.empty-signal', 'explore.empty-signal', 'output.failure-signal', 'output.compiles'),
      ...off('result.content', 'result.json-text', 'result.structured', 'result.schema-copy'),
      ...off('result.no-refusal', 'result.no-error', 'outcome.empty', 'outcome.empty-signal'),
      ...off('outcome.failure-payload', 'call.unknown-tool', 'call.unknown-tool-names'),
      ...should(
        'identity.name',
        'identity.tools',
        'tool.description',
        'tool.name-pattern',
        'endpoint.https',
        'outcome.in-time',
      ),
      ...should('result.same-data', 'result.failure-fits', 'result.failure-flagged'),
    },
  },
  sources: {
    ...generic.sources,
    rules: 'modelcontextprotocol.io, 2025-11-25 and 2026-07-28; RFC 9110, RFC 9112',
  },
};
