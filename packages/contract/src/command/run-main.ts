import type { Command } from 'commander';
import { CommandError, type ExitCode, exitCodes } from './command-error.ts';
import type { Run } from './commander.ts';
import { toCommandError } from './errors.ts';
import { type Sink, stopAllProgress } from './progress.ts';
import { type Children, endProgram, isProgramEnding, onSignals } from './signals.ts';
import { Output } from './terminal-output.ts';
import { urlMasker } from './url-secrets.ts';

/** A program with commands. */
export interface Program {
  /** The command tree, and the arguments as it should parse them. */
  build(run: Run, args: readonly string[]): { readonly tree: Command; readonly args: readonly string[] };
  /** The processes that it starts. */
  readonly children?: Children;
}

/** Runs a program: arguments in, exit code out. */
export async function runMain(program: Program, args: readonly string[]): Promise<void> {
  const mask = urlMasker(args.map((arg) => arg.replace(/^--[\w-]+=/, '')));
  const output = new Output({
    json: asksForJson(args),
    stdout: maskedSink(process.stdout, mask),
    stderr: maskedSink(process.stderr, mask),
  });
  ignoreClosedPipes(output);
  onSignals(program.children);
  reportUncaughtErrors(output);
  process.exitCode = await parseAndRun(program, args, output);
  // What the command no longer waits for.
  await program.children?.end();
  setImmediate(endUnlessWriting);
}

/** Returns a stream that masks what it writes. A server may repeat the URL of the command line. */
function maskedSink(sink: Sink, mask: (text: string) => string): Sink {
  return {
    get isTTY() {
      return sink.isTTY === true;
    },
    get columns() {
      return sink.columns ?? 80;
    },
    hasColors: () => sink.hasColors?.() === true,
    write: (text) => sink.write(mask(text)),
  };
}

/** Ends without freeing memory: the system does that faster than Node. Failed writes have been reported before. */
function endUnlessWriting(): void {
  if (isProgramEnding()) return;
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}

/**
 * Reports uncaught errors, and work that ends without a result because nothing is left to wait for. Neither may
 * look like a verdict or a success.
 */
function reportUncaughtErrors(output: Output): void {
  const end = (error: unknown): void => {
    if (isProgramEnding()) return;
    const problem = toCommandError(error);
    stopAllProgress();
    output.error(problem);
    endProgram(problem.exitCode);
  };
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) process.on(kind, end);
  process.once('beforeExit', () => {
    if (process.exitCode === undefined) end(new Error('the command ended without a result'));
  });
}

async function parseAndRun(program: Program, args: readonly string[], output: Output): Promise<ExitCode> {
  try {
    let exitCode: ExitCode = exitCodes.ok;
    const run: Run = async (command) => {
      exitCode = await command(output);
    };
    const { tree, args: givenArguments } = program.build(run, args);
    await tree.parseAsync(givenArguments, { from: 'user' });
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
