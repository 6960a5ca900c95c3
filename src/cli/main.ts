import { runMain } from 'market-mcp-contract/command';
import { endChildren, watchChildren } from '../system/processes.ts';
import { buildProgram, type ProgramName, parseable } from './program.ts';

/** Runs a program: arguments in, exit code out. */
export function main(name: ProgramName, args: readonly string[]): Promise<void> {
  return runMain(
    {
      build(run, args) {
        const tree = buildProgram(name, run);
        // Without a command, the commands are listed.
        const isEmpty = args.length === 0 && name === 'market-mcp';
        return { tree, args: isEmpty ? ['--help'] : parseable(tree, args) };
      },
      children: { watch: watchChildren, end: endChildren },
    },
    args,
  );
}
