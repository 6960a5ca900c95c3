import { type Command, Option } from 'commander';
import type { ReporterName } from '../../check/report/index.ts';
import type { Era } from '../../contract/model.ts';
import type { Run } from '../command.ts';
import type { CheckFlags } from './flag-types.ts';

const reporterNames = [
  'pretty',
  'json',
  'junit',
  'sarif',
  'github',
  'markdown',
] as const satisfies readonly ReporterName[];

const eras = ['both', 'legacy', 'modern'] as const satisfies readonly Era[];

type Lists = Pick<CheckFlags, 'only' | 'skip' | 'call' | 'header'>;

/** `check [directory|url]` with its flags. */
export function withCheck(command: Command, run: Run): Command {
  return command
    .description('Check a project or a running server against the rules of the marketplace')
    .argument(
      '[target]',
      'directory of a project, which is built and started, or URL of a running server (default: the project in the current directory)',
    )
    .addOption(
      list(
        '--only <rules>',
        'run only these rules or groups, separated by commas: gate,output.typed; repeatable',
      ),
    )
    .addOption(list('--skip <rules>', 'skip these rules or groups; repeatable'))
    .addOption(
      new Option('--level <level>', 'lowest level of a rule whose failure counts')
        .choices(['must', 'should'])
        .default('must'),
    )
    .addOption(
      new Option(
        '--era <era>',
        'versions of MCP to judge: with sessions (legacy), without (modern, 2026-07-28)',
      )
        .choices(eras)
        .default('both'),
    )
    .option('--require-all', 'count a rule that could not be run as a failure')
    .option(
      '--platform <name|file>',
      'the platform profile to check against (default: that of the project; generic for a URL)',
    )
    .option('--token <jwt>', 'a token of the platform, for the calls to a URL')
    .option(
      '--signing-key <pem>',
      'private key (PEM text or file) whose public key the server at a URL trusts',
    )
    .option('--issuer <text>', 'issuer of the tokens that --signing-key signs')
    .option('--audience <url>', 'audience of the tokens that --signing-key signs (default: the URL)')
    .addOption(repeated('--header <line>', 'header for every request to a URL ("X-Api-Key: 1"); repeatable'))
    .addOption(
      list(
        '--call <tools>',
        "tools of a URL that the check may call, separated by commas ('*': all that read by their names); with --live, tools of the project that may change something, whose examples are called once; repeatable",
      ),
    )
    .option(
      '--examples <file>',
      'file with calls and their expected outcomes (format: market-mcp examples-schema)',
    )
    .option(
      '--timeout <ms>',
      'time limit of one request (default: the limit of the profile plus ten seconds)',
    )
    .option('--deadline <ms>', 'time limit of the whole check (default: 15 minutes)')
    .option(
      '--baseline <file>',
      'file with known failures, which do not count; an entry that passes now counts as a failure',
    )
    .option('--save-baseline <file>', 'write the failures of this run to a baseline file')
    .option(
      '--against <file>',
      'file with an earlier tools/list to compare with (default: what the project has recorded)',
    )
    .option(
      '--save-listing [file]',
      'write the tools/list of this run to a file (default: listing.json of the project)',
    )
    .option(
      '--live',
      'let the tools of the project that only read call their real APIs instead of recordings',
    )
    .option('--no-build', 'do not build the project first')
    .option('--watch', 'check again after each change of the project')
    .addOption(
      new Option('--reporter <name>', 'format of the report').choices(reporterNames).default('pretty'),
    )
    .option('--verbose', 'also list the rules that passed')
    .option('--json', 'like --reporter json; also prints errors of the check as JSON')
    .action((target: string | undefined, given: Partial<Lists> & Omit<CheckFlags, keyof Lists>) => {
      // commander would print an empty list in the help if it were a default.
      const flags = { only: [], skip: [], call: [], header: [], ...given };
      return run(async (output) => (await import('../commands/check.ts')).check(target, flags, output));
    });
}

function repeated(syntax: string, description: string): Option {
  return new Option(syntax, description).argParser((text: string, before: readonly string[] = []) => [
    ...before,
    text,
  ]);
}

/** Repeatable; each value may contain several names, separated by commas. */
export function list(syntax: string, description: string): Option {
  const parts = (text: string) => text.split(',').map((part) => part.trim());
  return new Option(syntax, description).argParser((text: string, before: readonly string[] = []) => [
    ...before,
    ...parts(text),
  ]);
}
