import { choice, type Flag, list, off, on, textOption, type Values } from 'market-mcp-contract/command';
import { urlFlags } from 'market-mcp-contract/program';
import { type DeliberateError, deliberateErrors } from '../marketplace/core/marketplace-model.ts';
import { targetNames } from '../questions/targets.ts';

/** Of the commands that serve the pages of the local marketplace. */
export const pagePortFlag = textOption(
  '--page-port <port>',
  'port of the marketplace page (default: 4400, or the next free port)',
);

/** For most commands. */
export const jsonFlag = on('--json', 'print one JSON object');

const { reporter, summary, verbose, json: jsonReport, ...commonFlags } = urlFlags;

/** The flags of `market-mcp check`: those of any server, and those of a project. */
export const checkFlags = {
  ...commonFlags,
  platform: textOption(
    '--platform <name|file>',
    'the platform profile to check against (default: that of the project; generic for a URL)',
  ),
  call: list(
    '--call <tools>',
    "tools of a URL that the check may call, separated by commas ('*': all that read by their names); with --live, tools of the project that may change something, whose examples are called once; repeatable",
  ),
  examples: textOption(
    '--examples <file>',
    'file with calls and their expected outcomes (format: market-mcp schema examples)',
  ),
  against: textOption(
    '--against <file>',
    'file with an earlier tools/list to compare with (default: what the project has recorded)',
  ),
  saveListing: textOption(
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
  availability: on(
    '--availability',
    'look once at a server in use, as the marketplace does every day, and run no tool; takes only --against, --platform, --header and --json',
  ),
  watch: on('--watch', 'check again after each change of the project'),
  reporter,
  summary,
  verbose,
  json: jsonReport,
};

/** The flags of `market-mcp check` as given. */
export type CheckFlags = Values<typeof checkFlags>;

/** Where the commands of the marketplace work. */
const place = {
  endpoint: textOption(
    '--endpoint <url>',
    'URL of the server (default: the server of the project, which is started)',
  ),
  platform: textOption('--platform <name|file>', 'the platform profile (default: that of the project)'),
};

const form = {
  name: textOption('--name <text>', 'display name (default: the name of the project)'),
  description: textOption(
    '--description <text>',
    'what the tools offer (default: derived from the descriptions of the tools)',
  ),
  category: textOption('--category <name>', 'one of the categories of the marketplace (default: Other)'),
  price: textOption('--price <usd>', 'price of a call in US dollars (default: 0.01)'),
};

export const marketplaceFlags = {
  ...place,
  pagePort: pagePortFlag,
  exec: textOption('--exec <command>', 'also run this command, and exit with its exit code'),
  reset: on('--reset', 'first delete all listings, disputes and saved examples'),
  json: on('--json', 'print the addresses as JSON'),
};

export const registerFlags = { ...place, ...form, json: jsonFlag };

export const listingFlags = {
  endpoint: textOption('--endpoint <url>', 'public URL of the server (default: PLATFORM_AUDIENCE)'),
  platform: place.platform,
  name: form.name,
  summary: textOption(
    '--summary <text>',
    'up to 100 characters for the registry (default: description in package.json)',
  ),
  description: form.description,
  category: textOption('--category <name>', 'one of the categories of the marketplace'),
  price: form.price,
  registryName: textOption(
    '--registry-name <name>',
    'name in the registry: io.github.<account>/<server> (default: derived)',
  ),
  repository: textOption('--repository <url>', 'the source code (default: repository in package.json)'),
  website: textOption('--website <url>', 'the home page (default: homepage in package.json)'),
  out: textOption('--out <file>', 'the file to write (default: in the project)'),
  dryRun: on('--dry-run', 'print all, write nothing'),
  force: on('--force', 'replace a file that differs'),
  json: jsonFlag,
};

/** Of `marketplace refresh` and `marketplace dispute`. */
export const placeFlags = { ...place, json: jsonFlag };

export const callFlags = {
  ...place,
  as: choice(
    '--as <caller>',
    'make an invalid or unusual call',
    Object.keys(deliberateErrors) as DeliberateError[],
  ),
  expect: choice('--expect <outcome>', 'the only outcome to accept (default: found and empty)', [
    'found',
    'empty',
    'fail',
  ] as const),
  json: jsonFlag,
};

export type PlaceFlags = Values<typeof placeFlags>;
export type MarketplaceFlags = Values<typeof marketplaceFlags>;
export type RegisterFlags = Values<typeof registerFlags>;
export type ListingFlags = Values<typeof listingFlags>;
export type CallFlags = Values<typeof callFlags>;

/** The flags of `market-mcp upgrade`. */
export const upgradeFlags = {
  dryRun: on('--dry-run', 'print what would change as a unified diff, write nothing'),
  install: off('--no-install', 'do not install packages, build or check'),
  check: off('--no-check', 'do not build, and do not run the self-check'),
  json: jsonFlag,
};

/** The flags of `market-mcp upgrade` as given. */
export type UpgradeFlags = Values<typeof upgradeFlags>;
