import { inspect } from 'node:util';
import { MarketError } from '../marketplace/core/errors.ts';
import type { InputError, Result } from '../model/model.ts';
import { version } from '../plan/versions.ts';
import { ProjectError } from '../project/errors.ts';
import { SystemError } from '../system/errors.ts';

/** Exit codes of both programs (docs/architecture.md, "Names"). */
export const exitCodes = {
  ok: 0,
  checkFailed: 1,
  badInput: 2,
  notStarted: 3,
  installFailed: 4,
  /** EX_SOFTWARE of sysexits.h: the program itself is wrong. */
  internal: 70,
  /** EX_IOERR: what was to be printed could not be. */
  notWritten: 74,
  cancelled: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Everything that ends a command with another code than 0, ready to be shown. */
export class CliError extends Error {
  /** Constant for programs, `TARGET_NOT_EMPTY`. */
  readonly code: string;
  /** What to do about it. */
  readonly hint: string;
  readonly exitCode: ExitCode;
  /** Each error of the input, or the last lines of a step that failed. */
  readonly details: readonly string[];
  /** What `--json` shows beyond that. */
  readonly data: object;

  constructor(
    code: string,
    message: string,
    hint: string,
    exitCode: ExitCode = exitCodes.badInput,
    details: readonly string[] = [],
    data: object = {},
  ) {
    super(message);
    this.name = 'CliError';
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
    this.details = details;
    this.data = data;
  }
}

/**
 * All errors of an input as one error.
 *
 * @param accepted names of the tools of a list that have no error: the others can be left out
 */
export function invalidInput(errors: readonly InputError[], accepted: readonly string[] = []): CliError {
  const [first] = errors;
  const refused = [...new Set(errors.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))];
  const data = refused.length > 0 ? { taken: accepted, refused: errors } : {};
  const isPart = accepted.length > 0 && refused.length > 0 && errors.every(({ tool }) => tool !== undefined);
  const others = accepted.length === 1 ? `only ${accepted[0]}` : `only the other ${accepted.length} tools`;
  const part = isPart ? ` To take ${others}: --except ${refused.join(',')}.` : '';
  if (errors.length === 1 && first) {
    return new CliError(
      'INVALID_INPUT',
      inWords(first),
      `${first.hint}${part}`,
      exitCodes.badInput,
      [],
      data,
    );
  }
  return new CliError(
    'INVALID_INPUT',
    `${errors.length} errors in what was given`,
    `Fix them all and run the command again.${part}`,
    exitCodes.badInput,
    errors.map((error) => `${inWords(error)} ${error.hint}`),
    data,
  );
}

/** The value of a result. @throws CliError `INVALID_INPUT` with all its errors. */
export function unwrapped<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw invalidInput(result.errors, result.accepted);
}

/** The one place where what went wrong becomes a code, a message and an exit code. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ProjectError) return new CliError(error.code, error.message, error.hint);
  if (error instanceof MarketError) {
    const exitCode = marketExitCodes.get(error.code) ?? exitCodes.badInput;
    return new CliError(error.code, error.message, error.hint, exitCode);
  }
  if (error instanceof SystemError) {
    const exitCode = systemExitCodes.get(error.code) ?? exitCodes.installFailed;
    return new CliError(error.code, error.message, error.hint, exitCode, error.lines);
  }
  if (isCommanderError(error)) return fromCommander(error);
  if (error instanceof Error && error.name === 'Cancelled') {
    const { resume } = error as { readonly resume?: string };
    const hint = resume === undefined ? '' : `To go on with the answers given so far: ${resume}`;
    return new CliError('CANCELLED', 'cancelled, nothing was written', hint, exitCodes.cancelled);
  }
  if ((error as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd') {
    return new CliError('NO_DIRECTORY', 'the current directory is gone', 'Change to one that exists.');
  }
  return unexpected(error);
}

/** An error of this program, not of what it was given. Its stack is shown where the environment variable DEBUG is set. */
function unexpected(error: unknown): CliError {
  const { version: node, platform, arch, env } = process;
  const running = `version ${version}, Node ${node} on ${platform} ${arch}`;
  const how = env.DEBUG
    ? `Report all of this with the command line (${running}).`
    : `Run it again with DEBUG=1, and report what it prints then with the command line (${running}).`;
  return new CliError(
    'UNEXPECTED',
    `${messageOf(error)} (an error of this program)`,
    how,
    exitCodes.internal,
    env.DEBUG ? inspect(error).split('\n') : [],
  );
}

const marketExitCodes = new Map<string, ExitCode>([
  ['NO_MARKETPLACE', exitCodes.notStarted],
  ['NOT_REFRESHED', exitCodes.notStarted],
  ['NOT_SUBMITTED', exitCodes.notStarted],
]);

const systemExitCodes = new Map<string, ExitCode>([
  ['BUILD_FAILED', exitCodes.notStarted],
  ['NOT_STARTED', exitCodes.notStarted],
  ['UNREACHABLE', exitCodes.notStarted],
]);

function inWords({ where, value, message }: InputError): string {
  return value === undefined ? `${where}: ${message}.` : `${where} ${value}: ${message}.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface CommanderProblem extends Error {
  readonly code: string;
}

/** Recognised by its code, so that a command that fails need not load commander. */
function isCommanderError(error: unknown): error is CommanderProblem {
  return error instanceof Error && String((error as CommanderProblem).code).startsWith('commander.');
}

/** commander puts its suggestion on a line of its own: `(Did you mean --input?)`. */
function fromCommander(error: CommanderProblem): CliError {
  const [message = '', ...suggestions] = error.message.replace(/^error: /, '').split('\n');
  const hint = suggestions.join(' ').replace(/^\(|\)$/g, '');
  return new CliError('BAD_USAGE', message, hint || 'Run it with --help to see what it takes.');
}
