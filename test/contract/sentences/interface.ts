import { marketplace, open, runtime, type Sentence } from './model.ts';

/** Sections 4 to 9 of the contract: endpoints, authentication, errors, limits, versions. */
export const interfaceSentences: readonly Sentence[] = [
  {
    section: '4',
    says: 'Content-Type is application/json; Accept may be sent.',
    rules: [
      'http.accept-absent',
      'http.accept-any',
      'http.accept-json',
      'http.accept-events',
      'http.charset',
      'http.content-type',
    ],
  },
  {
    section: '4',
    says: 'GET /health: 200, the JSON health object.',
    rules: ['health.status', 'health.fields'],
  },
  {
    section: '4',
    says: 'POST /mcp: a JSON-RPC 2.0 object; params optional for list methods; id a number or a string.',
    rules: [
      'protocol.envelope',
      'protocol.string-id',
      'protocol.optional-params',
      'protocol.unknown-method',
      'protocol.notification',
      'protocol.ill-formed',
      'protocol.ping',
      'http.malformed',
      'http.empty',
      'http.not-object',
      'http.null',
      'http.other-methods',
    ],
  },
  {
    section: '4',
    says: 'GET /mcp: the stream of a known session, 400 otherwise.',
    rules: ['session.get-known', 'session.missing-get', 'session.unknown-get'],
  },
  {
    section: '4',
    says: 'The authentication check sits in front of the /mcp handlers.',
    rules: ['gate.unknown-tool', 'gate.notification', 'process.production-auth'],
  },
  {
    section: '4.1',
    says: 'initialize, tools/list, resources/list and prompts/list need no authentication.',
    rules: [
      'discovery.initialize',
      'discovery.tools-list',
      'discovery.resources-list',
      'discovery.prompts-list',
    ],
  },
  {
    section: '4.1',
    says: 'initialize: protocolVersion, capabilities and clientInfo in, a standard initialize result out.',
    rules: ['identity.name', 'identity.tools', 'protocol.platform-version', 'discovery.client'],
  },
  {
    section: '4.1',
    says: 'tools/list, resources/list and prompts/list: no params in, a list out.',
    rules: [
      'discovery.tools-list',
      'discovery.resources-list',
      'discovery.prompts-list',
      'protocol.optional-params',
    ],
  },
  {
    section: '4.1',
    says: 'tools/call: platform JWT required; a listed name; arguments that match inputSchema.',
    rules: ['gate.*', 'call.wrong-arguments', 'call.missing-arguments', 'call.no-arguments-object'],
  },
  {
    section: '4.1.1',
    says: 'An unknown tool: isError: true and a text that names it.',
    rules: ['call.unknown-tool', 'call.unknown-tool-names'],
  },
  {
    section: '4.1.2',
    says: 'A known tool returns content and structuredContent from the same data.',
    rules: ['result.same-data', 'result.structured'],
  },
  { section: '4.1.3', says: 'Status codes of successful MCP responses: not shown.', untested: open },
  {
    section: '4.2',
    says: 'The port is taken from PORT and defaults to 3000.',
    rules: ['process.port', 'process.default-port', 'process.busy-port'],
  },
  {
    section: '4.2',
    says: 'Node.js 18 or newer.',
    untested: runtime,
  },
  {
    section: '5.1',
    says: 'tools/call carries a JWT of the platform, verified in front of the routes.',
    rules: [
      'gate.*',
      'process.no-key',
      'process.production',
      'process.production-audience',
      'process.production-https',
    ],
  },
  {
    section: '5.2',
    says: 'The four open methods need no authentication.',
    rules: [
      'discovery.initialize',
      'discovery.tools-list',
      'discovery.resources-list',
      'discovery.prompts-list',
    ],
  },
  {
    section: '5.3',
    says: 'The JWT proves that the platform sent the request with payment verified.',
    rules: ['gate.wrong-key', 'gate.wrong-issuer', 'gate.wrong-audience', 'gate.expired', 'gate.every-call'],
  },
  { section: '5.4', says: 'Without a valid JWT, tools/call is refused.', rules: ['gate.*'] },
  {
    section: '5.5',
    says: 'The check may be disabled for local tests and must be enabled when live.',
    rules: ['process.production-auth'],
  },
  { section: '5.6', says: 'The platform does not call over plain HTTP.', rules: ['endpoint.https'] },
  {
    section: '5.7',
    says: 'Location, claims, algorithm and keys of the JWT: not shown.',
    rules: ['gate.scheme-case', 'gate.other-algorithm'],
  },
  { section: '6', says: 'Events: not shown.', untested: open },
  {
    section: '7',
    says: 'tools/call without a valid JWT: {"error": "Unauthorized"}.',
    rules: ['gate.no-token', 'gate.garbage'],
  },
  {
    section: '7',
    says: 'POST outside a session: 400 {"error": "Invalid session"}.',
    rules: ['session.missing-post', 'session.unknown-post'],
  },
  {
    section: '7',
    says: 'GET outside a session: 400 {"error": "Invalid session"}.',
    rules: ['session.missing-get', 'session.unknown-get'],
  },
  {
    section: '7',
    says: 'Unknown tool: isError: true and a text that names it.',
    rules: ['call.unknown-tool'],
  },
  {
    section: '7',
    says: 'Tool failure: isError: true, a text item, structuredContent with error and message.',
    rules: ['outcome.failure-payload', 'outcome.fail', 'call.no-stack'],
  },
  {
    section: '7',
    says: 'structuredContent differs from outputSchema: the call is a failure.',
    rules: ['result.fits', 'result.failure-fits', 'outcome.client'],
  },
  {
    section: '7',
    says: 'Registration with an outputSchema whose root is not an object is rejected.',
    rules: ['output.object-root'],
  },
  {
    section: '7',
    says: 'Causes of Unauthorized when deployed: no JWT, HTTP, not registered, another URL registered.',
    rules: ['gate.no-token', 'endpoint.https', 'process.production', 'gate.wrong-audience'],
  },
  {
    section: '7',
    says: 'The runtime retries recoverable errors and stops on an explicit empty result.',
    rules: ['outcome.empty', 'outcome.repeatable'],
  },
  { section: '8', says: 'HTTPS only; the path ends in /mcp.', rules: ['endpoint.https', 'endpoint.path'] },
  { section: '8', says: 'Minimum stake and withdrawal delay.', untested: marketplace },
  {
    section: '8',
    says: 'Runtime version: Node.js 18 or newer.',
    untested: runtime,
  },
  { section: '8', says: 'Default port: 3000.', rules: ['process.default-port'] },
  { section: '8', says: 'Output schema root: type "object" only.', rules: ['output.object-root'] },
  {
    section: '8',
    says: 'Rate limits, size limits and time-outs: not shown.',
    rules: [
      'discovery.in-time',
      'outcome.in-time',
      'result.size',
      'http.large-body',
      'http.large-body-chunked',
      'http.deep-body',
      'http.slow-headers',
      'http.slow-body',
    ],
  },
  {
    section: '9.1',
    says: 'initialize carries protocolVersion; the platform uses 2024-11-05.',
    rules: ['protocol.platform-version'],
  },
  {
    section: '9.2',
    says: 'The server declares its version in its identity and in health.',
    rules: ['identity.name', 'identity.same'],
  },
  { section: '9.3', says: 'New tools take effect after Refresh Skills.', untested: marketplace },
  {
    section: '9.4',
    says: 'Policy on supported protocol versions: not shown.',
    rules: ['protocol.later-versions', 'protocol.unknown-version'],
  },
];
