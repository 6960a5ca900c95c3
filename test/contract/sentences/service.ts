import { form, marketplace, open, type Sentence } from './model.ts';

/** Sections 1 to 3 of the contract: the service, its resources and their states. */
export const serviceSentences: readonly Sentence[] = [
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
    rules: [
      'discovery.initialize',
      'discovery.tools-list',
      'gate.valid-token',
      'gate.no-token',
      'modern.tools',
      'modern.call',
    ],
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
      'tool.to-do',
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
  {
    section: '2.1',
    says: '_meta.rateLimit: an optional object of hints.',
    rules: ['meta.*'],
  },
  { section: '2.1', says: 'Input property: type.', rules: ['input.type', 'input.items'] },
  { section: '2.1', says: 'Input property: description.', rules: ['input.description'] },
  {
    section: '2.1',
    says: 'Input property: default, of the same type.',
    rules: ['input.default', 'input.sample', 'input.smoke-arguments'],
  },
  {
    section: '2.1',
    says: 'Input property: examples.',
    rules: ['input.examples', 'input.placeholder', 'input.sample'],
  },
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
    rules: ['result.content', 'result.json-text', 'result.no-lost-values', 'answers.numbers'],
  },
  {
    section: '2.2',
    says: 'structuredContent: required on success, matches outputSchema in every field.',
    rules: [
      'result.structured',
      'result.fits',
      'result.failure-fits',
      'result.declared-fields',
      'modern.results',
    ],
  },
  {
    section: '2.2',
    says: 'isError: true marks a failed call.',
    rules: ['outcome.fail', 'outcome.found', 'call.wrong-arguments', 'result.failure-flagged'],
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
    rules: [
      'output.empty-signal',
      'output.holds-empty',
      'outcome.empty',
      'outcome.empty-signal',
      'result.no-refusal',
    ],
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
  {
    section: '2.5',
    says: 'Rate-limit hint fields inside _meta.rateLimit: not shown.',
    rules: ['meta.shape', 'meta.known-keys'],
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
    rules: ['session.lasting', 'session.two-at-once', 'session.get-known', 'endpoint.stays-up', 'http.cors'],
  },
  {
    section: '3.1',
    says: 'Any other POST or GET: HTTP 400.',
    rules: [
      'session.missing-post',
      'session.unknown-post',
      'session.missing-get',
      'session.unknown-get',
      'session.missing-call',
      'session.tampered',
      'session.tampered-get',
      'session.long',
      'session.long-get',
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
    section: '3.2',
    says: 'Named states of a listing and the moves between them: not shown.',
    untested: open,
  },
];
