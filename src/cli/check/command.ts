import { canAsk, type ExitCode, type Output, toCommandError } from 'market-mcp-contract/command';
import { checkHeld, checkUrl, optionsOf, rerunCommand, type Words } from 'market-mcp-contract/program';
import { listingFile, previousListing } from '../../check/files.ts';
import { changesOf } from '../../dev/watch.ts';
import { explainCommand, marketCommand } from '../../system/command-line.ts';
import { answerLines, realLines, unrecordedLines } from './format.ts';
import type { CheckFlags } from './options.ts';
import { isUrl, projectAt, requireUrlFlags } from './subject.ts';

/**
 * `market-mcp check [directory|url]`: runs the contract on a project's server or on any other.
 *
 * @returns 1 if a rule that counts failed, 3 if a MUST could not be judged because the server did not answer.
 */
export async function check(
  target: string | undefined,
  output: Output,
  flags: CheckFlags,
): Promise<ExitCode> {
  const line = (...args: readonly string[]) => marketCommand('check', ...args);
  const words: Words = {
    explain: explainCommand,
    again: (rules) => rerunCommand(line, target, flags, rules),
    choose: canAsk() ? choose : undefined,
  };
  if (target !== undefined && isUrl(target)) {
    requireUrlFlags(flags);
    return checkUrl(target, output, flags, words);
  }
  const { directory, hold } = await projectAt(target, flags);
  const options = await optionsOf(
    flags,
    flags.against === undefined ? await previousListing(directory) : undefined,
  );
  const held = async () => {
    const server = await hold(output);
    const notes = () => [
      ...answerLines(server.answers?.() ?? []),
      ...realLines(server.real),
      ...unrecordedLines(server.unrecorded?.() ?? []),
    ];
    return { ...server, asks: false, notes };
  };
  const once = () => checkHeld(held, options, output, flags, words, listingFile(directory));
  return flags.watch ? repeat(directory, output, once) : once();
}

/** Asks a person which tools may be called, too. */
const choose: Words['choose'] = async (withheld) => {
  const { Asker } = await import('../prompts/asker.ts');
  return new Asker().chooseAny(
    'Call any of these tools, too? Each call really runs the tool. (Space selects, Enter continues)',
    withheld.map(({ tool, because }) => ({ value: tool, label: tool, hint: because })),
  );
};

/** Runs a check, then repeats it after each change of the project's sources or `.env`, until the process is ended. */
async function repeat(directory: string, output: Output, check: () => Promise<ExitCode>): Promise<ExitCode> {
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
