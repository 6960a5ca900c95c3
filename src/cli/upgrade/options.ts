import { off, on, text, type Values } from 'market-mcp-contract/command';

/** The flags of `market-mcp upgrade`. */
export const upgradeFlags = {
  to: text('--to <version>', 'the version to upgrade to (only the version of this program is possible)'),
  dryRun: on('--dry-run', 'print what would change as a unified diff, write nothing'),
  continue: on('--continue', 'finish an upgrade after its conflicts are resolved'),
  abort: on('--abort', 'undo an unfinished upgrade completely'),
  yes: on('-y, --yes', 'never ask; upgrade asks nothing in any case'),
  force: on('--force', 'upgrade despite uncommitted changes'),
  install: off('--no-install', 'do not install packages, build or check'),
  check: off('--no-check', 'do not build, and do not run the self-check'),
  json: on('--json', 'print one JSON object'),
};

/** The flags of `market-mcp upgrade` as given. */
export type UpgradeFlags = Values<typeof upgradeFlags>;
