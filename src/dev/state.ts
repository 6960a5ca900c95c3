import { stripVTControlCharacters } from 'node:util';
import { CommandError } from 'market-mcp-contract/command';
import { causeOf } from '../check/log-causes.ts';
import { packageManagerOf } from '../system/detect.ts';

/** What the server of a project does, or why it does not run. */
export type StateKind =
  | 'never-started'
  | 'building'
  | 'compile-error'
  | 'old-build'
  | 'variable-missing'
  | 'load-error'
  | 'port-taken'
  | 'ended'
  | 'running';

/** The state of a project's server, in the words of every command and page. */
export interface ServerState {
  readonly kind: StateKind;
  /** Its endpoint, whether or not it answers there; null if it was never started and none is known. */
  readonly url: string | null;
  /** The state in one sentence. */
  readonly message: string;
  /** What caused it: the first errors of the compiler, the variables, the error of the code. */
  readonly details: readonly string[];
  /** The place to change, `src/tools/x.ts:12`. */
  readonly at: string | null;
  /** What the author can do, one sentence; empty if nothing is to be done. */
  readonly hint: string;
}

const nothing = { details: [], at: null } as const;

export function neverStarted(directory: string): ServerState {
  const { run } = packageManagerOf(directory);
  const message = 'The server of this project is not running.';
  return { ...nothing, kind: 'never-started', url: null, message, hint: `Start it: ${run} dev.` };
}

export function building(url: string): ServerState {
  const hint = 'Wait until it runs.';
  return { ...nothing, kind: 'building', url, message: 'The server is being built and started.', hint };
}

export function running(url: string): ServerState {
  return { ...nothing, kind: 'running', url, message: `The server runs at ${url}.`, hint: '' };
}

/** @param isServed whether the server of an earlier build still runs. */
export function notCompiled(url: string, errors: readonly string[], isServed: boolean): ServerState {
  const at = /^(\S+:\d+) /.exec(errors[0] ?? '')?.[1] ?? null;
  const problem = 'The code does not compile.';
  if (isServed) {
    const message = `${problem} The last good build keeps running.`;
    const hint = 'Correct it: until then, the old build answers.';
    return { kind: 'old-build', url, message, details: errors, at, hint };
  }
  const hint = 'Correct it, and dev starts the server.';
  return { kind: 'compile-error', url, message: problem, details: errors, at, hint };
}

/** How the process of a server ended. */
export interface ServerExit {
  readonly url: string;
  readonly directory: string;
  /** The end of what it wrote to its stderr. */
  readonly errors: string;
  /** The uncaught error that ended it, with its stack. */
  readonly crash: string | undefined;
  /** `code 1`, `SIGKILL` */
  readonly how: string;
  readonly hasListened: boolean;
  /** That its port is taken, and by whom; undefined if it did not report that. */
  readonly portTaken: string | undefined;
}

/** The state of a server whose process has ended by itself, read from what it wrote. */
export function stateAfter(exit: ServerExit): ServerState {
  const { url, directory, how, hasListened } = exit;
  const errors = stripVTControlCharacters(exit.errors);
  if (exit.portTaken !== undefined) {
    const hint = 'Stop that program, or set PORT to a free port, and restart the command.';
    return { ...nothing, kind: 'port-taken', url, message: exit.portTaken, hint };
  }
  const refusal = /^Cannot start\.\n((?:- .*(?:\n|$))+)(.*)/m.exec(errors);
  if (refusal && !hasListened) {
    const [, reasons = '', hint = ''] = refusal;
    const details = reasons
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(2));
    if (hint.startsWith('Set variables')) {
      const message = 'The server cannot start: a variable is missing or invalid.';
      return { kind: 'variable-missing', url, message, details, at: null, hint };
    }
    const message = 'The server cannot start.';
    return { kind: 'load-error', url, message, details, at: null, hint: 'Correct what it names.' };
  }
  const crash =
    exit.crash === undefined ? undefined : causeOf(stripVTControlCharacters(exit.crash), directory);
  const at = crash?.at ?? null;
  const correct = at === null ? 'Correct it.' : `Correct ${at}.`;
  if (crash && !hasListened) {
    const message = 'The server cannot start: an error is thrown while its code is loaded.';
    return { kind: 'load-error', url, message, details: [crash.message], at, hint: correct };
  }
  const details = crash ? [crash.message] : lastLines(errors);
  const hint = crash ? correct : 'Read what it wrote last. It starts again after the next change.';
  return { kind: 'ended', url, message: `The server ended with ${how}.`, details, at, hint };
}

function lastLines(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-3);
}

/** Whether the server answers calls. */
export function isServing({ kind }: ServerState): boolean {
  return kind === 'running' || kind === 'old-build';
}

/** Whether nothing answers calls, and nothing will before something is corrected or started. */
export function isDown(state: ServerState): boolean {
  return !isServing(state) && state.kind !== 'building';
}

/** Whether no further process of the server could start either. */
export function cannotStart({ kind }: ServerState): boolean {
  return kind === 'compile-error' || kind === 'variable-missing' || kind === 'load-error';
}

/** The cause and the fix, a line each. */
export function stateLines({ details, at, hint }: ServerState): readonly string[] {
  const isNamed = at === null || [...details, hint].some((line) => line.includes(at));
  const lines = [...details];
  if (!isNamed) lines.push(at);
  if (hint !== '') lines.push(hint);
  return lines;
}

/** A state that keeps a command from its work, as its error; `--json` has the state itself. */
export function stateError(state: ServerState): CommandError {
  const { message, hint } = state;
  return new CommandError('NOT_STARTED', message, hint, {
    details: stateLines(state).filter((line) => line !== hint),
    data: { state },
  });
}
