import { off, on, type Values } from 'market-mcp-contract/command';

/** The flags of `market-mcp upgrade`. */
export const upgradeFlags = {
  dryRun: on('--dry-run', 'print what would change as a unified diff, write nothing'),
  install: off('--no-install', 'do not install packages, build or check'),
  check: off('--no-check', 'do not build, and do not run the self-check'),
  json: on('--json', 'print one JSON object'),
};

/** The flags of `market-mcp upgrade` as given. */
export type UpgradeFlags = Values<typeof upgradeFlags>;
