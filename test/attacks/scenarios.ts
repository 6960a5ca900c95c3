import { attackers, requestText } from './attacker.ts';
import type { Victim } from './victim.ts';

/** An attack: what is sent, from 127.0.0.2 and others, and the limits that must have stopped it. */
export interface Scenario {
  readonly name: string;
  readonly sent: string;
  /** One of these must be in the log. */
  readonly limits: readonly string[];
  /** File descriptors of the server. */
  readonly descriptors?: number;
  /** @returns the number of bytes that were sent */
  run(victim: Victim): Promise<number>;
}

const rpc = (method: string, params?: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** Sends a text on many connections, none of which reads. */
async function flood(victim: Victim, connections: number, text: string): Promise<number> {
  let sent = 0;
  for (const from of ['127.0.0.2', '127.0.0.3']) {
    for (const socket of await attackers(connections / 2, victim.port, from)) {
      socket.pause().write(text);
      sent += text.length;
    }
  }
  return sent;
}

/** What has the form of a token, and is none. */
const lookalike = { authorization: 'Bearer a.b.c' };
const mebibyte = 2 ** 20;

export const scenarios: readonly Scenario[] = [
  {
    name: 'pipelined streams',
    sent: '100 connections × 400 GET /mcp of one session',
    limits: ['MAX_PIPELINED'],
    run: (victim) => flood(victim, 100, requestText('GET', victim.session).repeat(400)),
  },
  {
    name: 'requests behind a stream',
    sent: '200 connections × 1 GET /mcp and 300 tools/list',
    // The stream ends as soon as a request waits behind it, so that the lists are answered in turn.
    limits: [],
    run: (victim) =>
      flood(
        victim,
        200,
        requestText('GET', victim.session) +
          requestText('POST', victim.session, rpc('tools/list')).repeat(300),
      ),
  },
  {
    name: 'streams of many sessions',
    sent: '1,900 connections × 1 GET /mcp, each in a session of its own',
    limits: ['MAX_STREAMS'],
    async run(victim) {
      const params = {
        protocolVersion: '2024-11-05',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      };
      const sockets = await attackers(1_900, victim.port);
      const url = `http://127.0.0.1:${victim.port}/mcp`;
      const headers = { 'content-type': 'application/json' };
      for (const socket of sockets) {
        const opened = await fetch(url, { method: 'POST', headers, body: rpc('initialize', params) });
        await opened.text();
        const session = opened.headers.get('mcp-session-id') ?? '';
        socket.pause().write(requestText('GET', { 'mcp-session-id': session }));
      }
      return 1_900 * 400;
    },
  },
  {
    name: 'unfinished bodies',
    sent: '1,000 POSTs of 1 MiB less one byte, with what looks like a token',
    limits: ['BODY_BUDGET_BYTES'],
    run: (victim) => flood(victim, 1_000, requestText('POST', lookalike, 'x'.repeat(mebibyte - 1), mebibyte)),
  },
  {
    name: 'unfinished bodies without a token',
    sent: '1,000 POSTs of 64 KiB less one byte',
    limits: ['UNPAID_BODY_MS'],
    run: (victim) => flood(victim, 1_000, requestText('POST', {}, 'x'.repeat(65_535), 65_536)),
  },
  {
    name: 'slow readers',
    sent: '100 paid calls whose results of 7 MB nobody reads',
    limits: ['ANSWER_BUDGET_BYTES'],
    async run(victim) {
      const body = rpc('tools/call', { name: 'get_text', arguments: { bytes: 7_000_000 } });
      const text = requestText('POST', { ...victim.session, ...(await victim.paid()) }, body);
      return flood(victim, 100, text);
    },
  },
  {
    name: 'silent sockets',
    sent: '600 connections that send nothing to a server with 256 file descriptors',
    limits: ['MAX_CONNECTIONS'],
    descriptors: 256,
    run: (victim) => flood(victim, 600, ''),
  },
  {
    name: 'deep nesting',
    sent: '100 bodies of 1,000,000 brackets, with what looks like a token',
    limits: [],
    run: (victim) => flood(victim, 100, requestText('POST', lookalike, '['.repeat(1_000_000))),
  },
];
