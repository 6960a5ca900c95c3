import type { ToolSpec } from '../../src/model/tool-model.ts';

/** Text that breaks templates without escaping, in every context. */
export const hostileText =
  'Returns "prices" of `pairs` when ${process.exit(1)} \\ \' */ // <!-- {{x}} {{{x}}} <script>alert(1)</script> # - : %s\n' +
  'second line\r\nthird \u2028\u2029 line 🚀 ﷽ \u202e $(rm -rf /) | "; process.exit(2); //';

const shortHostile = 'a"b\'c`d${e}f*/g\\h{{i}}<script>🚀';

const everyType: ToolSpec = {
  name: 'every_type',
  description:
    'Returns one value of every type that a field can have; use it to see how each of them is served.',
  returns: 'record',
  input: [
    {
      name: 'symbol',
      type: 'string',
      description: 'Trading pair',
      required: true,
      default: 'BTC',
      examples: ['BTC', 'ETH'],
    },
    { name: 'limit', type: 'integer', description: 'How many', minimum: 1, maximum: 100, default: 10 },
    { name: 'ratio', type: 'number', description: 'A ratio', minimum: 0.5, maximum: 0.9, examples: [0.7] },
    { name: 'live', type: 'boolean', description: 'Live or delayed', default: false },
    { name: 'side', type: 'string', description: 'Side', enum: ['buy', 'sell'] },
    { name: 'tags', type: 'array', description: 'Tags', items: { type: 'string' }, examples: [['a', 'b']] },
    { name: 'code', type: 'string', description: 'Code', pattern: '^[A-Z]{3}-\\d+$', examples: ['ABC-1'] },
    {
      name: 'at',
      type: 'string',
      description: 'When',
      format: 'date-time',
      examples: ['2026-01-01T00:00:00Z'],
    },
    {
      name: 'range',
      type: 'object',
      description: 'Range',
      examples: [{ from: 1, to: 2 }],
      fields: [
        { name: 'from', type: 'number', description: 'From', required: true },
        { name: 'to', type: 'number', description: 'To', required: true },
      ],
    },
  ],
  output: [
    { name: 'text', type: 'string', description: 'Text', required: true },
    { name: 'count', type: 'integer', description: 'Count', required: true, minimum: 3, maximum: 9 },
    { name: 'price', type: 'number', description: 'Price', required: true },
    { name: 'open', type: 'boolean', description: 'Open', required: true },
    { name: 'note', type: 'string', description: 'Note', nullable: true },
    { name: 'state', type: 'string', description: 'State', required: true, enum: ['up', 'down'] },
    { name: 'when', type: 'string', description: 'When', required: true, format: 'date-time' },
    {
      name: 'code',
      type: 'string',
      description: 'Code',
      required: true,
      pattern: '^[A-Z]{3}-\\d+$',
      examples: ['ABC-1'],
    },
    { name: 'numbers', type: 'array', description: 'Numbers', required: true, items: { type: 'number' } },
    { name: 'words', type: 'array', description: 'Words', items: { type: 'string', enum: ['x', 'y'] } },
    {
      name: 'point',
      type: 'object',
      description: 'Point',
      required: true,
      fields: [
        { name: 'x', type: 'number', description: 'X', required: true },
        { name: 'y', type: 'number', description: 'Y' },
      ],
    },
    {
      name: 'rows',
      type: 'array',
      description: 'Rows',
      required: true,
      items: {
        type: 'object',
        description: 'Row',
        fields: [
          { name: 'id', type: 'string', description: 'Id', required: true },
          { name: 'flags', type: 'array', description: 'Flags', items: { type: 'boolean' } },
        ],
      },
    },
  ],
};

const noInputs: ToolSpec = {
  name: 'list_chains',
  description:
    'Returns the chains that are supported; use it to find a valid chain before you ask for a price.',
  returns: 'list',
  input: [],
  output: [
    { name: 'id', type: 'integer', description: 'Chain id', required: true },
    { name: 'label', type: 'string', description: 'Name of the chain', required: true },
  ],
};

const nested: ToolSpec = {
  name: 'get-tree',
  description:
    'Returns a tree of orders that is nested three levels deep; use it when one level is not enough.',
  returns: 'record',
  input: [
    {
      name: 'filter',
      type: 'object',
      description: 'Filter',
      required: true,
      examples: [{ by: { ids: [1, 2] } }],
      fields: [
        {
          name: 'by',
          type: 'object',
          description: 'By',
          required: true,
          fields: [
            { name: 'ids', type: 'array', description: 'Ids', required: true, items: { type: 'integer' } },
          ],
        },
      ],
    },
  ],
  output: [
    {
      name: 'customer',
      type: 'object',
      description: 'Customer',
      required: true,
      fields: [
        {
          name: 'orders',
          type: 'array',
          description: 'Orders',
          required: true,
          items: {
            type: 'object',
            fields: [
              {
                name: 'lines',
                type: 'array',
                description: 'Lines',
                required: true,
                items: {
                  type: 'object',
                  fields: [{ name: 'sku', type: 'string', description: 'Article', required: true }],
                },
              },
            ],
          },
        },
        { name: 'name', type: 'string', description: 'Name', required: true },
      ],
    },
  ],
};

const hostile: ToolSpec = {
  name: 'constructor',
  description: hostileText,
  returns: 'record',
  input: [
    {
      name: 'constructor',
      type: 'string',
      description: hostileText,
      required: true,
      default: shortHostile,
      examples: [shortHostile, '\n'],
    },
    { name: 'toString', type: 'string', description: hostileText, enum: [shortHostile, '`', "'", '\\'] },
    { name: 'a b', type: 'integer', description: hostileText, default: 1 },
    { name: 'class', type: 'boolean', description: hostileText, default: false },
  ],
  output: [
    { name: 'constructor', type: 'string', description: hostileText, required: true },
    { name: 'hasOwnProperty', type: 'number', description: hostileText, required: true },
    { name: '*/ `x` ${y}', type: 'string', description: hostileText, examples: [hostileText] },
    { name: '"quoted"', type: 'string', description: hostileText, enum: [shortHostile] },
    {
      name: '🚀',
      type: 'array',
      description: hostileText,
      items: { type: 'string', examples: [shortHostile] },
    },
  ],
};

export interface Variant {
  readonly name: string;
  readonly args: readonly string[];
  /** Written to a file and passed with `--spec`. */
  readonly spec?: unknown;
  /** Written to a file and passed with `--platform`. */
  readonly platform?: (generic: Record<string, unknown>) => unknown;
  /** The SHOULD rules that its definitions fail; none by default. */
  readonly advised?: readonly string[];
}

export const variants: readonly Variant[] = [
  { name: 'list', args: [], spec: { ...everyType, name: 'every_type_list', returns: 'list' } },
  { name: 'several', args: [], spec: [everyType, noInputs, nested] },
  {
    name: 'context',
    args: ['--platform', 'context'],
    spec: {
      ...everyType,
      _meta: {
        surface: 'both',
        queryEligible: true,
        latencyClass: 'fast',
        pricing: { executeUsd: '0.001' },
        rateLimit: { maxRequestsPerMinute: 60 },
      },
    },
  },
  {
    name: 'own-platform',
    args: [],
    spec: noInputs,
    platform: (generic) => ({
      ...generic,
      name: 'own',
      title: 'Own Market',
      token: {
        ...(generic.token as object),
        header: 'x-market-token',
        scheme: 'Token',
        algorithms: ['ES256'],
        refusalStatus: 403,
      },
    }),
  },
  {
    name: 'hostile',
    args: ['--platform', 'context'],
    spec: hostile,
    advised: ['fit.property-names', 'fit.no-instructions', 'fit.repetition'],
  },
];
