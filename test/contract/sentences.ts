/** A sentence or table row of the contract, and the rules that test it or the reason why none does. */
export interface Sentence {
  /** `2.1` */
  readonly section: string;
  readonly says: string;
  /** Ids; a trailing `*` stands for a whole group. */
  readonly rules?: readonly string[];
  readonly untested?: string;
}

const form =
  'It speaks of the registration form, which the server does not see; the project README says what to enter.';
const marketplace = 'It speaks of the marketplace, not of the server.';
const open = 'The contract leaves it open.';

/** Sections 1 to 9 of the contract, in order. */
export const sentences: readonly Sentence[] = [
  {
    section: '1.1',
    says: 'The server exposes one or more tools with declared input and output.',
    rules: ['discovery.tools', 'tool.readable', 'input.object-root', 'output.object-root'],
  },
  {
    section: '1.2',
    says: 'The platform discovers tools by the discovery methods and runs them with tools/call.',
    rules: ['discovery.client', 'outcome.client', 'submission.calls'],
  },
  {
    section: '1.3',
    says: 'Discovery is open; execution takes a valid JWT of the platform.',
    rules: ['discovery.initialize', 'discovery.tools-list', 'gate.valid-token', 'gate.no-token'],
  },
  {
    section: '1.4',
    says: 'The server is reachable over HTTPS only; the registered URL ends in /mcp.',
    rules: ['endpoint.https', 'endpoint.path', 'http.any-host', 'process.production'],
  },
  { section: '1.5', says: 'A health endpoint answers 200.', rules: ['health.status'] },
  {
    section: '1.6',
    says: 'The author registers in a web form; the platform then calls the endpoint.',
    rules: ['submission.calls', 'submission.text', 'submission.in-time'],
  },
  {
    section: '1.7',
    says: 'Responses are checked against the declared output shape.',
    rules: ['result.fits', 'result.failure-fits', 'outcome.found'],
  },
  {
    section: '2.1',
    says: 'name: identifies the tool in tools/call.',
    rules: ['tool.name', 'tool.name-unique', 'tool.name-pattern'],
  },
  {
    section: '2.1',
    says: 'description: specific text, what the tool returns and when to use it.',
    rules: [
      'tool.description',
      'tool.description-length',
      'tool.description-complete',
      'tool.description-own-words',
      'tool.description-distinct',
    ],
  },
  {
    section: '2.1',
    says: 'inputSchema: root type "object", properties, and required, which may be empty.',
    rules: [
      'input.object-root',
      'input.properties',
      'input.required',
      'input.required-declared',
      'input.compiles',
    ],
  },
  {
    section: '2.1',
    says: 'outputSchema: root type exactly "object"; no anyOf, oneOf, array or primitive at the root.',
    rules: ['output.object-root', 'output.no-root-union', 'output.compiles'],
  },
  { section: '2.1', says: '_meta.rateLimit: an optional object of hints.', rules: ['meta.*'] },
  { section: '2.1', says: 'Input property: type.', rules: ['input.type', 'input.items'] },
  { section: '2.1', says: 'Input property: description.', rules: ['input.description'] },
  {
    section: '2.1',
    says: 'Input property: default, of the same type.',
    rules: ['input.default', 'input.sample', 'input.smoke-arguments'],
  },
  { section: '2.1', says: 'Input property: examples.', rules: ['input.examples', 'input.sample'] },
  {
    section: '2.1',
    says: 'Input property: enum, the allowed values.',
    rules: ['input.enum', 'input.sample'],
  },
  {
    section: '2.1',
    says: 'Null, optional fields and errors are expressed inside properties, never at the root.',
    rules: ['output.no-root-union', 'output.holds-empty', 'output.holds-failure', 'schema.*'],
  },
  {
    section: '2.1',
    says: 'Each output property may carry type and description; required lists mandatory ones.',
    rules: [
      'output.properties',
      'output.typed',
      'output.described',
      'output.items',
      'output.members',
      'output.required-declared',
    ],
  },
  {
    section: '2.2',
    says: 'content: text items, the data serialized as JSON text.',
    rules: ['result.content', 'result.json-text', 'result.no-lost-values'],
  },
  {
    section: '2.2',
    says: 'structuredContent: required on success, matches outputSchema in every field.',
    rules: ['result.structured', 'result.fits', 'result.failure-fits', 'result.declared-fields'],
  },
  {
    section: '2.2',
    says: 'isError: true marks a failed call.',
    rules: ['outcome.fail', 'outcome.found', 'call.wrong-arguments'],
  },
  { section: '2.2', says: '_meta.outputSchema: a copy of the output schema.', rules: ['result.schema-copy'] },
  {
    section: '2.2',
    says: 'Recommended failure payload: error and message.',
    rules: ['output.failure-signal', 'output.holds-failure', 'outcome.failure-payload'],
  },
  {
    section: '2.2',
    says: 'A tool that finds nothing carries searchExhausted or noResultsReason.',
    rules: ['output.empty-signal', 'output.holds-empty', 'outcome.empty', 'result.no-refusal'],
  },
  {
    section: '2.3',
    says: 'Health: status 200 with status, server and version, all strings.',
    rules: ['health.status', 'health.fields', 'identity.same'],
  },
  {
    section: '2.4',
    says: 'The server declares name, version and the capability tools.',
    rules: ['identity.name', 'identity.tools', 'identity.same'],
  },
  { section: '2.5', says: 'Listing: name, description, category, price, endpoint.', untested: form },
  {
    section: '3.1',
    says: 'initialize without a session id opens a session; its new id is returned.',
    rules: [
      'session.open',
      'session.id-characters',
      'session.unique',
      'session.parallel',
      'session.foreign-initialize',
    ],
  },
  {
    section: '3.1',
    says: 'A request that names a stored session is handled by that session.',
    rules: ['session.lasting', 'session.two-at-once', 'session.get-known'],
  },
  {
    section: '3.1',
    says: 'Any other POST or GET: HTTP 400.',
    rules: [
      'session.missing-post',
      'session.unknown-post',
      'session.missing-get',
      'session.unknown-get',
      'session.tampered',
      'session.long',
      'session.prototype',
      'session.prototype-get',
    ],
  },
  {
    section: '3.1',
    says: 'Session end or timeout: not covered.',
    rules: ['session.delete', 'session.delete-unknown'],
  },
  {
    section: '3.2',
    says: 'The listing is created on submission; Refresh Skills replaces what the platform knows.',
    untested: marketplace,
  },
  {
    section: '3.2',
    says: 'Registration is rejected where the tool list fails schema validation.',
    rules: ['output.object-root', 'discovery.client'],
  },
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
    untested: "No request tells the version; the project's package.json demands it.",
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
    says: 'The runtime retries recoverable errors and stops on an explicit empty result.',
    rules: ['outcome.empty', 'outcome.repeatable'],
  },
  { section: '8', says: 'HTTPS only; the path ends in /mcp.', rules: ['endpoint.https', 'endpoint.path'] },
  { section: '8', says: 'Minimum stake and withdrawal delay.', untested: marketplace },
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
