import { describe, expect, it } from 'vitest';
import { ruleNameErrors } from '../../packages/contract/src/check/select.ts';
import { flagName } from '../../packages/contract/src/command/flag-table.ts';
import { checkFlags } from '../../src/cli/command-flags.ts';
import { buildProgram, parseable } from '../../src/cli/program.ts';
import { createQuestions, createSwitches } from '../../src/questions/create.ts';

const names = ['create-market-mcp', 'market-mcp'] as const;
const createFlags = [
  ...Object.values(createQuestions).map(({ flag }) => flag),
  ...Object.values(createSwitches),
];
const programOf = (name: (typeof names)[number], ran: () => void = () => {}) =>
  buildProgram(name, async () => ran());
const examples = names.flatMap((name) => {
  const program = programOf(name);
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  return [program, ...commands].map((command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    return { command: command.name(), lines: help.match(/(?<=^Example:\n {2}).*/gm) ?? [] };
  });
});

describe('the help of a command', () => {
  it.each(examples.filter(({ command }) => command !== 'market-mcp'))(
    'of $command ends with one example, which the program accepts',
    async ({ lines }) => {
      expect(lines).toHaveLength(1);
      const words = (lines[0] ?? '').replace(/ >.*/, '').match(/'[^']*'|\S+/g) ?? [];
      const [program, ...args] = words.map((word) => word.replaceAll("'", ''));
      const name = names.find((one) => one === program);
      let runs = 0;
      if (name) await programOf(name, () => (runs += 1)).parseAsync(args, { from: 'user' });
      expect(runs).toBe(1);
    },
  );

  it.each([
    [['chek', '--help'], ['chek']],
    [['help', 'chek'], ['chek']],
    [
      ['help', 'check'],
      ['check', '--help'],
    ],
    [['help'], ['help']],
    [['--help'], ['--help']],
    [
      ['check', '--help'],
      ['check', '--help'],
    ],
  ])('of %j is asked for as %j', (given, parsed) => {
    expect(parseable(programOf('market-mcp'), given)).toEqual(parsed);
  });
});

/** What a command prints with these arguments, at 80 columns. */
async function helpOf(name: (typeof names)[number], ...args: string[]): Promise<string> {
  const program = programOf(name);
  let help = '';
  for (const command of [program, ...program.commands])
    command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 });
  await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow();
  return help;
}

const optionsIn = (help: string) =>
  [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option = '']) => option).toSorted();

describe.each([
  ['create-market-mcp', [], createFlags],
  ['market-mcp', ['check'], Object.values(checkFlags)],
] as const)('the help of %s %j', (name, command, flags) => {
  it('has at most 45 lines', async () => {
    const help = await helpOf(name, ...command, '--help');
    expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(45);
    expect(optionsIn(help).length).toBeGreaterThan(15);
  });

  it('lists each flag once with --help-all', async () => {
    const listed = optionsIn(await helpOf(name, ...command, '--help-all'));
    const all = flags.map((flag) => flagName(flag)).filter((flag) => flag.startsWith('-'));
    const ofCommander = ['--help', '--help-all', ...(name === 'market-mcp' ? [] : ['--version'])];
    const long = all.map((flag) => (flag === '-y,' ? '--yes' : flag));
    expect(listed).toEqual([...long, ...ofCommander].toSorted());
  });
});

it('the help of market-mcp has its commands in four groups', async () => {
  const help = await helpOf('market-mcp', '--help');
  expect(help.match(/^\w+:$/gm)).toEqual(['Options:', 'Create:', 'Try:', 'Check:', 'Publish:', 'Help:']);
  const listed = [...help.matchAll(/^ {2}([a-z][a-z-]*) {2}/gm)].map(([, command]) => command);
  expect(listed.toSorted()).toEqual(
    [...programOf('market-mcp').commands.map((command) => command.name()), 'help'].toSorted(),
  );
});

it.each([
  ['watch', 'check <url> --availability'],
  ['refresh', 'marketplace refresh'],
  ['dispute', 'marketplace dispute <call>'],
  ['spec-schema', 'schema spec'],
  ['examples-schema', 'schema examples'],
])('the former command %s is an error that names %s, also where its help is asked for', (former, current) => {
  const program = programOf('market-mcp');
  for (const args of [[former], [former, '--help'], ['help', former], [former, 'http://127.0.0.1/mcp']]) {
    expect(() => parseable(program, args)).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE', exitCode: 2, hint: `Run: market-mcp ${current}` }),
    );
  }
});

it.each([
  [['marketplace', 'refesh'], "unknown command 'marketplace refesh'", 'Did you mean refresh?'],
  [['marketplace', 'stop'], "unknown command 'marketplace stop'", 'Its subcommands are refresh, dispute.'],
  [['help', 'marketplace', 'disput'], "unknown command 'marketplace disput'", 'Did you mean dispute?'],
])('%j is an error that names the subcommands', (args, message, hint) => {
  expect(() => parseable(programOf('market-mcp'), args)).toThrow(
    expect.objectContaining({ code: 'BAD_USAGE', message, hint }),
  );
});

it('an option between marketplace and its subcommand is an error, because only marketplace would get it', async () => {
  const args = ['marketplace', '--endpoint', 'http://127.0.0.1:3000/mcp', 'refresh'];
  await expect(programOf('market-mcp').parseAsync(args, { from: 'user' })).rejects.toMatchObject({
    code: 'BAD_USAGE',
    message: '--endpoint stands before refresh',
  });
});

it('an option behind a subcommand of marketplace belongs to the subcommand', async () => {
  let runs = 0;
  const program = programOf('market-mcp', () => (runs += 1));
  await program.parseAsync(['marketplace', 'dispute', '3', '--json'], { from: 'user' });
  expect(runs).toBe(1);
});

it('create-market-mcp creates projects that are named like a former command', () => {
  expect(parseable(programOf('create-market-mcp'), ['watch'])).toEqual(['watch']);
});

it('an unknown rule of a known group names the rules of the group', () => {
  expect(ruleNameErrors('[rule]', 'health.absent-rule')[0]?.hint).toMatch(
    /^Rules of health are health\.[\w-]+, /,
  );
  expect(ruleNameErrors('[rule]', 'helth.status')[0]?.hint).toBe('Did you mean health.status?');
});
