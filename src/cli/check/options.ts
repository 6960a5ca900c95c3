import { choice, type Flag, list, off, on, text, type Values } from 'market-mcp-contract/command';
import { urlFlags } from 'market-mcp-contract/program';
import { targetNames } from '../../questions/targets.ts';

const { reporter, summary, verbose, json, ...common } = urlFlags;

/** The flags of `market-mcp check`: those of any server, and those of a project. */
export const checkFlags = {
  ...common,
  platform: text(
    '--platform <name|file>',
    'the platform profile to check against (default: that of the project; generic for a URL)',
  ),
  call: list(
    '--call <tools>',
    "tools of a URL that the check may call, separated by commas ('*': all that read by their names); with --live, tools of the project that may change something, whose examples are called once; repeatable",
  ),
  examples: text(
    '--examples <file>',
    'file with calls and their expected outcomes (format: market-mcp examples-schema)',
  ),
  against: text(
    '--against <file>',
    'file with an earlier tools/list to compare with (default: what the project has recorded)',
  ),
  saveListing: text(
    '--save-listing [file]',
    'write the tools/list of this run to a file (default: listing.json of the project)',
  ) as Flag<string | true | undefined>,
  live: on(
    '--live',
    'let the tools of the project that only read call their real APIs instead of recordings',
  ),
  deploy: choice(
    '--deploy <target>',
    'build what is deployed to this target, start it on this machine and check that',
    targetNames,
  ),
  build: off('--no-build', 'do not build the project first'),
  watch: on('--watch', 'check again after each change of the project'),
  reporter,
  summary,
  verbose,
  json,
};

const { against, platform, header } = common;

/** The flags of `market-mcp watch`. */
export const watchFlags = {
  against: { ...against, description: `${against.description} (default: what the project has recorded)` },
  platform: { ...platform, description: 'the platform profile (default: that of the project, else generic)' },
  header,
  json: on('--json', 'print one JSON object'),
};

/** The flags of `market-mcp check` as given. */
export type CheckFlags = Values<typeof checkFlags>;
