import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { generic } from '../../packages/contract/src/platforms/generic.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import { audience, liveEnvironment } from '../reliability/server.ts';
import { modernRequest } from '../runtime/modern.ts';
import { RawClient } from '../runtime/support.ts';
import { requestText } from './attacker.ts';

/** Protocol with sessions, or the stateless one. */
export type Era = 'sessions' | 'stateless';

/** A built project, served in a separate process. */
export interface Victim {
  readonly port: number;
  readonly session: { readonly 'mcp-session-id': string };
  /** Headers of a paid request, with a fresh token. */
  paid(): Promise<Record<string, string>>;
  /** The text of an HTTP request of a protocol version. */
  request(era: Era, method: string, params: object, headers?: Readonly<Record<string, string>>): string;
  /**
   * Processor time of the longest turn of its event loop since the previous request, in milliseconds; undefined if the server
   * died.
   */
  longestTurn(): Promise<number | undefined>;
  /** Variables of the limits that the server's log reports. */
  readonly limitsMet: ReadonlySet<string>;
  /** The warnings in its log. */
  readonly warnings: readonly string[];
  isAlive(): boolean;
  /** Peak resident memory in megabytes. */
  peakMegabytes(): number;
  /** Sends SIGTERM. Resolves with the exit code and the time until then in milliseconds. */
  terminate(): Promise<{ readonly code: number | null; readonly ms: number }>;
  kill(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @param descriptors maximum number of its file descriptors
 */
export async function startVictim(
  directory: string,
  env: Readonly<Record<string, string>> = {},
  descriptors = 4096,
  heapMegabytes = 512,
): Promise<Victim> {
  const signer = await createSigner(generic.token, audience);
  const command = `ulimit -n ${descriptors}; exec "$0" --max-old-space-size=${heapMegabytes} --import "$1" dist/src/main.js`;
  const child = spawn('bash', ['-c', command, process.execPath, join(import.meta.dirname, 'loop-probe.js')], {
    cwd: directory,
    env: { ...liveEnvironment(signer), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors = (errors + text).slice(-2_000);
  });
  child.on('error', () => {}); // a message that a process which ends does not get
  const exited = once(child, 'exit');
  const limitsMet = new Set<string>();
  const warnings: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      const entry = JSON.parse(line);
      if (entry.event === 'listening') resolve(entry.port);
      if (entry.event === 'limit') limitsMet.add(entry.variable);
      if (entry.event === 'warning') warnings.push(String(entry.reason));
    });
    void exited.then(() => reject(new Error(`The server did not start: ${errors}`)));
  });
  const paid = async () => ({ authorization: `Bearer ${await signer.token({})}` });
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const longestTurn = async () => {
    if (!isAlive()) return undefined;
    const answered = once(child, 'message').then(([ms]) => ms as number);
    child.send('turn');
    return Promise.race([answered, exited.then(() => undefined)]);
  };
  const session = await new RawClient(`http://127.0.0.1:${port}/mcp`).session();
  let peak = 0;
  return {
    port,
    session,
    paid,
    request(era, method, params, headers) {
      if (era === 'sessions') {
        return requestText(
          'POST',
          { ...session, ...headers },
          JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        );
      }
      const modern = modernRequest(method, { ...params });
      return requestText('POST', { ...modern.headers, ...headers }, JSON.stringify(modern.body));
    },
    longestTurn,
    limitsMet,
    warnings,
    isAlive,
    peakMegabytes() {
      if (!isAlive()) return peak;
      const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      peak = Math.round(Number(kilobytes) / 1024);
      return peak;
    },
    async terminate() {
      const started = performance.now();
      child.kill('SIGTERM');
      await exited;
      return { code: child.exitCode, ms: performance.now() - started };
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The answers to honest callers. */
export interface Experience {
  /** Milliseconds of each answered call, sorted. */
  readonly times: readonly number[];
  /** Calls without an answer or with a status other than 200. */
  failed: number;
}

const everyMs = 5;

/** Makes 200 paid calls a second from 127.0.0.1 until `done` settles. */
export async function callHonestly(victim: Victim, done: Promise<unknown>): Promise<Experience> {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const headers = { ...victim.session, ...(await victim.paid()), 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_price' } });
  const times: number[] = [];
  let failed = 0;
  const call = () =>
    new Promise<void>((resolve) => {
      const started = performance.now();
      const end = (isGood: boolean) => {
        if (isGood) times.push(performance.now() - started);
        else failed++;
        resolve();
      };
      const options = {
        host: '127.0.0.1',
        localAddress: '127.0.0.1',
        port: victim.port,
        path: '/mcp',
        agent,
      };
      const sending = request({ ...options, method: 'POST', headers, timeout: 60_000 }, (response) => {
        response.resume().once('end', () => end(response.statusCode === 200));
      });
      sending.once('error', () => end(false)).once('timeout', () => sending.destroy());
      sending.end(body);
    });
  const calls: Promise<void>[] = [];
  const timer = setInterval(() => calls.push(call()), everyMs);
  await done;
  clearInterval(timer);
  await Promise.all(calls);
  agent.destroy();
  return { times: times.sort((a, b) => a - b), failed };
}
