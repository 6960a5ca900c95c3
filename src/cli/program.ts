import { Command, Option } from 'commander';
import { version } from '../plan/versions.ts';
import { type CreateSwitches, createQuestions, createSwitches } from '../questions/create.ts';
import type { CreateFlags } from '../questions/create-answers.ts';
import type { ExitCode } from './errors.ts';
import type { ProgramName } from './main.ts';
import type { Output } from './output.ts';

/** A command whose arguments are parsed; its code is loaded when it is run. */
export type ReadyCommand = (output: Output) => Promise<ExitCode>;

/** The command tree of a program. A command that was parsed is handed to `run`. Faulty arguments throw. */
export function buildProgram(name: ProgramName, run: (command: ReadyCommand) => Promise<void>): Command {
  const program = new Command(name)
    .version(version, '-V, --version')
    .helpOption('-h, --help', 'show this')
    .exitOverride()
    .configureOutput({ writeErr: () => {}, outputError: () => {} });
  if (name === 'create-market-mcp') return withCreate(program, run);

  program.description('Works on a marketplace tool server, and makes new ones.');
  withCreate(program.command('new'), run);
  program
    .command('check')
    .description('build the project that the current directory lies in and run its self-check')
    .option('--json', 'print the report as JSON')
    .action(() => run(async (output) => (await import('./commands/check.ts')).check(output)));
  program
    .command('spec-schema')
    .description('print the JSON Schema of what --spec takes')
    .option('--json', 'the same, on one line')
    .action(() => run(async (output) => (await import('./commands/spec-schema.ts')).printSpecSchema(output)));
  program
    .command('platforms')
    .argument('[name]', 'print this one whole, to start your own from')
    .description('list the platform profiles that ship')
    .option('--json', 'print the profiles themselves')
    .action((name: string | undefined) =>
      run(async (output) => (await import('./commands/platforms.ts')).showPlatforms(name, output)),
    );
  return program;
}

/** The flags, their words and their order are those of the question table. */
function withCreate(command: Command, run: (command: ReadyCommand) => Promise<void>): Command {
  const { directory, ...questions } = createQuestions;
  command
    .description('Makes a marketplace-ready MCP tool server and proves it. Asks for what no flag says.')
    .argument(directory.flag.syntax, directory.flag.description);
  for (const { flag } of Object.values(questions)) {
    const option = new Option(flag.syntax, flag.description);
    if ('repeatable' in flag)
      option.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    command.addOption(option);
  }
  for (const { syntax, description } of Object.values(createSwitches)) command.option(syntax, description);
  return command.action((place: string | undefined, options: Options) => {
    const flags: CreateFlags = { ...options, ...(place !== undefined && { directory: place }) };
    const switches = switchesOf(options);
    return run(async (output) => (await import('./commands/create.ts')).create(flags, switches, output));
  });
}

type Options = CreateFlags & Partial<CreateSwitches>;

function switchesOf(options: Options): CreateSwitches {
  const names = Object.keys(createSwitches) as (keyof CreateSwitches)[];
  const entries = names.map((name) => [name, options[name] ?? createSwitches[name].initial]);
  return Object.fromEntries(entries) as CreateSwitches;
}
