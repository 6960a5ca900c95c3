import { Command, Option } from 'commander';
import { version } from '../plan/versions.ts';
import {
  addToolQuestions,
  addToolSwitches,
  removeToolSwitches,
  renameToolSwitches,
} from '../questions/add-tool.ts';
import { createQuestions, createSwitches } from '../questions/create.ts';
import type { CreateFlags } from '../questions/create-answers.ts';
import type { Question, Switch, Switches } from '../questions/model.ts';
import type { Flags } from '../questions/read-flags.ts';
import type { ToolParts } from '../questions/tool.ts';
import { list, withCheck } from './check/flags.ts';
import type { ProgramName, Run } from './command.ts';
import type { DevFlags } from './commands/dev.ts';
import type { RecordFlags } from './commands/record.ts';
import { withMarketplace } from './marketplace/flags.ts';
import { helpWidth } from './ready.ts';
import { withUpgrade } from './upgrade/flags.ts';

/** The command tree of a program. A parsed command is passed to `run`. Invalid arguments throw. */
export function buildProgram(name: ProgramName, run: Run): Command {
  const program = new Command(name)
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureOutput({ getOutHelpWidth: () => helpWidth, writeErr: () => {}, outputError: () => {} });
  if (name === 'create-market-mcp') return withCreate(program, run);

  program
    .description('Develop, check and extend marketplace tool servers.')
    .helpCommand('help [command]', 'Show the help of a command');
  withCreate(program.command('new'), run);
  withTools(program, run);
  withCheck(program.command('check'), run);
  withDevelopment(program, run);
  withMarketplace(program, run);
  withUpgrade(program, run);
  program
    .command('explain')
    .argument('[rule]', 'id of a rule (gate.no-token) or of a group of rules (gate)')
    .description('Explain a rule, with an example that fails and one that passes')
    .option('--json', 'print as JSON')
    .action((rule: string | undefined) =>
      run(async (output) => (await import('./commands/explain.ts')).explain(rule, output)),
    );
  for (const [name, flag] of [
    ['spec', '--spec'],
    ['examples', 'check --examples'],
  ] as const)
    program
      .command(`${name}-schema`)
      .description(`Print the JSON Schema of ${flag} files`)
      .option('--json', 'print on one line')
      .action(() => run(async (output) => (await import('./commands/schema.ts')).printSchema(name, output)));
  program
    .command('platforms')
    .argument('[name]', 'print this profile in full, as a start for your own')
    .description('List the built-in platform profiles')
    .option('--json', 'print the profiles themselves')
    .action((name: string | undefined) =>
      run(async (output) => (await import('./commands/platforms.ts')).showPlatforms(name, output)),
    );
  return program;
}

function withCreate(command: Command, run: Run): Command {
  const { directory, ...questions } = createQuestions;
  command
    .description(
      'Create a marketplace-ready MCP tool server and check it; at a terminal, ask for missing flags',
    )
    .argument(directory.flag.syntax, directory.flag.description);
  return withFlags(command, questions, createSwitches).action(
    (place: string | undefined, options: CreateFlags & Given<typeof createSwitches>) => {
      const flags = { ...options, ...(place !== undefined && { directory: place }) };
      const switches = switchesOf(createSwitches, options);
      return run(async (output) => (await import('./commands/create.ts')).create(flags, switches, output));
    },
  );
}

function withTools(program: Command, run: Run): void {
  const { tool, ...questions } = addToolQuestions;
  const add = program
    .command('add-tool')
    .description('Add a tool to the project in the current directory; at a terminal, ask for missing flags')
    .argument(tool.flag.syntax, tool.flag.description);
  withFlags(add, questions, addToolSwitches).action(
    (name: string | undefined, options: Flags<ToolParts> & Given<typeof addToolSwitches>) => {
      const flags = { ...options, ...(name !== undefined && { tool: name }) };
      const switches = switchesOf(addToolSwitches, options);
      return run(async (output) => (await import('./commands/add-tool.ts')).addTool(flags, switches, output));
    },
  );
  program
    .command('list')
    .description('List the tools of the project, and their differences from what the marketplace last read')
    .option(
      '--mark-listed',
      'record the tools as read by the marketplace; use it after registration and after each "Refresh Skills"',
    )
    .option('--json', 'print one JSON object')
    .action(({ markListed = false }: { markListed?: boolean }) =>
      run(async (output) => (await import('./commands/list.ts')).list({ markListed }, output)),
    );
  const remove = program
    .command('remove-tool')
    .description('Remove tools and their tests, after a confirmation')
    .argument('<name...>', 'names of the tools');
  withFlags(remove, {}, removeToolSwitches).action(
    (names: string[], options: Given<typeof removeToolSwitches>) => {
      const switches = switchesOf(removeToolSwitches, options);
      return run(async (output) =>
        (await import('./commands/remove-tool.ts')).removeTool(names, switches, output),
      );
    },
  );
  const rename = program
    .command('rename-tool')
    .description('Rename a tool, its file and its test, after a confirmation')
    .argument('<old>', 'name of the tool')
    .argument('<new>', 'its new name');
  withFlags(rename, {}, renameToolSwitches).action(
    (from: string, to: string, options: Given<typeof renameToolSwitches>) => {
      const switches = switchesOf(renameToolSwitches, options);
      return run(async (output) =>
        (await import('./commands/rename-tool.ts')).renameTool(from, to, switches, output),
      );
    },
  );
}

function withDevelopment(program: Command, run: Run): void {
  program
    .command('dev')
    .description(
      'Run the server of the project and a local marketplace; rebuild and restart the server after each change',
    )
    .option('--no-marketplace', 'do not start the local marketplace')
    .option('--port <port>', 'port of the marketplace page (default: 4400, or the next free port)')
    .option('--inspect [port]', 'allow a debugger to attach to the server (default: port 9229)')
    .action((flags: DevFlags) =>
      run(async (output) => (await import('./commands/dev.ts')).dev(flags, output)),
    );
  program
    .command('record')
    .description(
      'Call the examples of the tools that only read, for real, and record the answers of their APIs',
    )
    .addOption(list('--call <tools>', 'also call these tools, which may change something; repeatable'))
    .option('--json', 'print one JSON object')
    .action((flags: RecordFlags) =>
      run(async (output) => (await import('./commands/record.ts')).record(flags, output)),
    );
  program
    .command('token')
    .argument('[tool]', 'tool to call (default: the first one)')
    .description('Sign a token with the local platform key, and print commands that call a tool with it')
    .option('--ttl <seconds>', "lifetime of the token in seconds (default: the platform's)")
    .option('--json', 'print one JSON object')
    .action((tool: string | undefined, flags: { readonly ttl?: string }) =>
      run(async (output) => (await import('./commands/token.ts')).token(tool, flags, output)),
    );
}

type SwitchTable = { readonly [name: string]: Switch };
/** The switches as commander reports them: only those that were given. */
type Given<Table> = Partial<Switches<Table>>;

/** Adds the flags of the tables, with their texts and in their order. */
function withFlags(
  command: Command,
  questions: { readonly [name: string]: Pick<Question<unknown, unknown>, 'flag'> },
  switches: SwitchTable,
): Command {
  for (const { flag } of Object.values(questions)) {
    const option = new Option(flag.syntax, flag.description);
    if (flag.repeatable)
      option.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    command.addOption(option);
  }
  for (const { syntax, description } of Object.values(switches)) command.option(syntax, description);
  return command;
}

function switchesOf<Table extends SwitchTable>(table: Table, given: Given<Table>): Switches<Table> {
  const entries = Object.entries(table).map(([name, { initial }]) => [name, given[name] ?? initial]);
  return Object.fromEntries(entries);
}
