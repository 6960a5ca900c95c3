import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startCompiler } from './compile.ts';
import { observerArguments, type Written } from './observer.ts';
import { changesBelow } from './watch.ts';

export interface Development {
  /** Directory of the project. */
  readonly directory: string;
  /** Environment of the server. */
  readonly environment: NodeJS.ProcessEnv;
  /** Arguments of Node that come before the program: `--inspect=9229`. */
  readonly nodeArguments: readonly string[];
  /** Called with what happens, in one line. */
  readonly say: (text: string) => void;
  /** Called with each piece that the server writes, and the id of the exchange during which it did. */
  readonly onWritten?: (written: Written) => void;
  /** Called when the server was started, the first time and after each change. */
  readonly onStart?: () => void;
  /** Where the server's stdout goes: to this process's (the default), to its stderr, or nowhere. */
  readonly stdout?: 'inherit' | 'stderr' | 'ignore';
  /** Ends it as a signal does. */
  readonly until?: AbortSignal;
}

/**
 * Compiles and runs the server of a project and, after each change below `src`, compiles and starts it again. While the
 * source does not compile, the last good build keeps running. Resolves after SIGINT, SIGTERM or SIGHUP, when no process
 * of it is left. The server writes to this process's
 * stdout and stderr, the compiler to its stderr.
 *
 * @throws ProjectError `NOT_INSTALLED`.
 */
export async function develop(development: Development): Promise<void> {
  const {
    directory,
    environment,
    nodeArguments,
    say,
    onWritten,
    onStart,
    until,
    stdout = 'inherit',
  } = development;
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of signals) process.on(signal, end);
  if (until?.aborted) end();
  until?.addEventListener('abort', end, { once: true });
  try {
    await runUntil(ending.signal);
  } finally {
    end(); // the watch must not outlive an error
    for (const signal of signals) process.off(signal, end);
    until?.removeEventListener('abort', end);
  }

  async function runUntil(ended: AbortSignal): Promise<void> {
    // What changes during the first build counts.
    const changes = changesBelow(join(directory, 'src'), ended);
    let next = changes.next();
    let server: ChildProcess | undefined;
    do {
      const compiles = await succeeds(startCompiler(directory));
      if (ended.aborted) break;
      if (compiles) {
        if (server) await stop(server);
        server = start();
        onStart?.();
      } else {
        say(server ? 'This does not compile: the last good build keeps running.' : 'This does not compile.');
      }
      const { done } = await next;
      if (done) break;
      next = changes.next();
    } while (!ended.aborted);
    if (server) await stop(server);
  }

  function start(): ChildProcess {
    const observing = onWritten ? observerArguments : [];
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', ...observing, ...nodeArguments, 'dist/src/main.js'],
      {
        cwd: directory,
        env: environment,
        stdio: [
          'ignore',
          stdout === 'stderr' ? 2 : stdout,
          'inherit',
          ...(onWritten ? (['ipc'] as const) : []),
        ],
      },
    );
    if (onWritten) child.on('message', (message) => onWritten(message as Written));
    return child.on('exit', (code) => {
      if (code) say(`The server ended with code ${code}; waiting for a change.`);
    });
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function succeeds(child: ChildProcess): Promise<boolean> {
  const [code] = await once(child, 'exit');
  return code === 0;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
