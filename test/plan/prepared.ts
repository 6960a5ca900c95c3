import { signals } from '../../packages/contract/src/definition/outcomes.ts';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import type { PreparedTool } from '../../src/model/tool-model.ts';
import type { ProjectAnswers } from '../../src/plan/plan-project.ts';

/** Text that breaks templates without escaping, in every context. */
export const hostile =
  'Returns "a" of `b` when ${process.exit(1)} \\ \' */ // <!-- {{x}} {{{x}}} <script>\nsecond\r\u2028\u2029 🚀 \u202e #';

export const gasPrice: PreparedTool = {
  definition: {
    name: 'get_gas_price',
    description: 'Returns the current gas price of a chain in gwei; use it before a transaction is sent.',
    inputSchema: {
      type: 'object',
      properties: {
        chain: {
          type: 'string',
          description: 'Chain to look up',
          default: 'base',
          examples: ['base', 'ethereum'],
        },
      },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: {
        gwei: { type: ['number', 'null'], description: 'Price in gwei' },
        history: {
          type: 'array',
          description: 'Prices of the last blocks',
          items: {
            type: 'object',
            properties: {
              block: { type: 'integer', description: 'Number of the block' },
              gwei: { type: ['number', 'null'], description: 'Price in gwei' },
            },
            required: ['block', 'gwei'],
          },
        },
        ...signals,
      },
      required: ['gwei'],
    },
    _meta: { rateLimit: { maxRequestsPerMinute: 60 } },
  },
  keyParameter: 'chain',
  samples: [
    {
      key: 'base',
      answer: {
        gwei: 0.01,
        history: [
          { block: 1, gwei: 0.01 },
          { block: 2, gwei: null },
        ],
      },
    },
    { key: 'ethereum', answer: { gwei: 12 } },
  ],
  examples: [
    { arguments: { chain: 'base' }, expect: 'found' },
    { arguments: { chain: 'atlantis' }, expect: 'empty' },
  ],
};

export const listChains: PreparedTool = {
  definition: {
    name: 'list_chains',
    description: 'Returns the chains that are supported; use it to find a valid chain.',
    inputSchema: { type: 'object', properties: {}, required: [] },
    outputSchema: {
      type: 'object',
      properties: {
        ...signals,
        items: { type: 'array', description: 'The chains', items: { type: 'string', description: 'Name' } },
      },
      required: ['items'],
    },
  },
  keyParameter: null,
  samples: [{ key: null, answer: { items: ['base', 'ethereum'] } }],
  examples: [{ arguments: {}, expect: 'found' }],
};

export const hostileTool: PreparedTool = {
  definition: {
    name: 'constructor',
    description: hostile,
    inputSchema: {
      type: 'object',
      properties: {
        'a b': { type: 'string', description: hostile, enum: ['`', "'", '"', '\\', hostile] },
        '*/ `x` ${y}': { type: 'integer', description: hostile },
        class: { type: 'boolean', description: hostile },
      },
      required: [],
    },
    outputSchema: {
      type: 'object',
      properties: {
        constructor: { type: ['string', 'null'], description: hostile },
        '"quoted"\n': { type: ['string', 'null'], description: hostile, enum: ["a'", null] },
        '🚀': { type: 'array', description: hostile, items: { type: 'string', description: hostile } },
        ...signals,
        error: { type: 'string', description: hostile },
      },
      required: ['constructor'],
    },
  },
  keyParameter: 'a b',
  samples: [
    { key: null, answer: { constructor: hostile, '"quoted"\n': "a'" } },
    { key: '`', answer: { constructor: 'x', '🚀': [hostile] } },
  ],
  examples: [
    { arguments: {}, expect: 'found' },
    { arguments: { 'a b': '\\' }, expect: 'empty' },
  ],
};

export const preparedTools = [gasPrice, listChains, hostileTool] as const;

/** The answers of a project with these tools. */
export const preparedAnswers: ProjectAnswers = {
  name: 'gas',
  profile: generic,
  packageManager: 'npm',
  tools: preparedTools,
  packages: {
    program: 'file:vendor/create-market-mcp-1.2.3-abc.tgz',
    runtime: 'file:vendor/market-mcp-runtime-1.2.3-abc.tgz',
  },
  start: 'blank',
  targets: [],
};
