import { type Command, Option } from 'commander';
import type { ExitCode } from './command-error.ts';
import type { Flag, FlagTable } from './flags.ts';
import type { Output } from './output.ts';

/** Receives a parsed command; its code is loaded when it is run. */
export type Run = (command: (output: Output) => Promise<ExitCode>) => Promise<void>;

/** Imports the code of a command, which gets its arguments, where to write, and the values of its flags. */
export type Load = () => Promise<(...given: never[]) => Promise<ExitCode>>;

/** Gives a command the flags of a table, with their texts and in their order, and its code. */
export function withFlags(command: Command, flags: FlagTable, run: Run, load: Load): Command {
  for (const { syntax, description, repeatable, choices, initial } of Object.values(flags)) {
    const option = new Option(syntax, description);
    if (choices) option.choices(choices);
    if (repeatable) option.argParser(collect(repeatable));
    if (typeof initial === 'string') option.default(initial);
    command.addOption(option);
  }
  // commander would print an empty list in the help if it were a default.
  const initial = Object.entries(flags).map(([name, flag]) => [name, flag.initial]);
  return command.action((...given: unknown[]) => {
    const values = { ...Object.fromEntries(initial), ...command.opts() };
    return run(async (output) => {
      const code = (await load()) as (...given: unknown[]) => Promise<ExitCode>;
      return code(...given.slice(0, -2), output, values);
    });
  });
}

function collect(repeatable: Flag['repeatable']) {
  const valuesIn = (text: string) =>
    repeatable === 'commas' ? text.split(',').map((part) => part.trim()) : [text];
  return (text: string, before: readonly string[] = []) => [...before, ...valuesIn(text)];
}
