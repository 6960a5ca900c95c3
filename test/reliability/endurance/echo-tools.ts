import type { Field } from '../../../src/model/tool-model.ts';
import type { AuthoredTool } from '../authored.ts';

const nonce: Field = {
  name: 'nonce',
  type: 'string',
  description: 'A text that comes back',
  required: true,
  examples: ['first'],
};

/** Tools that return the caller's arguments: at once, in a list, or later. */
export const echoTools: readonly AuthoredTool[] = [
  {
    spec: {
      name: 'echo_text',
      description: 'Returns the text it is given and its length; use it to see whose answer an answer is.',
      returns: 'record',
      input: [
        nonce,
        {
          name: 'ending',
          type: 'string',
          description: 'How the call ends',
          enum: ['found', 'empty', 'fail', 'mismatch'],
          default: 'found',
        },
      ],
      output: [nonce, { name: 'length', type: 'integer', description: 'Its length', required: true }],
    },
    read: [
      'signal.throwIfAborted();',
      "if (input.ending === 'empty') return undefined;",
      "if (input.ending === 'fail') throw new Error('the source is down');",
      `if (input.ending === 'mismatch') return JSON.parse('{"nonce":7}');`,
      'return { nonce: input.nonce, length: input.nonce.length };',
    ],
  },
  {
    spec: {
      name: 'echo_rows',
      description:
        'Returns the text it is given in as many rows as asked for; use it for answers of any size.',
      returns: 'list',
      input: [
        nonce,
        { name: 'count', type: 'integer', description: 'Rows', minimum: 0, maximum: 50, default: 3 },
      ],
      output: [nonce, { name: 'index', type: 'integer', description: 'Which row', required: true }],
    },
    read: [
      'signal.throwIfAborted();',
      'const items = Array.from({ length: input.count }, (_, index) => ({ nonce: input.nonce, index }));',
      'return { items, count: items.length };',
    ],
  },
  {
    spec: {
      name: 'echo_later',
      description: 'Returns the text it is given after a while; use it to let answers overtake each other.',
      returns: 'record',
      input: [
        nonce,
        {
          name: 'ms',
          type: 'integer',
          description: 'How long to wait, in milliseconds',
          minimum: 0,
          default: 1,
        },
      ],
      output: [nonce],
    },
    read: [
      'await new Promise<void>((resolve, reject) => {',
      '  const timer = setTimeout(resolve, input.ms);',
      "  signal.addEventListener('abort', () => {",
      '    clearTimeout(timer);',
      '    reject(signal.reason);',
      '  });',
      '});',
      'return { nonce: input.nonce };',
    ],
  },
];
