import { choice, on, text, type Values } from 'market-mcp-contract/command';
import { type DeliberateError, deliberateErrors } from '../../marketplace/core/deliberate-errors.ts';
import { directoryNames } from '../../marketplace/core/model.ts';

const json = on('--json', 'print one JSON object');

/** Where the commands of the marketplace work. */
const place = {
  endpoint: text(
    '--endpoint <url>',
    'URL of the server (default: the server of the project, which is started)',
  ),
  platform: text('--platform <name|file>', 'the platform profile (default: that of the project)'),
};

const form = {
  name: text('--name <text>', 'display name (default: the name of the project)'),
  description: text(
    '--description <text>',
    'what the tools offer (default: derived from the descriptions of the tools)',
  ),
  category: text('--category <name>', 'one of the categories of the marketplace (default: Other)'),
  price: text('--price <usd>', 'price of a call in US dollars (default: 0.01)'),
};

export const marketplaceFlags = {
  ...place,
  port: text('--port <port>', 'port of the page (default: 4400, or the next free port)'),
  exec: text('--exec <command>', 'also run this command, and exit with its exit code'),
  reset: on('--reset', 'first delete all listings, disputes and saved examples'),
  json: on('--json', 'print the addresses as JSON'),
};

export const registerFlags = { ...place, ...form, json };

export const listingFlags = {
  for: choice(
    '--for <directory>',
    'write or print what this directory takes, and nothing else',
    directoryNames,
  ),
  endpoint: text('--endpoint <url>', 'public URL of the server (default: PLATFORM_AUDIENCE)'),
  platform: place.platform,
  name: form.name,
  summary: text(
    '--summary <text>',
    'up to 100 characters for the registry (default: description in package.json)',
  ),
  description: form.description,
  category: text('--category <name>', 'one of the categories of the marketplace'),
  price: form.price,
  registryName: text(
    '--registry-name <name>',
    'name in the registry: io.github.<account>/<server> (default: derived)',
  ),
  repository: text('--repository <url>', 'the source code (default: repository in package.json)'),
  website: text('--website <url>', 'the home page (default: homepage in package.json)'),
  maintainer: text(
    '--maintainer <account>',
    'with --for glama: your GitHub account (default: the owner of the repository)',
  ),
  out: text('--out <file>', 'the file to write (default: in the project)'),
  dryRun: on('--dry-run', 'print all, write nothing'),
  force: on('--force', 'replace a file that differs'),
  json,
};

/** Of `refresh` and `dispute`. */
export const placeFlags = { ...place, json };

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
  json,
};

export type PlaceFlags = Values<typeof placeFlags>;
export type MarketplaceFlags = Values<typeof marketplaceFlags>;
export type RegisterFlags = Values<typeof registerFlags>;
export type ListingFlags = Values<typeof listingFlags>;
export type CallFlags = Values<typeof callFlags>;
