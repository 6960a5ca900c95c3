import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ProjectError } from '../project/errors.ts';
import { observerSource } from './assets.ts';
import { startCompiler } from './compile.ts';
import { onParentExit } from './parents.ts';
import { changesOf } from './watch.ts';

/** A chunk of output of a server in development. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** The header `x-market-mcp-exchange` of the request that caused the output; null outside of a request. */
  readonly exchange: number | null;
}

export interface Development {
  /** Directory of the project. */
  readonly directory: string;
  /** Environment of the server; read before each start. If it rejects, the running server continues. */
  readonly environment: () => Promise<NodeJS.ProcessEnv>;
  /** Arguments for Node, before the program: `--inspect=9229`. */
  readonly nodeArguments: readonly string[];
  /** Called with a one-line message for each event. */
  readonly say: (text: string) => void;
  /** Called with each chunk that the server writes, and the id of the exchange that caused it. */
  readonly onWritten?: (written: OutputChunk) => void;
  /** Called after each start of the server. */
  readonly onStart?: () => void;
  /** Called when the server has exited, and when the source does not compile and no server is running. */
  readonly onFailure?: () => void;
  /** Where the server's stdout goes: to this process's stdout (the default), to its stderr, or nowhere. */
  readonly stdout?: 'inherit' | 'stderr' | 'ignore';
  /** Ends it like a signal. */
  readonly until?: AbortSignal;
  /** Ends with the server, or at once if the source does not compile; starts nothing again. */
  readonly once?: boolean;
}

/**
 * Compiles and runs the server of a project and, after each change of its sources or its `.env`, compiles and starts it
 * again. While the source does not compile, the last good build keeps running. Resolves after SIGINT, SIGTERM or SIGHUP,
 * when the package manager that runs it is gone, or as `once` says; then no process of it is left. The server writes to this process's stdout
 * and stderr, the compiler to its stderr.
 *
 * @throws ProjectError `NOT_INSTALLED`; what `environment` throws before the first start.
 */
export async function develop(development: Development): Promise<void> {
  const { directory, environment, nodeArguments, say, onWritten, onStart, onFailure, until } = development;
  const { stdout = 'inherit', once: isOnce = false } = development;
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of signals) process.on(signal, end);
  if (until?.aborted) end();
  until?.addEventListener('abort', end, { once: true });
  const stopWatching = onParentExit(end);
  try {
    await runUntil(ending.signal);
  } finally {
    end(); // the watch must not outlive an error
    stopWatching();
    for (const signal of signals) process.off(signal, end);
    until?.removeEventListener('abort', end);
  }

  async function runUntil(ended: AbortSignal): Promise<void> {
    // Changes during the first build count.
    const changes = changesOf(directory, ended);
    let next = changes.next();
    let server: ChildProcess | undefined;
    try {
      do {
        const compiles = await succeeds(startCompiler(directory));
        if (ended.aborted) break;
        if (!compiles && !server) onFailure?.();
        if (!compiles && isOnce) break;
        const variables = compiles ? await variablesFor(server) : undefined;
        if (variables) {
          if (server) await stop(server);
          server = start(variables);
          if (isOnce) server.once('exit', end);
          onStart?.();
        } else if (!compiles) {
          say(
            server
              ? 'The code does not compile. The last good build keeps running.'
              : 'The code does not compile. Correct it, and dev starts the server.',
          );
        }
        if (isOnce && !ended.aborted) await once(ended, 'abort');
        const { done } = await next;
        if (done) break;
        next = changes.next();
      } while (!ended.aborted);
    } finally {
      if (server) await stop(server);
    }
  }

  /** Undefined if the variables cannot be read, but a server was started with earlier ones. */
  async function variablesFor(server: ChildProcess | undefined): Promise<NodeJS.ProcessEnv | undefined> {
    try {
      return await environment();
    } catch (error) {
      if (!server || !(error instanceof ProjectError)) throw error;
      const state = hasEnded(server) ? 'stays stopped' : 'keeps running with the old values';
      say(`${error.message}. The server ${state}. ${error.hint}`);
      return undefined;
    }
  }

  function start(variables: NodeJS.ProcessEnv): ChildProcess {
    const args = ['--enable-source-maps', ...observerArguments, ...nodeArguments, 'dist/src/main.js'];
    const child = spawn(process.execPath, args, {
      cwd: directory,
      env: variables,
      stdio: ['ignore', stdout === 'stderr' ? 2 : stdout, 'inherit', 'ipc'],
    });
    if (onWritten) child.on('message', (message) => onWritten(message as OutputChunk));
    return child.on('exit', (code, signal) => {
      if (signal !== 'SIGTERM' && signal !== 'SIGKILL' && (code !== 0 || !isStopping.has(child))) {
        const then = isOnce ? '' : ' It starts again after the next change.';
        say(`The server ended with ${signal ?? `code ${code}`}.${then}`);
        onFailure?.();
      }
    });
  }
}

/** Arguments for Node that make a server report its output over IPC. The project itself contains nothing of it. */
const observerArguments: readonly string[] = [
  '--import',
  `data:text/javascript;base64,${Buffer.from(observerSource).toString('base64')}`,
];

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Longer than the server waits for running calls in development. */
const stopMs = 3_000;
const isStopping = new WeakSet<ChildProcess>();

async function succeeds(child: ChildProcess): Promise<boolean> {
  const [code] = await once(child, 'exit');
  return code === 0;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  isStopping.add(child);
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([exit, delay(stopMs, undefined, { ref: false })]);
  child.kill('SIGKILL'); // a server in an endless loop does not handle SIGTERM
  await exit;
}
