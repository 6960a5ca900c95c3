import { type Command, Help, Option } from 'commander';
import type { ExitCode } from './command-error.ts';
import type { Flag, FlagTable } from './flag-table.ts';
import type { Output } from './terminal-output.ts';

/** Receives a parsed command; its code is loaded when it is run. */
export type Run = (command: (output: Output) => Promise<ExitCode>) => Promise<void>;

/** Imports the code of a command, which gets its arguments, where to write, and the values of its flags. */
export type Load = () => Promise<(...args: never[]) => Promise<ExitCode>>;

/** A group of flags in a help, the most used first. */
export interface FlagGroup {
  readonly title: string;
  /** The flags of the short help by their names, each with its text there. */
  readonly common: { readonly [flag: string]: string };
  /** The names of the flags that only `--help-all` lists. */
  readonly more: readonly string[];
}

/** Gives a command the flags of a table, with their texts and in their order, and its code. */
export function withFlags(command: Command, flags: FlagTable, run: Run, load: Load): Command {
  for (const flag of Object.values(flags)) command.addOption(optionOf(flag));
  return withAction(command, flags, run, load);
}

/** As `withFlags`, with a help that has groups of flags, and `--help-all` for all of them. */
export function withGroupedFlags(
  command: Command,
  flags: FlagTable,
  groups: readonly FlagGroup[],
  run: Run,
  load: Load,
): Command {
  const texts = new Map<Option, string>();
  for (const { title, common, more } of groups) {
    for (const name of [...Object.keys(common), ...more]) {
      const flag = flags[name];
      if (flag === undefined) throw new Error(`no flag ${name}`);
      const option = optionOf(flag).helpGroup(`${title}:`);
      const text = common[name];
      if (text === undefined) option.hideHelp();
      else texts.set(option, text);
      command.addOption(option);
    }
  }
  command
    .optionsGroup('Help:')
    .option('--help-all', 'show all options, with their full descriptions')
    .helpOption('-h, --help', 'show this help');
  command.on('option:help-all', () => {
    for (const option of command.options) option.hidden = false;
    texts.clear();
    command.help();
  });
  command.configureHelp({
    optionDescription: (option) => texts.get(option) ?? Help.prototype.optionDescription(option),
  });
  return withAction(command, flags, run, load);
}

function optionOf({ syntax, description, repeatable, choices, initial }: Flag): Option {
  const option = new Option(syntax, description);
  if (choices) option.choices(choices);
  if (repeatable) option.argParser(flagCollector(repeatable));
  if (typeof initial === 'string') option.default(initial);
  return option;
}

function withAction(command: Command, flags: FlagTable, run: Run, load: Load): Command {
  // commander would print an empty list in the help if it were a default.
  const initial = Object.entries(flags).map(([name, flag]) => [name, flag.initial]);
  return command.action((...actionArguments: unknown[]) => {
    const values = { ...Object.fromEntries(initial), ...command.opts() };
    return run(async (output) => {
      const code = (await load()) as (...args: unknown[]) => Promise<ExitCode>;
      return code(...actionArguments.slice(0, -2), output, values);
    });
  });
}

function flagCollector(repeatable: Flag['repeatable']) {
  const valuesIn = (text: string) =>
    repeatable === 'commas' ? text.split(',').map((part) => part.trim()) : [text];
  return (text: string, before: readonly string[] = []) => [...before, ...valuesIn(text)];
}
