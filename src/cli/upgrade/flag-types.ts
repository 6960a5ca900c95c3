/** The flags of `market-mcp upgrade`. */
export interface UpgradeFlags {
  readonly to?: string;
  readonly dryRun?: true;
  readonly continue?: true;
  readonly abort?: true;
  readonly force?: true;
  readonly json?: true;
  readonly install: boolean;
  readonly check: boolean;
}
