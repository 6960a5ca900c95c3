import { type ChildProcess, spawn } from 'node:child_process';
import { get } from 'node:http';
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import type { Environment, Instance, ProcessExit } from 'market-mcp-contract/wire';
import { freePort, isPortTaken } from '../system/ports.ts';
import { type Incident, ServerLog, type SourceAnswer, type SourceFailure } from './log-events.ts';

const stopMs = 3_000;
const pollMs = 20;
const keptOutput = 64 * 1024;

/** An instance whose output is kept, not only its last lines. */
export interface WatchedInstance extends Instance {
  /** The last part of its standard error. */
  errors(): string;
  /** The errors in its code, from its log. */
  incidents(): readonly Incident[];
  /** The requests to APIs that failed in its calls, from its log. */
  failures(): readonly SourceFailure[];
  /** Where the answers of its tools came from. */
  answers(): readonly SourceAnswer[];
}

export type WatchedLaunch = (environment: Environment) => Promise<WatchedInstance>;

export interface LauncherOptions {
  /** The working directory of the server; by default the working directory of this process. */
  readonly cwd?: string;
  /** Arguments for Node, before the program. */
  readonly nodeArguments?: readonly string[];
  /** Milliseconds a server may take to answer. */
  readonly startMs?: number;
}

/** Ends an instance by force. */
type Kill = () => void;

/** How to start one instance. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Ends by force what a killed process would leave. */
  kill?(): void;
  /** What the instance wrote, with places in the code as this machine has them. */
  localized?(text: string): string;
}

/**
 * Starts instances of a server, each a process `node <entry>` with its own environment. Every process is
 * ended by its id, at the latest when this process ends.
 *
 * @param base variables in addition to those of this process. A variable set to undefined is passed as empty, which counts
 *   as unset and keeps a `.env` file from setting it.
 */
export function createLauncher(
  entry: string,
  base: Environment,
  { cwd, nodeArguments = [], startMs }: LauncherOptions = {},
): WatchedLaunch {
  const commandOf = (environment: NodeJS.ProcessEnv): Command => ({
    file: process.execPath,
    args: [...nodeArguments, entry],
    env: { ...process.env, ...environment },
    ...(cwd !== undefined && { cwd }),
  });
  return launcherOf(commandOf, base, startMs);
}

/** `createLauncher` for servers that another program starts. */
export function launcherOf(
  commandOf: (environment: NodeJS.ProcessEnv) => Command,
  base: Environment,
  startMs = 60_000,
): WatchedLaunch {
  const launchAt = async (port: string | undefined, environment: Environment): Promise<WatchedInstance> => {
    const command = commandOf(emptied({ ...base, ...environment, PORT: port }));
    const { file, args, env, cwd } = command;
    const child = spawn(file, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd !== undefined && { cwd }),
    });
    const end = endWithThisProcess(child, command);
    const instance = supervise(child, end, command, `http://127.0.0.1:${port ?? defaultPort}/mcp`);
    const healthy = await answers(new URL('/health', instance.url), instance.exit, startMs);
    if (!healthy) await instance.stop();
    return { ...instance, healthy };
  };
  return (environment) =>
    'PORT' in environment
      ? launchAt(environment.PORT, environment)
      : startOnFreePort((port) => launchAt(port, environment));
}

const ownInstances = new Set<Kill>();
let isArmed = false;

function endWithThisProcess(child: ChildProcess, command: Command): Kill {
  if (!isArmed) process.once('exit', killAll);
  isArmed = true;
  const end = () => {
    child.kill('SIGKILL');
    command.kill?.();
  };
  ownInstances.add(end);
  child.once('close', () => ownInstances.delete(end));
  return end;
}

/** Synchronous, because it runs when this process exits. */
function killAll(): void {
  for (const end of ownInstances) end();
}

/** The port of a server without PORT (C§4.2). */
const defaultPort = 3000;

const startAttempts = 3;

/** Starts an instance on a free port; tries another one if a program takes the port before the instance uses it. */
export async function startOnFreePort<T extends Instance>(startAt: (port: string) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const instance = await startAt(String(await freePort()));
    const isTaken = !instance.healthy && isPortTaken(instance.output());
    if (!isTaken || attempt === startAttempts) return instance;
  }
}

function supervise(
  child: ChildProcess,
  end: Kill,
  command: Command,
  url: string,
): Omit<WatchedInstance, 'healthy'> {
  let output = '';
  let errors = '';
  const log = new ServerLog();
  const errorLog = new ServerLog();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const localized = command.localized?.(text) ?? text;
      output = (output + text).slice(-keptOutput);
      if (stream === child.stderr) errors = (errors + localized).slice(-keptOutput);
      (stream === child.stderr ? errorLog : log).add(localized);
    });
  }
  const exit = new Promise<ProcessExit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      output += error.message;
      resolve({ code: null, signal: null });
    });
  });
  return {
    url,
    exit,
    output: () => output,
    errors: () => errors,
    incidents: () => log.incidents,
    failures: () => errorLog.failures,
    answers: () => log.answers,
    signal: (name) => child.kill(name),
    async stop() {
      child.kill('SIGTERM');
      const exitResult = await Promise.race([exit, setTimeout(stopMs, undefined, { ref: false })]);
      if (!exitResult) end();
      await exit;
    },
  };
}

/** Requests the health of a server until it answers, the process ends, or the time is over. */
async function answers(health: URL, exit: Promise<ProcessExit>, timeoutMs: number): Promise<boolean> {
  const limit = new AbortController();
  const { signal } = limit;
  const overdue = startTimer(() => limit.abort(), timeoutMs);
  exit.then(() => limit.abort());
  while (!signal.aborted) {
    if ((await fetchStatus(health, signal)) === 200) break;
    await setTimeout(pollMs);
  }
  clearTimeout(overdue);
  return !signal.aborted;
}

/** The status of the answer to a GET; undefined if there is no answer. */
function fetchStatus(url: URL, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, { signal, agent: false }, (response) => resolve(response.resume().statusCode)).on('error', () =>
      resolve(undefined),
    );
  });
}

function emptied(environment: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? '']));
}
