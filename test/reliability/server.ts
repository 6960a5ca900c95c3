import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { generic } from '../../packages/contract/src/platforms/all.ts';
import { createSigner, type Signer } from '../../packages/contract/src/wire/signer.ts';
import { nonceMark } from './endurance/caller.ts';

/** The server's memory after a full collection, in bytes, and its open connections. */
export interface Memory {
  readonly rss: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly sockets: number;
  /** The counters of the server's tools in `globalThis.runs`. */
  readonly runs?: Readonly<Record<string, number>>;
}

/** The output of the server. */
export interface Written {
  /** `event` or `event: outcome` → count. */
  readonly events: Map<string, number>;
  /** Lines that are not JSON, or contain an argument or a token. */
  readonly improper: string[];
  /** The lines on stderr, without stack frames. */
  readonly errors: string[];
}

export interface ServerProcess {
  readonly port: number;
  readonly signer: Signer;
  readonly written: Written;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  memory(): Promise<Memory>;
  signal(name: 'SIGTERM'): void;
  /** Ends it, by force if necessary. */
  kill(): void;
}

export const audience = 'https://tools.example/mcp';

/** The environment of a production server on a free port of loopback, which accepts the tokens of this signer. */
export function liveEnvironment({ issuer, publicKey }: Signer): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: '0',
    PLATFORM_ISSUER: issuer,
    PLATFORM_AUDIENCE: audience,
    PLATFORM_PUBLIC_KEY: publicKey,
  };
}

/** Starts a built project as in production, with a temporary key, in a separate process that reports its memory. */
export async function startServer(
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const signer = await createSigner(generic.token, audience);
  const probe = join(import.meta.dirname, 'memory-probe.js');
  const child = spawn(process.execPath, ['--expose-gc', '--import', probe, 'dist/src/main.js'], {
    cwd: directory,
    // A busy machine is no reason to refuse a call.
    env: { ...liveEnvironment(signer), MAX_LOOP_DELAY_MS: '600000', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.on('error', () => {}); // a message that a process which ends does not get
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const written: Written = { events: new Map(), improper: [], errors: [] };
  createInterface({ input: child.stderr as Readable }).on('line', (line) => {
    if (!/^\s/.test(line)) written.errors.push(line);
  });
  const listening = readLog(child, written);
  const port = await Promise.race([listening, exit.then(() => undefined)]);
  if (port === undefined) throw new Error(`the server did not start\n${written.errors.join('\n')}`);
  const measure = async () => {
    const reply = once(child, 'message');
    child.send('measure');
    const [memory] = await reply;
    return memory as Memory;
  };
  /** One at a time: an answer does not name its question. */
  let measured: Promise<unknown> = Promise.resolve();
  return {
    port,
    signer,
    written,
    exit,
    memory() {
      const next = measured.then(measure);
      measured = next;
      return next;
    },
    signal: (name) => child.kill(name),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Reads the log to its end. Resolves to the port when it is logged. */
function readLog(child: ChildProcess, { events, improper }: Written): Promise<number> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      const entry = parsed(line);
      if (entry === null || line.includes(nonceMark) || line.includes('eyJ')) return improper.push(line);
      const { event, outcome, port } = entry;
      if (event === 'listening') resolve(Number(port));
      const name = [event, outcome].filter(Boolean).join(': ');
      return events.set(name, (events.get(name) ?? 0) + 1);
    });
  });
}

function parsed(line: string): { readonly [name: string]: unknown } | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
