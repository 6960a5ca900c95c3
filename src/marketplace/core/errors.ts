import { CommandError } from 'market-mcp-contract/command';

/** A request to the marketplace that cannot be fulfilled. */
export class MarketError extends CommandError {
  override readonly name = 'MarketError';
}
