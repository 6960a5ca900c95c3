import { changesOf } from '../../dev/watch.ts';
import type { ExitCode } from '../../model/command-error.ts';
import { toCommandError } from '../errors.ts';
import type { Output } from '../output.ts';

/** Runs a check, then repeats it after each change of the project's sources or `.env`, until the process is ended. */
export async function watch(
  directory: string,
  output: Output,
  check: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const changes = changesOf(directory, new AbortController().signal);
  for (;;) {
    const change = changes.next(); // also notices changes during a check
    let exitCode: ExitCode;
    try {
      exitCode = await check();
    } catch (error) {
      const problem = toCommandError(error);
      output.error(problem);
      exitCode = problem.exitCode;
    }
    output.line(output.style('dim', 'Waiting for changes in src or .env (press Ctrl-C to stop)'));
    const { done } = await change;
    if (done) return exitCode;
  }
}
