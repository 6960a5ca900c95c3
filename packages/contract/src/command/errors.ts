import { inspect } from 'node:util';
import { messageOf } from '../json/json.ts';
import { version } from '../version.ts';
import { CommandError } from './command-error.ts';

/** Maps every exception to a code, a message and an exit code. */
export function toCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (isCommanderError(error)) return fromCommander(error);
  if (error instanceof Error && error.name === 'Cancelled') {
    const { resume } = error as { readonly resume?: string };
    const hint = resume === undefined ? '' : `To continue with the answers given so far: ${resume}`;
    return new CommandError('CANCELLED', 'cancelled, nothing was written', hint);
  }
  if ((error as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd') {
    const message = 'the current directory no longer exists';
    return new CommandError('NO_DIRECTORY', message, 'Change to a directory that exists.');
  }
  return unexpected(error);
}

/** An error of this program, not of its input. Its stack is printed if the environment variable DEBUG is set. */
function unexpected(error: unknown): CommandError {
  const { version: node, platform, arch, env } = process;
  const running = `version ${version}, Node ${node} on ${platform} ${arch}`;
  const advice = env.DEBUG
    ? `Report this output together with the command line (${running}).`
    : `Run the command again with DEBUG=1, and report its output together with the command line (${running}).`;
  return new CommandError('UNEXPECTED', `${messageOf(error)} (an error in this program)`, advice, {
    details: env.DEBUG ? inspect(error).split('\n') : [],
  });
}

interface CommanderProblem extends Error {
  readonly code: string;
}

/** Recognized by its code: importing commander would slow down a failing command. */
function isCommanderError(error: unknown): error is CommanderProblem {
  return error instanceof Error && String((error as CommanderProblem).code).startsWith('commander.');
}

/** commander prints its suggestion on a separate line: `(Did you mean --input?)`. */
function fromCommander(error: CommanderProblem): CommandError {
  const [message = '', ...suggestions] = error.message.replace(/^error: /, '').split('\n');
  const hint = suggestions.join(' ').replace(/^\(|\)$/g, '');
  return new CommandError(
    'BAD_USAGE',
    message,
    hint || 'Run the command with --help to see its arguments and options.',
  );
}
