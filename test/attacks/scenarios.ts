import { modernRequest } from '../runtime/modern.ts';
import { initializeParams } from '../runtime/support.ts';
import { argumentAttacks } from './arguments.ts';
import { type Flood, requestText } from './attacker.ts';
import type { Era, Victim } from './victim.ts';

/** An attack: the data to send from 127.0.0.2 and 127.0.0.3, and the limits that must stop it. */
export interface Scenario {
  readonly name: string;
  readonly sent: string;
  /** One of these must be in the log. */
  readonly limits: readonly string[];
  /** The protocol versions for which the attack differs; one of them by default. */
  readonly eras?: readonly Era[];
  /** Whether calls run, or their answers wait, when the server is terminated. */
  readonly calls?: true;
  /** Maximum number of file descriptors of the server. */
  readonly descriptors?: number;
  flood(victim: Victim, era: Era): Promise<Flood>;
}

const rpc = (method: string, params?: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const initialize = requestText('POST', {}, rpc('initialize', initializeParams));

/** Has the form of a token, but is not valid. */
const lookalike = { authorization: 'Bearer a.b.c' };
const headersOf = (era: Era) => (era === 'stateless' ? modernRequest('tools/list').headers : {});
const mebibyte = 2 ** 20;
/** The beginning of a batch that costs most per byte: each element becomes an object. */
const batch = '[{"method":"tools/call"},';
const both: readonly Era[] = ['sessions', 'stateless'];

export const scenarios: readonly Scenario[] = [
  {
    name: 'pipelined streams',
    sent: '100 connections × 400 GET /mcp of one session',
    limits: ['MAX_PIPELINED'],
    flood: async ({ session }) => ({ connections: 100, parts: [[requestText('GET', session), 400]] }),
  },
  {
    name: 'requests behind a stream',
    sent: '200 connections × 1 GET /mcp and 300 tools/list',
    // The stream ends as soon as a request waits behind it, so the lists are answered in turn.
    limits: [],
    flood: async ({ session }) => ({
      connections: 200,
      parts: [
        [requestText('GET', session), 1],
        [requestText('POST', session, rpc('tools/list')), 300],
      ],
    }),
  },
  {
    name: 'pipelined lists',
    sent: '200 connections × 300 tools/list',
    limits: ['MAX_PIPELINED'],
    eras: both,
    flood: async (victim, era) => ({
      connections: 200,
      parts: [[victim.request(era, 'tools/list', {}), 300]],
    }),
  },
  {
    name: 'streams of many sessions',
    sent: '1,900 connections × 1 GET /mcp, each in a session of its own',
    limits: ['MAX_STREAMS'],
    flood: async () => ({
      connections: 1_900,
      first: initialize,
      parts: [[requestText('GET', { 'mcp-session-id': 'SESSION' }), 1]],
    }),
  },
  {
    name: 'unfinished paid bodies',
    sent: '1,000 POSTs of 1 MiB less one byte, with a valid token',
    limits: ['MAX_MEMORY_BYTES'],
    eras: both,
    flood: async (victim, era) => ({
      connections: 1_000,
      parts: [
        [requestText('POST', { ...headersOf(era), ...(await victim.paid()) }, '', mebibyte), 1],
        ['x', mebibyte - 1],
      ],
    }),
  },
  {
    name: 'finished paid bodies',
    calls: true,
    sent: '60 calls of 1 MiB of a tool that takes two seconds, with a valid token; all last bytes at once',
    // They wait for their turn, and are answered or refused one by one.
    limits: [],
    eras: both,
    flood: async (victim, era) => {
      const call = { name: 'get_slowly', arguments: { coin: 'btc', more: 'MORE' } };
      const text = victim.request(era, 'tools/call', call, await victim.paid());
      const [head = '', tail = ''] = text.split('"MORE"');
      const objects = Math.floor((mebibyte - 2_000) / 3);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]) - '"MORE"'.length + 4 + 3 * objects;
      return {
        connections: 60,
        parts: [
          [`${head.replace(/content-length: \d+/i, `content-length: ${length}`)}[`, 1],
          ['{},', objects],
          [`{}]${tail.slice(0, -1)}`, 1],
        ],
        last: '}',
      };
    },
  },
  {
    name: 'bodies of 60 kB without a token',
    sent: '1,000 POSTs of 60 kB less one byte, with what looks like a token',
    limits: ['MAX_MEMORY_BYTES'],
    flood: async () => ({
      connections: 1_000,
      parts: [
        [requestText('POST', lookalike, '', 60_000), 1],
        ['x', 59_999],
      ],
    }),
  },
  {
    name: 'unfinished bodies',
    sent: '1,000 POSTs of 1 MiB less one byte, with what looks like a token',
    limits: [],
    eras: both,
    flood: async (_, era) => ({
      connections: 1_000,
      parts: [
        [requestText('POST', { ...headersOf(era), ...lookalike }, '', mebibyte), 1],
        ['x', mebibyte - 1],
      ],
    }),
  },
  {
    name: 'finished bodies',
    sent: '60 batches of 1 MiB with what looks like a token; all last bytes at once',
    limits: [],
    eras: both,
    flood: async (_, era) => ({
      connections: 60,
      parts: [
        [requestText('POST', { ...headersOf(era), ...lookalike }, batch, mebibyte), 1],
        ['{},', Math.floor((mebibyte - batch.length - 3) / 3)],
        [' ', (mebibyte - batch.length - 3) % 3],
        ['{}', 1],
      ],
      last: ']',
    }),
  },
  ...[lookalike, {}].map(
    (headers): Scenario => ({
      name: `finished small bodies ${'authorization' in headers ? 'with what looks like' : 'without'} a token`,
      sent: '900 batches of 65,535 bytes; all last bytes at once',
      limits: [],
      eras: both,
      flood: async (_, era) => ({
        connections: 900,
        parts: [
          [requestText('POST', { ...headersOf(era), ...headers }, batch, 65_535), 1],
          ['{},', Math.floor((65_535 - batch.length - 3) / 3)],
          [' ', (65_535 - batch.length - 3) % 3],
          ['{}', 1],
        ],
        last: ']',
      }),
    }),
  ),
  ...[1, 5, 20, 100].map(
    (connections): Scenario => ({
      name: `chunks of one byte, ${connections} connections`,
      sent: `${connections} × 1,000,000 chunks of one byte`,
      limits: [],
      flood: async () => ({
        connections,
        parts: [
          [requestText('POST', { 'transfer-encoding': 'chunked', 'content-type': 'application/json' }), 1],
          ['1\r\n \r\n', 1_000_000],
        ],
      }),
    }),
  ),
  {
    name: 'chunks of one byte behind a request',
    sent: '500 connections × 1 GET /mcp and 1 POST in 20,000 chunks of one byte',
    limits: [],
    flood: async () => ({
      connections: 500,
      parts: [
        [requestText('GET', {}), 1],
        [requestText('POST', { 'transfer-encoding': 'chunked', 'content-type': 'application/json' }), 1],
        ['1\r\n \r\n', 20_000],
      ],
    }),
  },
  {
    name: 'tiny headers',
    sent: '600 connections × 6 requests with 16 KB of headers of four bytes',
    limits: [],
    flood: async () => ({
      connections: 600,
      parts: [[`GET /health HTTP/1.1\r\nhost: localhost\r\n${'a:\r\n'.repeat(4_000)}\r\n`, 6]],
    }),
  },
  {
    name: 'one silent socket from each of many addresses',
    sent: '2,400 addresses × 1 connection that sends nothing',
    limits: ['MAX_CONNECTIONS'],
    flood: async () => ({ connections: 2_400, addresses: 2_400, parts: [] }),
  },
  {
    name: 'unfinished bodies without a token',
    sent: '1,000 POSTs of 64 KiB less one byte',
    limits: ['UNPAID_BODY_MS'],
    eras: both,
    flood: async (_, era) => ({
      connections: 1_000,
      parts: [
        [requestText('POST', headersOf(era), '', 65_536), 1],
        ['x', 65_535],
      ],
    }),
  },
  {
    name: 'slow readers',
    calls: true,
    sent: '100 paid calls whose results of 7 MB nobody reads',
    limits: ['MAX_MEMORY_BYTES'],
    eras: both,
    flood: async (victim, era) => {
      const call = { name: 'get_text', arguments: { bytes: 7_000_000 } };
      const text = victim.request(era, 'tools/call', call, await victim.paid());
      return { connections: 100, parts: [[text, 1]] };
    },
  },
  {
    name: 'silent sockets',
    sent: '600 connections that send nothing to a server with 256 file descriptors',
    limits: ['MAX_CONNECTIONS'],
    descriptors: 256,
    flood: async () => ({ connections: 600, parts: [] }),
  },
  {
    name: 'deep nesting',
    sent: '100 bodies of 1,000,000 brackets, with a valid token',
    limits: [],
    eras: both,
    flood: async (victim, era) => ({
      connections: 100,
      parts: [
        [requestText('POST', { ...headersOf(era), ...(await victim.paid()) }, '', 1_000_000), 1],
        ['[', 1_000_000],
      ],
    }),
  },
  ...argumentAttacks,
];
