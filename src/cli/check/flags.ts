import { type Command, Option } from 'commander';
import type { ReporterName } from '../../check/report/index.ts';
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

/** `check [directory|url]` with its flags. */
export function withCheck(command: Command, run: Run): Command {
  return command
    .description('Give the verdict of the marketplace on a project or on any running server.')
    .argument('[target]', 'directory of a project, which is built and started, or the URL of a server')
    .addOption(list('--only <rules>', 'run only these rules or groups (gate,output.typed)'))
    .addOption(list('--skip <rules>', 'leave these rules or groups out'))
    .addOption(
      new Option('--level <level>', 'what counts as a failure').choices(['must', 'should']).default('must'),
    )
    .option('--require-all', 'count a rule that could not be run as a failure')
    .option('--platform <name|file>', 'the platform profile to judge by')
    .option('--token <jwt>', 'a token of the platform, for the calls to a URL')
    .option(
      '--signing-key <pem>',
      'private key, PEM or its file, whose public half the server at a URL trusts',
    )
    .option('--issuer <text>', 'issuer of the tokens that --signing-key signs')
    .option('--audience <url>', 'audience of the tokens that --signing-key signs (default: the URL)')
    .addOption(repeated('--header <line>', 'sent with every request to a URL ("X-Api-Key: 1"); repeatable'))
    .addOption(list('--call <tools>', "tools of a URL that may be called; '*' is all without a sign of harm"))
    .option('--examples <file>', 'calls of tools with what to expect of each (market-mcp examples-schema)')
    .option('--timeout <ms>', 'the longest that one request may take')
    .option('--deadline <ms>', 'the longest that the whole check may take (default: 15 minutes)')
    .option('--baseline <file>', 'known failures, which do not count; one that passes now does')
    .option('--save-baseline <file>', 'write the failures of this run as a baseline')
    .option(
      '--against <file>',
      'an earlier tools/list to compare with (default: what the project has recorded)',
    )
    .option(
      '--save-listing [file]',
      'write the tools/list of this run (default: listing.json of the project)',
    )
    .option('--live', 'let the tools of the project ask their APIs; otherwise recordings answer')
    .option('--no-build', 'take the project as it is built')
    .option('--watch', 'check again after each change of the project')
    .addOption(new Option('--reporter <name>', 'form of the report').choices(reporterNames).default('pretty'))
    .option('--verbose', 'list the rules that passed, too')
    .option('--json', 'the same as --reporter json, failures to run included')
    .action((target: string | undefined, flags: CheckFlags) =>
      run(async (output) => (await import('../commands/check.ts')).check(target, flags, output)),
    );
}

function repeated(syntax: string, description: string): Option {
  return new Option(syntax, description)
    .argParser((text: string, before: readonly string[]) => [...before, text])
    .default([], 'none');
}

/** Repeatable, and with commas inside. */
function list(syntax: string, description: string): Option {
  const parts = (text: string) => text.split(',').map((part) => part.trim());
  return new Option(syntax, description)
    .argParser((text: string, before: readonly string[]) => [...before, ...parts(text)])
    .default([], 'none');
}
