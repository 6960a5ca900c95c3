import { CommandError } from '../../model/command-error.ts';

/** A request to the marketplace that cannot be fulfilled. */
export class MarketError extends CommandError {
  override readonly name = 'MarketError';
}
