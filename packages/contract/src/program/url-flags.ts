import { choice, type Flag, list, on, textOption, type Values } from '../command/flag-table.ts';
import type { ReporterName } from '../report/reporters.ts';

const reporterNames: readonly ReporterName[] = ['pretty', 'json', 'junit', 'sarif', 'github', 'markdown'];

/** The flags of a check of any server. */
export const urlFlags = {
  only: list(
    '--only <rules>',
    'run only these rules or groups, separated by commas: gate,output.typed; repeatable',
  ),
  skip: list('--skip <rules>', 'skip these rules or groups; repeatable'),
  level: choice(
    '--level <level>',
    'lowest level of a rule whose failure counts',
    ['must', 'should'] as const,
    'must',
  ),
  era: choice(
    '--era <era>',
    'versions of MCP to judge: with sessions (legacy), without (modern, 2026-07-28)',
    ['both', 'legacy', 'modern'] as const,
    'both',
  ),
  requireAll: on('--require-all', 'count a rule that could not be run as a failure'),
  platform: textOption(
    '--platform <name|file>',
    'the platform profile to check against (default: generic; that of market-mcp-contract is mcp)',
  ),
  token: textOption(
    '--token <jwt>',
    "a token of the platform, for the calls to a URL; '$NAME' reads it from the environment",
  ),
  signingKey: textOption(
    '--signing-key <pem>',
    'private key (PEM text or file) whose public key the server at a URL trusts',
  ),
  issuer: textOption('--issuer <text>', 'issuer of the tokens that --signing-key signs'),
  audience: textOption(
    '--audience <url>',
    'audience of the tokens that --signing-key signs (default: the URL)',
  ),
  header: {
    ...list('--header <line>', 'header for every request to a URL ("X-Api-Key: 1"); repeatable'),
    repeatable: true,
  } as Flag<readonly string[]>,
  call: list(
    '--call <tools>',
    "tools of a URL that the check may call, separated by commas ('*': all that read by their names); repeatable",
  ),
  examples: textOption('--examples <file>', 'file with calls and their expected outcomes'),
  explore: textOption(
    '--explore <n>',
    'generated calls for each tool that may be called (default: 12; none for a URL that is not on this machine)',
  ),
  seed: textOption('--seed <n>', 'chooses the generated calls: the same seed, the same calls (default: 1)'),
  timeout: textOption(
    '--timeout <ms>',
    'time limit of one request (default: the limit of the profile plus ten seconds)',
  ),
  deadline: textOption('--deadline <ms>', 'time limit of the whole check (default: 15 minutes)'),
  baseline: textOption(
    '--baseline <file>',
    'file with known failures, which do not count; an entry that passes now counts as a failure',
  ),
  saveBaseline: textOption('--save-baseline <file>', 'write the failures of this run to a baseline file'),
  against: textOption('--against <file>', 'file with an earlier tools/list to compare with'),
  saveListing: textOption(
    '--save-listing [file]',
    'write the tools/list of this run to a file (default: listing.json)',
  ) as Flag<string | true | undefined>,
  reporter: choice('--reporter <name>', 'format of the report', reporterNames, 'pretty'),
  summary: textOption(
    '--summary <file>',
    'also write the report to a file, as Markdown: "$GITHUB_STEP_SUMMARY"',
  ),
  verbose: on('--verbose', 'print the details of every failure, and the rules that passed'),
  json: on('--json', 'like --reporter json; also prints errors of the check as JSON'),
};

/** The flags of a check of any server, as given. */
export type UrlFlags = Values<typeof urlFlags>;
