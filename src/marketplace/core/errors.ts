import { CommandError, exitCodes } from '../../model/command-error.ts';

const notStarted = new Set(['NO_MARKETPLACE', 'NOT_CALLED', 'NOT_REFRESHED', 'NOT_SUBMITTED']);

/** A request to the marketplace that cannot be fulfilled. */
export class MarketError extends CommandError {
  constructor(code: string, message: string, hint: string) {
    super(code, message, hint, notStarted.has(code) ? exitCodes.notStarted : exitCodes.badInput);
    this.name = 'MarketError';
  }
}
