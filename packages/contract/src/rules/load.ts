import { connect as plainConnect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connect as secureConnect } from 'node:tls';
import { posixLine } from '../command/shell.ts';
import { grouped } from '../json/grouped.ts';
import type { Problem } from '../model.ts';
import { answersCalls, canInitialize, lists, reportsHealthInTime } from '../wire/controls.ts';
import type { Probe } from '../wire/probe.ts';
import { NoAnswer } from '../wire/receive.ts';
import { nextId, rpcRequest } from '../wire/rpc.ts';
import { graceMs, healthMs, settleMs } from '../wire/timeouts.ts';
import { answerProblems, isClientError } from './answer-problems.ts';
import { mergeLive } from './cases.ts';
import { type LiveRule, should } from './rule.ts';

const largeBytes = 4 * 1024 * 1024;
const depth = 20_000;
/** What follows the first headers of a request that is never finished. */
const noHeaders = '';
const noBody = 'content-length: 100\r\n\r\n{"jsonrpc"';

/** Requests that exhaust a careless server: too large, too deep, too slow. */
export const loadRules: readonly LiveRule[] = [
  mergeLive({ title: 'a body of 4 MB is refused, with and without a declared length' }, [
    large('http.large-body', 'a body of 4 MB', false),
    large('http.large-body-chunked', 'a body of 4 MB without a declared length', true),
  ]),
  {
    ...should('http.deep-body', 'C§8: limits not shown'),
    title: `a body nested ${grouped(depth)} levels deep does not harm the server`,
    turn: 'last',
    controls: [lists, answersCalls, reportsHealthInTime],
    mustAnswer: true,
    fix: 'Limit the depth of values before you parse, clone or validate them recursively: a stack that overflows at the wrong place ends the process, for all callers.',
    check: async (probe) => {
      const session = await probe.session();
      const token = await probe.payment();
      const { name } = await probe.authenticationCall();
      const args = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const params = `{"name":${JSON.stringify(name)},"arguments":${args}}`;
      const bodies = [
        `${'['.repeat(depth)}${']'.repeat(depth)}`,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
      ];
      const answers = await Promise.all(bodies.map((body) => probe.post(body, { session, token })));
      return [
        ...answers.flatMap((answer) =>
          answerProblems(answer.status < 500, 'POST of a deep body', 'HTTP 200 or 4xx', answer),
        ),
        ...(await healthProblems(probe)),
      ];
    },
  },
  mergeLive({ title: 'a client that does not finish its request does not delay other clients' }, [
    slow('http.slow-body', 'a client that does not finish its body', noBody),
    slow('http.slow-headers', 'a client that does not finish its headers', noHeaders),
  ]),
];

function large(id: string, title: string, chunked: boolean): LiveRule {
  return {
    ...should(id, 'C§8: limits not shown'),
    title: `${title} is refused`,
    turn: 'last',
    controls: [lists, reportsHealthInTime],
    mustAnswer: true,
    fix: 'Limit the body, for instance to 1 MB, and answer 413. Count the bytes as they arrive.',
    check: async (probe) => {
      const session = await probe.session();
      const body = JSON.stringify(rpcRequest(nextId(), 'tools/list', { filler: 'x'.repeat(largeBytes) }));
      return [...(await refusalProblems(probe, body, session, chunked)), ...(await healthProblems(probe))];
    },
  };
}

/** A server that closes the connection while it receives the body also refuses the request. */
async function refusalProblems(
  probe: Probe,
  body: string,
  session: string | undefined,
  chunked: boolean,
): Promise<readonly Problem[]> {
  try {
    const answer = await probe.post(body, { session, chunked });
    return answerProblems(isClientError(answer), 'POST of 4 MB', 'HTTP 413', answer);
  } catch (error) {
    if (error instanceof NoAnswer && /EPIPE|ECONNRESET/.test(error.message)) return [];
    throw error;
  }
}

function slow(id: string, title: string, rest: string): LiveRule {
  return {
    ...should(id, 'C§8: time-outs not shown'),
    title: `${title} does not delay other clients`,
    turn: 'last',
    controls: [canInitialize, reportsHealthInTime],
    mustAnswer: true,
    fix: 'Answer other requests meanwhile, and close such connections after a timeout.',
    check: async (probe) => {
      const stalledTogether = probe.once('stalled', () => stalledProblems(probe, [noHeaders, noBody]));
      const problems = await stalledTogether.catch(() => undefined);
      if (problems?.length === 0) return [];
      return stalledProblems(probe, [rest]);
    },
  };
}

/** Errors in the health of a server while clients stall, eight after each of these beginnings of a request. */
async function stalledProblems(probe: Probe, beginnings: readonly string[]): Promise<readonly Problem[]> {
  const stalled = beginnings.flatMap((rest) =>
    Array.from({ length: 8 }, () => ({ rest, socket: openSocket(probe.url) })),
  );
  try {
    await Promise.all(stalled.map(({ rest, socket }) => startRequest(socket, probe.url, rest)));
    await setTimeout(settleMs);
    return await healthProblems(probe);
  } finally {
    for (const { socket } of stalled) socket.destroy();
  }
}

function openSocket({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'https:') return secureConnect({ host, port: Number(port || 443), servername: host });
  return plainConnect({ host, port: Number(port || 80) });
}

/** Resolves when the beginning of the request has been sent. */
function startRequest(socket: Socket, { pathname, host }: URL, rest: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      reject(new NoAnswer(error.code ?? error.message, { cause: error }));
    });
    socket.setTimeout(graceMs, () => socket.destroy(new Error(`no connection within ${graceMs} ms`)));
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${rest}`,
      () => resolve(),
    );
  });
}

/** The server must be as healthy as at the beginning. */
async function healthProblems(probe: Probe): Promise<readonly Problem[]> {
  const path = 'GET /health during the requests or after them';
  const { status } = await probe.health();
  try {
    // On a kept connection, a busy server may read it before the requests of new clients.
    const health = await probe.http({ path: '/health', timeoutMs: healthMs, newConnection: true });
    return answerProblems(health.status === status, path, `HTTP ${status}`, health);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const request = posixLine(['curl', '-sS', '-i', new URL('/health', probe.url).href]);
    return [{ path, expected: `HTTP ${status}`, actual: error.message, request }];
  }
}
