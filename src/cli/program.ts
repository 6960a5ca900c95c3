import { Command } from 'commander';
import { version } from '../plan/versions.ts';
import {
  type AddToolSwitches,
  addToolQuestions,
  addToolSwitches,
  type RemoveToolSwitches,
  type RenameToolSwitches,
  removeToolSwitches,
  renameToolSwitches,
} from '../questions/add-tool.ts';
import { type CreateSwitches, createQuestions, createSwitches } from '../questions/create.ts';
import type { CreateFlags } from '../questions/create-answers.ts';
import { type FlagTable, list, on, text } from '../questions/model.ts';
import type { Flags } from '../questions/read-flags.ts';
import type { ToolParts } from '../questions/tool.ts';
import { type CheckFlags, checkFlags } from './check/flags.ts';
import type { ProgramName, Run } from './command.ts';
import type { DevFlags } from './commands/dev.ts';
import { valuesOf, withFlags } from './flags.ts';
import * as market from './marketplace/flags.ts';
import { helpWidth } from './ready.ts';
import { withUpgrade } from './upgrade/flags.ts';

const json = on('--json', 'print one JSON object');

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
  withDevelopment(program, run);
  withMarketplace(program, run);
  withUpgrade(program, run);
  withReference(program, run);
  return program;
}

function withCreate(command: Command, run: Run): Command {
  const { directory, ...questions } = createQuestions;
  return withFlags(command, { ...flagsOf(questions), ...createSwitches })
    .description(
      'Create a marketplace-ready MCP tool server and check it; at a terminal, ask for missing flags',
    )
    .argument(directory.flag.syntax, directory.flag.description)
    .action((place: string | undefined, options: CreateFlags & CreateSwitches) => {
      const flags = { ...options, ...(place !== undefined && { directory: place }) };
      return run(async (output) => (await import('./commands/create.ts')).create(flags, options, output));
    });
}

function withTools(program: Command, run: Run): void {
  const { tool, ...questions } = addToolQuestions;
  withFlags(program.command('add-tool'), { ...flagsOf(questions), ...addToolSwitches })
    .description('Add a tool to the project in the current directory; at a terminal, ask for missing flags')
    .argument(tool.flag.syntax, tool.flag.description)
    .action((name: string | undefined, options: Flags<ToolParts> & AddToolSwitches) => {
      const flags = { ...options, ...(name !== undefined && { tool: name }) };
      return run(async (output) => (await import('./commands/add-tool.ts')).addTool(flags, options, output));
    });
  const markListed = on(
    '--mark-listed',
    'record the tools as read by the marketplace; use it after registration and after each "Refresh Skills"',
  );
  withFlags(program.command('list'), { markListed, json })
    .description('List the tools of the project, and their differences from what the marketplace last read')
    .action(({ markListed = false }: { markListed?: boolean }) =>
      run(async (output) => (await import('./commands/list.ts')).list({ markListed }, output)),
    );
  withFlags(program.command('remove-tool'), removeToolSwitches)
    .description('Remove tools and their tests, after a confirmation')
    .argument('<name...>', 'names of the tools')
    .action((names: string[], flags: RemoveToolSwitches) =>
      run(async (output) => (await import('./commands/remove-tool.ts')).removeTool(names, flags, output)),
    );
  withFlags(program.command('rename-tool'), renameToolSwitches)
    .description('Rename a tool, its file and its test, after a confirmation')
    .argument('<old>', 'name of the tool')
    .argument('<new>', 'its new name')
    .action((from: string, to: string, flags: RenameToolSwitches) =>
      run(async (output) => (await import('./commands/rename-tool.ts')).renameTool(from, to, flags, output)),
    );
}

function withDevelopment(program: Command, run: Run): void {
  withFlags(program.command('check'), checkFlags)
    .description('Check a project or a running server against the rules of the marketplace')
    .argument(
      '[target]',
      'directory of a project, which is built and started, or URL of a running server (default: the project in the current directory)',
    )
    .action((target: string | undefined, given: Partial<CheckFlags>) => {
      const flags = valuesOf(checkFlags, given);
      return run(async (output) => (await import('./commands/check.ts')).check(target, flags, output));
    });
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
  const call = list('--call <tools>', 'also call these tools, which may change something; repeatable');
  withFlags(program.command('record'), { call, json })
    .description(
      'Call the examples of the tools that only read, for real, and record the answers of their APIs',
    )
    .action((flags: { readonly call?: readonly string[] }) =>
      run(async (output) => (await import('./commands/record.ts')).record(flags, output)),
    );
  const ttl = text('--ttl <seconds>', "lifetime of the token in seconds (default: the platform's)");
  withFlags(program.command('token'), { ttl, json })
    .argument('[tool]', 'tool to call (default: the first one)')
    .description('Sign a token with the local platform key, and print commands that call a tool with it')
    .action((tool: string | undefined, flags: { readonly ttl?: string }) =>
      run(async (output) => (await import('./commands/token.ts')).token(tool, flags, output)),
    );
}

/** `marketplace`, `register`, `listing`, `refresh`, `dispute` and `call`. */
function withMarketplace(program: Command, run: Run): void {
  withFlags(program.command('marketplace'), market.marketplaceFlags)
    .description('Run the marketplace on this machine: a page to try, check and register the server')
    .action((flags: market.MarketplaceFlags) =>
      run(async (output) => (await import('./commands/marketplace.ts')).marketplace(flags, output)),
    );
  withFlags(program.command('register'), market.registerFlags)
    .description('Submit the server to the local marketplace, as its registration form does')
    .action((flags: market.RegisterFlags) =>
      run(async (output) => (await import('./commands/register.ts')).register(flags, output)),
    );
  withFlags(program.command('listing'), market.listingFlags)
    .description(
      "Write server.json of the official MCP registry, and print the fields of the marketplace's registration form",
    )
    .action((flags: market.ListingFlags) =>
      run(async (output) => (await import('./commands/listing.ts')).listing(flags, output)),
    );
  withFlags(program.command('refresh'), market.placeFlags)
    .argument('[listing]', 'name or endpoint of a listing (default: the only one)')
    .description(
      'Trigger "Refresh Skills": the local marketplace reads the tools again and shows what has changed',
    )
    .action((listing: string | undefined, flags: market.PlaceFlags) =>
      run(async (output) => (await import('./commands/refresh.ts')).refresh(listing, flags, output)),
    );
  withFlags(program.command('dispute'), market.placeFlags)
    .argument('<call>', 'number of a call, as market-mcp call prints it')
    .description('Dispute a call as schema_mismatch; it is judged by the schema stored at the last refresh')
    .action((call: string, flags: market.PlaceFlags) =>
      run(async (output) => (await import('./commands/dispute.ts')).dispute(call, flags, output)),
    );
  withFlags(program.command('call'), market.callFlags)
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'its arguments as JSON (default: those of the submission test)')
    .description('Call a tool as the platform does, and validate its result')
    .action((tool: string, args: string | undefined, flags: market.CallFlags) =>
      run(async (output) => (await import('./commands/call.ts')).call(tool, args, flags, output)),
    );
}

/** The commands that print rules, schemas and profiles. */
function withReference(program: Command, run: Run): void {
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
}

function flagsOf(questions: { readonly [name: string]: { readonly flag: FlagTable[string] } }): FlagTable {
  return Object.fromEntries(Object.entries(questions).map(([name, { flag }]) => [name, flag]));
}
