import { toolNamePattern } from '../definition/name.ts';
import type { PlatformProfile } from './profile.ts';

const money = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };

const rateLimit = {
  type: 'object',
  properties: {
    maxRequestsPerMinute: { type: 'number', exclusiveMinimum: 0 },
    cooldownMs: { type: 'number', minimum: 0 },
    maxConcurrency: { type: 'integer', minimum: 1 },
    supportsBulk: { type: 'boolean' },
    recommendedBatchTools: { type: 'array', items: { type: 'string', format: 'tool-name' } },
    notes: { type: 'string' },
  },
};

const publicKey = [
  '-----BEGIN PUBLIC KEY-----',
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAs9YOgdpkmVQ5aoNovjsu',
  'chJdV54OT7dUdbVXz914a7Px8EwnpDqhsvG7WO8xL8sj2Rn6ueAJBk+04Hy/P/UN',
  'RJyp23XL5TsGmb4rbfg0ii0MiL2nbVXuqvAe3JSM2BOFZR5bpwIVIaa8aonfamUy',
  'VXGc7OosF90ThdKjm9cXlVM+kV6IgSWc1502X7M3abQqRcTU/rluVXnky0eiWDQa',
  'lfOKbr7w0u72dZjiZPwnNDsX6PEEgvfmoautTFYTQgnZjDzq8UimTcv3KF+hJ5Ep',
  'weipe6amt9lzQzi8WXaFKpOXHQs//WDlUytz/Hl8pvd5craZKzo6Kyrg1Vfan7H3',
  'TQIDAQAB',
  '-----END PUBLIC KEY-----',
].join('\n');

/** The public marketplace of ctxprotocol.com. */
export const context: PlatformProfile = {
  name: 'context',
  title: 'Context (ctxprotocol.com)',
  token: {
    header: 'authorization',
    scheme: 'Bearer',
    algorithms: ['RS256'],
    issuer: 'https://ctxprotocol.com',
    jwksUrl: 'https://ctxprotocol.com/.well-known/jwks.json',
    fallbackKey: { pem: publicKey, source: 'as the marketplace ships it in its SDK 0.23.0' },
    audience: 'endpoint-url',
    lifetimeSeconds: 120,
    clockToleranceSeconds: 5,
    claims: { toolId: 'local-test' },
    refusalStatus: 401,
  },
  protocol: { modern: 'on' },
  listing: {
    url: 'https://ctxprotocol.com/contribute',
    categories: [
      'Crypto & DeFi',
      'Financial Markets',
      'Business & Sales',
      'Marketing & SEO',
      'Legal & Regulatory',
      'Real World',
      'Developer Tools',
      'Research & Academia',
      'Utility',
      'Other',
    ],
    nameLength: { minimum: 1, maximum: 255 },
    descriptionLength: { minimum: 1, maximum: 5000 },
    descriptionSections: ['Features:', 'Try asking:', 'Agent tips:'],
    descriptionQuestions: 7,
    descriptionForbids: ['—', 'mdash', '**'],
    price: { pattern: '^\\d+\\.?\\d{0,4}$', maximum: 100, currency: 'USD' },
    stake: { minimum: 10, perPriceUnit: 100, currency: 'USDC', withdrawalDelayDays: 7 },
  },
  limits: {
    initializeMs: 15_000,
    callMs: 30_000,
    submissionMs: 120_000,
    resultCharacters: 500_000,
    toolNamePattern,
    descriptionCharacters: 40,
  },
  toolMeta: {
    type: 'object',
    properties: {
      surface: { enum: ['answer', 'execute', 'both'] },
      queryEligible: { type: 'boolean' },
      latencyClass: { enum: ['instant', 'fast', 'slow', 'streaming'] },
      pricing: { type: 'object', properties: { executeUsd: money, queryUsd: money } },
      rateLimit,
      rateLimitHints: rateLimit,
      contextRequirements: {
        type: 'array',
        items: { enum: ['hyperliquid', 'polymarket', 'wallet'], format: 'context-input' },
      },
    },
    allOf: [
      {
        if: { required: ['surface'], properties: { surface: { enum: ['execute', 'both'] } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['pricing'], properties: { pricing: { required: ['executeUsd'] } } },
      },
      {
        if: { required: ['surface'], properties: { surface: { const: 'execute' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { queryEligible: { const: false } } },
      },
    ],
  },
  smoke: {
    string: 'test',
    number: 1,
    boolean: true,
    claims: { toolId: 'smoke-test', purpose: 'smoke-test' },
  },
  rules: { facts: 'own', overrides: {} },
  sources: {
    token: 'app lib/auth/service-auth.ts; sdk src/auth/index.ts',
    'token.fallbackKey':
      'sdk 0.23.0 src/auth/index.ts: used if the JWKS cannot be fetched; the app has no route for it',
    'token.clockToleranceSeconds': 'sdk src/auth/index.ts sets none; a few seconds between two machines',
    'protocol.modern':
      'revision 2026-07-28, which hosts probe for first; C§3.1 read literally would answer it with 400',
    listing: 'app contribute/schema.ts',
    'listing.descriptionSections': 'sdk docs/mcp-server-analysis-prompt.md',
    'listing.descriptionQuestions': 'sdk docs/mcp-server-analysis-prompt.md',
    'listing.descriptionForbids': 'sdk docs/mcp-server-analysis-prompt.md',
    'listing.stake': 'app lib/constants.ts; C§8 for the minimum and the delay',
    'listing.url': 'docs grants.mdx',
    'limits.initializeMs': 'app cron/validate-tools',
    'limits.callMs': 'app contribute/actions.ts (docs guides/build-tools.mdx: 60 s)',
    'limits.submissionMs': 'app contribute/actions.ts: one token for the whole sequence',
    'limits.resultCharacters': 'docs guides/build-tools.mdx',
    'limits.toolNamePattern': 'the names that all widespread MCP clients accept',
    'limits.descriptionCharacters':
      'docs guides/troubleshooting.mdx asks for specific text; a short sentence at least',
    toolMeta: 'docs guides/tool-metadata.mdx; sdk src/client/types.ts',
    smoke: 'app contribute/actions.ts',
    rules: 'each rule names its own source',
  },
};
