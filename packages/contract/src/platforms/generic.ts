import type { PlatformProfile } from './profile.ts';

/** The names that all widespread MCP clients accept (public source: platform facts). */
export const toolNamePattern = '^[a-zA-Z0-9_-]{1,64}$';

/** The contract alone, with the most common choice for everything that it leaves open. */
export const generic: PlatformProfile = {
  name: 'generic',
  title: 'a tool marketplace',
  token: {
    header: 'authorization',
    scheme: 'Bearer',
    algorithms: ['RS256'],
    issuer: null,
    jwksUrl: null,
    fallbackKey: null,
    audience: 'endpoint-url',
    lifetimeSeconds: 120,
    clockToleranceSeconds: 5,
    claims: {},
    refusalStatus: null,
  },
  protocol: { modern: 'on' },
  listing: {
    url: null,
    categories: null,
    nameLength: { minimum: 1, maximum: 255 },
    descriptionLength: { minimum: 1, maximum: 5000 },
    descriptionSections: [],
    descriptionForbids: [],
    price: { pattern: '^\\d+(\\.\\d+)?$', maximum: null, currency: 'USD' },
    stake: { minimum: 10, perPriceUnit: 0, currency: 'USDC', withdrawalDelayDays: 7 },
  },
  limits: {
    initializeMs: 60_000,
    callMs: 60_000,
    submissionMs: null,
    resultCharacters: 1_000_000,
    toolNamePattern,
    descriptionCharacters: 40,
  },
  toolMeta: { type: 'object', properties: { rateLimit: { type: 'object' } }, additionalProperties: true },
  smoke: { string: 'test', number: 1, boolean: true, claims: {} },
  rules: { facts: 'should', overrides: {} },
  sources: {
    token: 'RFC 6750, RFC 7519; C§5.7 leaves it open',
    'token.refusalStatus': 'C§7: not shown',
    'protocol.modern':
      'revision 2026-07-28, which hosts probe for first; C§3.1 read literally would answer it with 400',
    'listing.url': 'C§1.6: a web form, its address not shown',
    'listing.categories': 'C§2.5: not shown',
    'listing.nameLength': 'C§2.5 sets no limit; a common size of such a field',
    'listing.descriptionLength': 'C§2.5 sets no limit; a common size of such a field',
    'listing.descriptionSections': 'C§2.5: free text',
    'listing.descriptionForbids': 'C§2.5: free text',
    'listing.price': 'C§2.5: an amount in US dollars, zero allowed',
    'listing.stake': 'C§8',
    'limits.initializeMs': 'C§8: not shown; the request timeout of the MCP SDK',
    'limits.callMs': 'C§8: not shown; the request timeout of the MCP SDK',
    'limits.submissionMs': 'C§8: not shown',
    'limits.resultCharacters': 'C§8: not shown; about what a language model can read at once',
    'limits.toolNamePattern': 'the names that all widespread MCP clients accept',
    'limits.descriptionCharacters': 'C§2.1 asks for a specific text: at least a short sentence',
    toolMeta: 'C§2.1',
    smoke: 'the contract has no submission test; plain values of each type',
    rules: 'C§1: the contract decides, platform facts are advice',
  },
};
