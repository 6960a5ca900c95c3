import { type Command, Option } from 'commander';
import type { Flag, FlagTable, Values } from '../questions/model.ts';

/** Adds the flags of a table to a command, with their texts and in their order. */
export function withFlags(command: Command, flags: FlagTable): Command {
  for (const { syntax, description, repeatable, choices, initial } of Object.values(flags)) {
    const option = new Option(syntax, description);
    if (choices) option.choices(choices);
    if (repeatable) option.argParser(collect(repeatable));
    if (typeof initial === 'string') option.default(initial);
    command.addOption(option);
  }
  return command;
}

function collect(repeatable: Flag['repeatable']) {
  const valuesIn = (text: string) =>
    repeatable === 'commas' ? text.split(',').map((part) => part.trim()) : [text];
  return (text: string, before: readonly string[] = []) => [...before, ...valuesIn(text)];
}

/** The values of all flags. commander would print an empty list in the help if it were a default. */
export function valuesOf<Table extends FlagTable>(flags: Table, given: object): Values<Table> {
  const initial = Object.entries(flags).map(([name, flag]) => [name, flag.initial]);
  return { ...Object.fromEntries(initial), ...given };
}
