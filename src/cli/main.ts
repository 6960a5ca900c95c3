import {
  CommandError,
  type ExitCode,
  exitCodes,
  Output,
  stopAllProgress,
  toCommandError,
} from 'market-mcp-contract/command';
import { endChildren } from '../system/children.ts';
import { type ProgramName, prebuiltAnswer } from './ready.ts';
import { onSignals } from './signals.ts';

/** Runs a program: arguments in, exit code out. Loads only what the command needs. */
export async function main(name: ProgramName, args: readonly string[]): Promise<void> {
  const output = new Output({ json: asksForJson(args), stdout: process.stdout, stderr: process.stderr });
  ignoreClosedPipes(output);
  const ready = prebuiltAnswer(name, args);
  if (ready !== undefined) {
    process.stdout.write(ready);
    return;
  }
  onSignals();
  reportUncaughtErrors(output);
  process.exitCode = await runProgram(name, args, output);
}

/**
 * Reports uncaught errors, and work that ends without a result because nothing is left to wait for. Neither may
 * look like a verdict or a success.
 */
function reportUncaughtErrors(output: Output): void {
  const end = async (error: unknown): Promise<void> => {
    for (const kind of kinds) process.off(kind, end).on(kind, () => {});
    stopAllProgress();
    const problem = toCommandError(error);
    output.error(problem);
    await endChildren();
    process.exit(problem.exitCode);
  };
  const kinds = ['uncaughtException', 'unhandledRejection'] as const;
  for (const kind of kinds) process.on(kind, end);
  process.once('beforeExit', () => {
    if (process.exitCode === undefined) end(new Error('the command ended without a result'));
  });
}

async function runProgram(name: ProgramName, args: readonly string[], output: Output): Promise<ExitCode> {
  try {
    const { buildProgram, parseable } = await import('./program.ts');
    let exitCode: ExitCode = exitCodes.ok;
    const program = buildProgram(name, async (command) => {
      exitCode = await command(output);
    });
    // Without a command, the commands are listed.
    const given = args.length === 0 && name === 'market-mcp' ? ['--help'] : parseable(program, args);
    await program.parseAsync(given, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (isHelpOrVersion(error)) return exitCodes.ok;
    const problem = toCommandError(error);
    output.error(problem);
    return problem.exitCode;
  }
}

/** Determined before the arguments are parsed: errors in them are reported in the same form. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}

function isHelpOrVersion(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version';
}

/**
 * A failed write does not stop the work. A closed pipe is ignored. Any other error, such
 * as a full disk, is reported once, and the program fails.
 */
function ignoreClosedPipes(output: Output): void {
  let isTold = false;
  process.stderr.on('error', () => {});
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || isTold) return;
    isTold = true;
    output.error(new CommandError('NOT_WRITTEN', `stdout cannot be written to (${code})`, ''));
    process.once('exit', () => {
      process.exitCode ||= exitCodes.notWritten;
    });
  });
}
