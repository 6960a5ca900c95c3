import { Argument, Command } from 'commander';
import {
  CommandError,
  type FlagGroup,
  type FlagTable,
  type Load,
  list,
  nameList,
  off,
  on,
  type Run,
  spellingHint,
  textOption,
  withFlags,
  withGroupedFlags,
} from 'market-mcp-contract/command';
import { version } from '../plan/package-versions.ts';
import {
  addToolQuestions,
  addToolSwitches,
  removeToolSwitches,
  renameToolSwitches,
} from '../questions/add-tool.ts';
import { createQuestions, createSwitches } from '../questions/create.ts';
import { targetNames } from '../questions/targets.ts';
import {
  callFlags,
  checkFlags,
  jsonFlag,
  listingFlags,
  marketplaceFlags,
  pagePortFlag,
  placeFlags,
  registerFlags,
  upgradeFlags,
} from './command-flags.ts';
import { checkGroups, commandGroups, createGroups } from './help.ts';

/** The names of the program. */
export type ProgramName = 'create-market-mcp' | 'market-mcp';

/** The command tree of a program. A parsed command is passed to `run`. Invalid arguments throw. */
export function buildProgram(name: ProgramName, run: Run): Command {
  const program = new Command(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, outputError: () => {} });
  if (name === 'create-market-mcp') {
    withCreate(program, run).version(version, '-V, --version', 'show the version');
    return withHelpExample(program, `${name} ${examples.new}`);
  }

  program
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .description('Develop, check and extend marketplace tool servers.')
    .enablePositionalOptions() // the options behind a subcommand are its own
    .commandsGroup('Help:')
    .helpCommand('help [command]', 'show the help of a command')
    .commandsGroup('');
  withCreate(program.command('new'), run);
  addCommands((name, flags, load, group = program, flagGroups = []) => {
    const command = group.command(name);
    if (flagGroups.length === 0) return withFlags(command, flags, run, load);
    return withGroupedFlags(command, flags, flagGroups, run, load);
  });
  groupCommands(program);
  addExamples(program, name);
  return program;
}

/** Gives each command its group and its line in the help of the program, and sorts them by group. */
function groupCommands(program: Command): void {
  const names = Object.values(commandGroups).flatMap((lines) => Object.keys(lines));
  const commands = program.commands as Command[];
  commands.sort((first, second) => names.indexOf(first.name()) - names.indexOf(second.name()));
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  for (const [title, lines] of Object.entries(commandGroups)) {
    for (const [name, line] of Object.entries(lines)) {
      const command = program.commands.find((candidate) => candidate.name() === name);
      command?.helpGroup(`${title}:`).summary(line);
    }
  }
}

/** Adds an example to the help of each command and subcommand. */
function addExamples(program: Command, programName: ProgramName): void {
  for (const command of program.commands) {
    const commandName = command.name();
    withHelpExample(command, `${programName} ${commandName} ${examples[commandName]}`);
    for (const subcommand of command.commands) {
      const path = `${commandName} ${subcommand.name()}`;
      withHelpExample(subcommand, `${programName} ${path} ${examples[path]}`);
    }
  }
}

/** Commands of version 0.4.0 that have another name now. */
const formerCommands: Readonly<Record<string, string>> = {
  watch: 'check <url> --availability',
  refresh: 'marketplace refresh',
  dispute: 'marketplace dispute <call>',
  'spec-schema': 'schema spec',
  'examples-schema': 'schema examples',
};

/** @throws CommandError `BAD_USAGE` for a former name */
function requireCurrentName(name: string): void {
  if (!Object.hasOwn(formerCommands, name)) return;
  throw new CommandError(
    'BAD_USAGE',
    `the command ${name} has another name now`,
    `Run: market-mcp ${formerCommands[name]}`,
  );
}

/** @throws CommandError `BAD_USAGE` for the former name of an option of `marketplace` */
function requireCurrentPort(command: string, options: readonly string[]): void {
  if (command !== 'marketplace' || !options.some((option) => /^--port(?:=|$)/.test(option))) return;
  throw new CommandError(
    'BAD_USAGE',
    'the option --port of marketplace has another name now',
    'Write --page-port.',
  );
}

/**
 * Rejects an unknown subcommand. A group with its own action would count the word as one argument too many.
 *
 * @throws CommandError `BAD_USAGE`
 */
function requireSubcommand(group: Command | undefined, word: string | undefined): void {
  if (group === undefined || group.commands.length === 0) return;
  if (word === undefined || word.startsWith('-')) return;
  const names = group.commands.map((command) => command.name());
  if (word === 'help' || names.includes(word)) return;
  const hint = spellingHint(word, names, `Its subcommands are ${nameList(names)}.`);
  throw new CommandError('BAD_USAGE', `unknown command '${group.name()} ${word}'`, hint);
}

/**
 * Rejects options between a group and its subcommand: only the group would get them.
 *
 * @throws CommandError `BAD_USAGE`
 */
function requireNoGroupOptions(group: Command, subcommand: Command): void {
  const [name] = Object.keys(group.opts()).filter((option) => group.getOptionValueSource(option) === 'cli');
  const option = group.options.find((groupOption) => groupOption.attributeName() === name);
  if (option === undefined) return;
  throw new CommandError(
    'BAD_USAGE',
    `${option.long} stands before ${subcommand.name()}`,
    `Write it behind: ${group.name()} ${subcommand.name()} ${option.long}`,
  );
}

function withHelpExample(command: Command, example: string): Command {
  return command.addHelpText('after', `\nExample:\n  ${example}`);
}

/**
 * The arguments as commander should parse them: it would answer `chek --help` with the help of the program, and `help chek`
 * with nothing.
 */
export function parseable(program: Command, args: readonly string[]): readonly string[] {
  const names = ['help', ...program.commands.map((command) => command.name())];
  const [first, ...rest] = args[0] === 'help' && args.length > 1 ? [...args.slice(1), '--help'] : args;
  if (first === undefined || names.length === 1) return args;
  requireCurrentName(first);
  requireCurrentPort(first, rest);
  requireSubcommand(
    program.commands.find((command) => command.name() === first),
    rest[0],
  );
  if (names.includes(first) || first.startsWith('-')) return [first, ...rest];
  return [first];
}

/** One call of each command, for its help. */
const examples: Readonly<Record<string, string>> = {
  new: "weather --yes --tool get_weather --input 'city:string=Berlin City to look up'",
  'add-tool': "get_forecast --yes --input 'city:string=Berlin City to look up' --output 'days[].high:number'",
  list: '--json',
  'remove-tool': 'get_forecast --yes',
  'rename-tool': 'get_forecast get_weather_forecast --yes',
  deploy: 'add compose',
  check: 'https://tools.example.com/mcp --platform context',
  dev: '--port 4500',
  record: '--call cancel_parcel',
  token: 'get_weather --ttl 600',
  marketplace: '--page-port 4500',
  register: '--name Weather --endpoint http://localhost:3000/mcp',
  listing: '--endpoint https://tools.example.com/mcp --registry-name io.github.acme/weather',
  'marketplace refresh': 'Weather',
  'marketplace dispute': '3',
  call: 'get_weather \'{"city":"Berlin"}\'',
  upgrade: '--dry-run',
  doctor: '--json',
  explain: 'gate.no-token',
  schema: 'spec > spec.schema.json',
  platforms: 'context > my-platform.json',
};

function withCreate(command: Command, run: Run): Command {
  const { directory, ...questions } = createQuestions;
  const flags = { ...questionFlags(questions), ...createSwitches };
  return withGroupedFlags(
    command,
    flags,
    createGroups,
    run,
    async () => (await import('./create/command.ts')).create,
  )
    .description(
      'Create a marketplace-ready MCP tool server and check it; at a terminal, ask for missing flags',
    )
    .argument(directory.flag.syntax, directory.flag.description);
}

/** Adds a command with its flags and its code, to a group of commands if one is given. */
type Add = (
  name: string,
  flags: FlagTable,
  load: Load,
  group?: Command,
  flagGroups?: readonly FlagGroup[],
) => Command;

/** Adds the commands, in the order of the help. */
function addCommands(add: Add): void {
  addProjectCommands(add);
  addMarketplaceCommands(add);
  addVersionCommands(add);
  addReferences(add);
}

/** Commands that change, check and run a project. */
function addProjectCommands(add: Add): void {
  const { tool, ...questions } = addToolQuestions;
  add(
    'add-tool',
    { ...questionFlags(questions), ...addToolSwitches },
    async () => (await import('./add-tool/command.ts')).addTool,
  )
    .description('Add a tool to the project in the current directory; at a terminal, ask for missing flags')
    .argument(tool.flag.syntax, tool.flag.description);
  const markListed = on(
    '--mark-listed',
    'write the tools to listing.json as the list that the marketplace has read; use it after registration and after each "Refresh Skills"',
  );
  add(
    'list',
    { markListed, json: jsonFlag },
    async () => (await import('./commands/list.ts')).runList,
  ).description('List the tools of the project, and their differences from what the marketplace last read');
  add('remove-tool', removeToolSwitches, async () => (await import('./commands/remove-tool.ts')).removeTool)
    .description('Remove tools and their tests, after a confirmation')
    .argument('<name...>', 'names of the tools');
  add('rename-tool', renameToolSwitches, async () => (await import('./commands/rename-tool.ts')).renameTool)
    .description('Rename a tool, its file and its test, after a confirmation')
    .argument('<old>', 'name of the tool')
    .argument('<new>', 'its new name');

  const deploySwitches = { dryRun: addToolSwitches.dryRun, json: jsonFlag };
  add('deploy', deploySwitches, async () => (await import('./commands/deploy.ts')).deploy)
    .description('Add the files for a place to deploy to; check --deploy checks what is deployed')
    .addArgument(new Argument('<action>', 'what to do with the targets').choices(['add']))
    .argument('<target...>', `of ${targetNames.join(', ')}`);
  add('check', checkFlags, async () => (await import('./check/command.ts')).runCheck, undefined, checkGroups)
    .description('Check a project or a running server against the rules of the marketplace')
    .argument(
      '[target]',
      'directory of a project, which is built and started, or URL of a running server (default: the project in the current directory)',
    );
  const dev = {
    marketplace: off('--no-marketplace', 'do not start the local marketplace'),
    port: textOption('--port <port>', 'port of the server; overrides PORT and .env (default: 3000)'),
    pagePort: pagePortFlag,
    rawLog: on('--raw-log', 'print the log of the server as JSON lines, as it does where no terminal is'),
    inspect: textOption('--inspect [port]', 'allow a debugger to attach to the server (default: port 9229)'),
  };
  add('dev', dev, async () => (await import('./commands/dev.ts')).dev).description(
    'Run the server of the project and a local marketplace; rebuild and restart the server after each change',
  );
  const call = list('--call <tools>', 'also call these tools, which may change something; repeatable');
  const yes = on('-y, --yes', 'apply the schemas that the answers need; never ask');
  add(
    'record',
    { call, yes, json: jsonFlag },
    async () => (await import('./commands/record.ts')).record,
  ).description(
    'Call the examples of the tools that only read, for real, and record the answers of their APIs',
  );
  const ttl = textOption('--ttl <seconds>', "lifetime of the token in seconds (default: the platform's)");
  add('token', { ttl, json: jsonFlag }, async () => (await import('./commands/token.ts')).token)
    .argument('[tool]', 'tool to call (default: the first one)')
    .description('Sign a token with the local platform key, and print commands that call a tool with it');
}

/** Commands of the local marketplace. */
function addMarketplaceCommands(add: Add): void {
  const marketplace = add(
    'marketplace',
    marketplaceFlags,
    async () => (await import('./commands/marketplace.ts')).marketplace,
  )
    .description('Run the marketplace on this machine: a page to try, check and register the server')
    .enablePositionalOptions()
    .hook('preSubcommand', requireNoGroupOptions);
  add('refresh', placeFlags, async () => (await import('./commands/refresh.ts')).refresh, marketplace)
    .argument('[listing]', 'name or endpoint of a listing (default: the only one)')
    .description(
      'Trigger "Refresh Skills": the local marketplace reads the tools again and shows what has changed',
    );
  add('dispute', placeFlags, async () => (await import('./commands/dispute.ts')).dispute, marketplace)
    .argument('<call>', 'number of a call, as market-mcp call prints it')
    .description('Dispute a call as schema_mismatch; it is judged by the schema stored at the last refresh');
  add('register', registerFlags, async () => (await import('./commands/register.ts')).register).description(
    'Submit the server to the local marketplace, as its registration form does',
  );
  add('listing', listingFlags, async () => (await import('./commands/listing.ts')).listing).description(
    "Write server.json of the official MCP registry, and print the fields of the marketplace's registration form; or what another directory takes",
  );
  add('call', callFlags, async () => (await import('./commands/call.ts')).runCallCommand)
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'its arguments as JSON (default: those of the submission test)')
    .description('Call a tool as the platform does, and validate its result');
}

/** Commands about the version of a project. */
function addVersionCommands(add: Add): void {
  add('upgrade', upgradeFlags, async () => (await import('./upgrade/command.ts')).upgrade).description(
    'Bring the project to the version of this program: its runtime is replaced, your edits are merged',
  );
  add('doctor', { json: jsonFlag }, async () => (await import('./commands/doctor.ts')).doctor).description(
    'Show the versions of the project, who owns which files, and what an upgrade would do',
  );
}

/** Commands that print what the program knows. */
function addReferences(add: Add): void {
  const asJson = (description: string) => ({ json: on('--json', description) });
  add('explain', asJson('print as JSON'), async () => (await import('market-mcp-contract/program')).explain)
    .argument('[rule]', 'id of a rule (gate.no-token) or of a group of rules (gate)')
    .description('Explain a rule, with an example that fails and one that passes');
  const onOneLine = asJson('print on one line');
  add('schema', onOneLine, async () => (await import('./commands/schema.ts')).printSchema)
    .addArgument(
      new Argument('<files>', 'files of create and add-tool --spec, or of check --examples').choices([
        'spec',
        'examples',
      ]),
    )
    .description('Print the JSON Schema of files that this program reads');
  add(
    'platforms',
    asJson('print the profiles themselves'),
    async () => (await import('./commands/platforms.ts')).showPlatforms,
  )
    .argument('[name]', 'print this profile in full, as a start for your own')
    .description('List the built-in platform profiles');
}

function questionFlags(questions: {
  readonly [name: string]: { readonly flag: FlagTable[string] };
}): FlagTable {
  return Object.fromEntries(Object.entries(questions).map(([name, { flag }]) => [name, flag]));
}
