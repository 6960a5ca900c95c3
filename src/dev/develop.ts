import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { close } from 'node:inspector';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError, orCommandError } from 'market-mcp-contract/command';
import { attempt } from 'market-mcp-contract/json';
import { isFree, portTakenIn } from '../system/ports.ts';
import { childStarting } from '../system/processes.ts';
import { compileProject } from '../system/typescript-compiler.ts';
import { observerSource } from './assets.ts';
import type { LocalServer } from './local-server.ts';
import { isProcessRunning, processEntry } from './published-state.ts';
import { building, notCompiled, running, type ServerState, stateAfter } from './state.ts';
import { changesOf } from './watch.ts';

/** A chunk of output of a server in development. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** The header `x-market-mcp-exchange` of the request that caused the output; null outside of a request. */
  readonly exchange: number | null;
  /** Whether it is a line of the runtime's log: one JSON object. */
  readonly isLog: boolean;
}

export interface Development {
  /** Directory of the project. */
  readonly directory: string;
  /** Address and environment of the server; read first, and before each start. If it rejects, the running server continues. */
  readonly server: () => Promise<Pick<LocalServer, 'url' | 'environment'>>;
  /** Arguments for Node, before the program: `--inspect=9229`. */
  readonly nodeArguments: readonly string[];
  /** Called with a one-line message for each event. */
  readonly say: (text: string) => void;
  /** Called with each chunk that the server writes, and the id of the exchange that caused it. */
  readonly onWritten?: (chunk: OutputChunk) => void;
  /** Whether the server's process writes no line of its log: they only arrive in `onWritten`. */
  readonly hidesLog?: boolean;
  /** Called with each new state of the server; a start waits for it. */
  readonly onState?: (state: ServerState) => void | Promise<void>;
  /** Where the server's stdout goes: to this process's stdout (the default), to its stderr, or nowhere. */
  readonly stdout?: 'inherit' | 'stderr' | 'ignore';
  /** Ends it. */
  readonly until?: AbortSignal;
  /** Ends with the server, or at once if the source does not compile; starts nothing again. */
  readonly once?: boolean;
}

/**
 * Compiles and runs the server of a project and, after each change of its sources or its `.env`, compiles and starts it
 * again. While the source does not compile, the last good build keeps running. Resolves after `until`, when the package
 * manager that runs it is gone, or as `once` says; then no process of it is left. The server writes to this process's stdout
 * and stderr, the compiler to its stderr.
 *
 * @throws CommandError `NOT_INSTALLED`; what `server` throws before the first start.
 */
export async function develop(development: Development): Promise<void> {
  const { until } = development;
  const ending = new AbortController();
  const end = () => ending.abort();
  const { url } = await development.server();
  const run = new DevelopmentRun(development, url, end);
  const kill = () => run.kill();
  childStarting(); // a signal must end this process by its exit, and with it the server
  process.once('exit', kill);
  if (until?.aborted) end();
  until?.addEventListener('abort', end, { once: true });
  const stopWatching = onParentExit(end);
  try {
    await run.runUntil(ending.signal);
  } finally {
    end(); // the watch must not outlive an error
    stopWatching();
    process.off('exit', kill);
    until?.removeEventListener('abort', end);
  }
}

/** What a server in development reports over IPC. */
type ServerMessage = Partial<OutputChunk> & { readonly crash?: string; readonly listening?: number };

/** The builds of a project and the servers that were started from them. */
class DevelopmentRun {
  readonly #development: Development;
  readonly #end: () => void;
  #url: string;
  #state: ServerState;
  /** The server that was started last. */
  #server: ChildProcess | undefined;

  constructor(development: Development, url: string, end: () => void) {
    this.#development = development;
    this.#end = end;
    this.#url = url;
    this.#state = building(url);
  }

  kill(): void {
    this.#server?.kill('SIGKILL');
  }

  async runUntil(signal: AbortSignal): Promise<void> {
    const { directory, once: isOnce = false } = this.#development;
    // Changes during the first build count.
    const changes = changesOf(directory, signal);
    let next = changes.next();
    try {
      do {
        const continues = await this.#build(signal);
        if (!continues) break;
        if (isOnce && !signal.aborted) await once(signal, 'abort');
        const { done } = await next;
        if (done) break;
        next = changes.next();
      } while (!signal.aborted);
    } finally {
      if (this.#server) await stop(this.#server);
    }
  }

  /**
   * Compiles the project and starts its server.
   *
   * @returns false if the development ends here
   */
  async #build(signal: AbortSignal): Promise<boolean> {
    const { directory, say, once: isOnce = false } = this.#development;
    const previousState = this.#state;
    await this.#announce(building(this.#url));
    const compiled = await compileProject(directory);
    if (signal.aborted) return false;
    const isServed = this.#server !== undefined && !hasEnded(this.#server);
    if (!compiled.ok) {
      await this.#announce(notCompiled(this.#url, compiled.errors, isServed));
      say(`${this.#state.message} ${this.#state.hint}`);
      return !isOnce;
    }
    const next = await serverFor(this.#development, this.#server);
    if (!next) {
      await this.#announce(isServed ? running(this.#url) : previousState);
      return true;
    }
    if (this.#server) await stop(this.#server);
    this.#url = next.url;
    await this.#announce(building(this.#url));
    this.#server = this.#start(next.environment);
    if (isOnce) this.#server.once('close', this.#end);
    return true;
  }

  #start(variables: NodeJS.ProcessEnv): ChildProcess {
    const { onWritten } = this.#development;
    const child = spawnServer(this.#development, variables);
    let stderr = '';
    let crash: string | undefined;
    let hasListened = false;
    child.on('message', (message: ServerMessage) => {
      if (message.stream === 'stderr' && !message.isLog)
        stderr = `${stderr}${message.text}`.slice(-keptCharacters);
      if (message.stream !== undefined) onWritten?.(message as OutputChunk);
      crash ??= message.crash;
      if (message.listening !== Number(new URL(this.#url).port || 80) || isStopping.has(child)) return;
      hasListened = true;
      if (this.#state.kind === 'building') this.#announceSafely(running(this.#url));
    });
    // Then all that it wrote has arrived.
    return child.on('close', async (code, signal) => {
      if (isStopping.has(child) && (code === 0 || signal === 'SIGTERM' || signal === 'SIGKILL')) return;
      const exitReason = signal ?? `code ${code}`;
      const portTaken = await portTakenIn(stderr);
      const { directory } = this.#development;
      const serverEnd = {
        url: this.#url,
        directory,
        errors: stderr,
        crash,
        how: exitReason,
        hasListened,
        portTaken,
      };
      if (this.#server === child) await this.#reportEnd(exitReason, stateAfter(serverEnd));
    });
  }

  async #reportEnd(exitReason: string, state: ServerState): Promise<void> {
    const { say, once: isOnce = false } = this.#development;
    await this.#announceSafely(state);
    const isRepeated = !isOnce && this.#state.kind !== 'port-taken';
    say(`The server ended with ${exitReason}.${isRepeated ? ' It starts again after the next change.' : ''}`);
    sayReason(state, say);
  }

  async #announce(next: ServerState): Promise<void> {
    this.#state = next;
    await this.#development.onState?.(next);
  }

  /** A state that cannot be published does not end the server. */
  async #announceSafely(next: ServerState): Promise<void> {
    await this.#announce(next).catch(({ message }: Error) => this.#development.say(message));
  }
}

/** Undefined if the variables cannot be read, but a server was started with earlier ones. */
async function serverFor({ server: current, say }: Development, server: ChildProcess | undefined) {
  const found = await orCommandError(current);
  if (!(found instanceof CommandError)) return found;
  if (!server) throw found;
  const serverState = hasEnded(server) ? 'stays stopped' : 'keeps running with the old values';
  say(`${found.message}. The server ${serverState}. ${found.hint}`);
  return undefined;
}

function spawnServer(development: Development, env: NodeJS.ProcessEnv): ChildProcess {
  const { directory, nodeArguments, hidesLog, stdout = 'inherit' } = development;
  const args = [
    '--enable-source-maps',
    '--import',
    hidesLog ? `${observer}#hides-log` : observer,
    ...nodeArguments,
    'dist/src/main.js',
  ];
  return spawn(process.execPath, args, {
    cwd: directory,
    env,
    stdio: ['ignore', stdout === 'stderr' ? 2 : stdout, 'inherit', 'ipc'],
  });
}

/** Why a server ended. It has written itself which variables are missing, and where to set them. */
function sayReason(state: ServerState, say: Development['say']): void {
  if (state.kind === 'variable-missing') say(state.message);
  else if (state.kind !== 'ended') say(`${state.message} ${state.hint}`);
  else if (state.at !== null) say(state.hint);
}

/** The end of a server's stderr, with the reason why it ended. */
const keptCharacters = 16_384;

/** A module that makes a server report its output over IPC. The project itself contains nothing of it. */
const observer = `data:text/javascript;base64,${Buffer.from(observerSource).toString('base64')}`;

/** Longer than the server waits for running calls in development. */
const stopMs = 3_000;
const isStopping = new WeakSet<ChildProcess>();

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

const pollMs = 500;

/**
 * Calls back when the package manager that runs this process as a script is gone. A package manager that is killed passes
 * no signal on, and the shell in between ends nothing: otherwise, `kill` of `npm run dev` would leave the server behind.
 *
 * @returns a function that stops watching.
 */
function onParentExit(listener: () => void, env: NodeJS.ProcessEnv = process.env): () => void {
  if (env.npm_lifecycle_event === undefined || process.platform === 'win32') return () => {};
  const parent = process.ppid;
  const grandparent = parentOf(parent);
  const isGone = () =>
    process.ppid !== parent || (grandparent !== undefined && !isProcessRunning(grandparent, true));
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    listener();
  }, pollMs);
  return () => clearInterval(timer);
}

/** Undefined if there is no parent or it cannot be determined. */
function parentOf(pid: number): number | undefined {
  const listed = () => Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
  const parent = processEntry(pid)?.parent ?? attempt(listed, 0);
  if (parent > 1) return parent;
  return undefined;
}

/** The debugger option of Node. */
export interface Inspection {
  readonly option: 'inspect' | 'inspect-brk' | 'inspect-wait';
  readonly host: string;
  readonly port: number;
}

const standard = { host: '127.0.0.1', port: 9229 } as const;
const inspectOption =
  /(?:^|\s)--(inspect(?:-brk|-wait)?)(?:=(?:(\[[^\]]*\]|[^\s:]*[^\s:\d][^\s:]*):?)?(\d+)?)?(?=\s|$)/g;

/** The debugger option in NODE_OPTIONS, and the other options. */
export function inspectionIn(options = ''): { readonly inspection?: Inspection; readonly rest: string } {
  const found = [...options.matchAll(inspectOption)].at(-1);
  const rest = options.replaceAll(inspectOption, '').trim();
  if (!found) return { rest };
  const [, option, host = standard.host, port] = found;
  const inspection = { option: option as Inspection['option'], host, port: Number(port ?? standard.port) };
  return { rest, inspection };
}

/**
 * Passes the debugger that NODE_OPTIONS requests on to the server, because every Node process between the author and the
 * server takes the option for itself, npm first. If one of them keeps the port, the next free port is used.
 */
export async function handOverInspector(env = process.env): Promise<Inspection | undefined> {
  const { inspection, rest } = inspectionIn(env.NODE_OPTIONS);
  if (!inspection) return undefined;
  env.NODE_OPTIONS = rest;
  close();
  return { ...inspection, port: await firstFree(inspection) };
}

const attempts = 50;

async function firstFree({ host, port }: Inspection): Promise<number> {
  for (let candidate = port; candidate < port + attempts; candidate++) {
    if (await isFree(host, candidate)) return candidate;
  }
  return port;
}
