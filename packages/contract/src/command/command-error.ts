import { errorSentence, orList, spellingHint } from './input-error.ts';
import type { InputError, Result } from './input-result.ts';
import { shellLine } from './shell.ts';

/** Exit codes of both programs (docs/architecture.md, "Names"). */
export const exitCodes = {
  ok: 0,
  checkFailed: 1,
  badInput: 2,
  notStarted: 3,
  installFailed: 4,
  /** EX_SOFTWARE of sysexits.h: an error of the program itself. */
  internal: 70,
  /** EX_IOERR: the output could not be written. */
  notWritten: 74,
  cancelled: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit codes of errors that are not about the input. */
const exitCodeOf: { readonly [code: string]: ExitCode } = {
  EXAMPLE_FAILED: exitCodes.checkFailed,
  SELF_CHECK_FAILED: exitCodes.checkFailed,
  UPGRADE_CONFLICTS: exitCodes.checkFailed,
  BUILD_FAILED: exitCodes.notStarted,
  IMAGE_NOT_BUILT: exitCodes.notStarted,
  NO_ENGINE: exitCodes.notStarted,
  NOT_ANSWERED: exitCodes.notStarted,
  NOT_CALLED: exitCodes.notStarted,
  NOT_REFRESHED: exitCodes.notStarted,
  NOT_STARTED: exitCodes.notStarted,
  NOT_SUBMITTED: exitCodes.notStarted,
  NO_MARKETPLACE: exitCodes.notStarted,
  NO_WRANGLER: exitCodes.notStarted,
  UNREACHABLE: exitCodes.notStarted,
  WORKER_NOT_BUILT: exitCodes.notStarted,
  GIT_FAILED: exitCodes.installFailed,
  INSTALL_FAILED: exitCodes.installFailed,
  PACKAGE_MANAGER_MISSING: exitCodes.installFailed,
  UNEXPECTED: exitCodes.internal,
  NOT_WRITTEN: exitCodes.notWritten,
  CANCELLED: exitCodes.cancelled,
  INTERRUPTED: exitCodes.cancelled,
};

interface Further extends ErrorOptions, Partial<Pick<CommandError, 'details' | 'data'>> {}

/** An error that ends a command with the exit code of its code (by default the one for bad input), ready to be printed. */
export class CommandError extends Error {
  /** Constant for programs, `TARGET_NOT_EMPTY`. */
  readonly code: string;
  /** What the user can do about it. */
  readonly hint: string;
  readonly exitCode: ExitCode;
  /** Each error of the input, or the last lines of a step that failed. */
  readonly details: readonly string[];
  /** Further members for `--json`. */
  readonly data: object;

  constructor(code: string, message: string, hint: string, extras: Further = {}) {
    super(message, extras);
    this.name = 'CommandError';
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCodeOf[code] ?? exitCodes.badInput;
    this.details = extras.details ?? [];
    this.data = extras.data ?? {};
  }
}

/** What `work` results in, or the CommandError that it ends with. @throws every other error of `work` */
export async function orCommandError<T>(work: () => T | Promise<T>): Promise<T | CommandError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/**
 * All errors of an input as one error.
 *
 * @param accepted names of the tools without errors: the user may leave out the others
 */
export function invalidInput(errors: readonly InputError[], accepted: readonly string[] = []): CommandError {
  const [first] = errors;
  const refusedTools = [...new Set(errors.filter(({ tool }) => tool !== undefined).map(({ tool }) => tool))];
  const data = refusedTools.length > 0 ? { taken: accepted, refused: errors } : {};
  const isPart =
    accepted.length > 0 && refusedTools.length > 0 && errors.every(({ tool }) => tool !== undefined);
  const acceptedPhrase =
    accepted.length === 1 ? `only ${accepted[0]}` : `only the other ${accepted.length} tools`;
  const part = isPart ? ` To take ${acceptedPhrase}: ${shellLine(['--except', refusedTools.join(',')])}` : '';
  if (errors.length === 1 && first) {
    return new CommandError('INVALID_INPUT', errorSentence(first), `${first.hint}${part}`, { data });
  }
  return new CommandError(
    'INVALID_INPUT',
    `${errors.length} errors in the input`,
    `Fix them all and run the command again.${part}`,
    { details: errors.map((error) => `${errorSentence(error)} ${error.hint}`), data },
  );
}

/** @throws CommandError `INVALID_INPUT` with the errors, if there are any. */
export function requireNone(errors: readonly InputError[]): void {
  if (errors.length > 0) throw invalidInput(errors);
}

/** The error of a tool that its owner does not have. */
export function unknownTool(owner: string, tool: string, names: readonly string[]): CommandError {
  const hint = spellingHint(tool, names, `Its tools: ${orList(names)}.`);
  return new CommandError('NO_SUCH_TOOL', `${owner} has no tool called ${JSON.stringify(tool)}`, hint);
}

/** The value of a result. @throws CommandError `INVALID_INPUT` with all its errors. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw invalidInput(result.errors, result.accepted);
}
