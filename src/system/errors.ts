import { CommandError } from 'market-mcp-contract/command';

/** The failure of an external program. `details` are its last lines of output. */
export class SystemError extends CommandError {
  override readonly name = 'SystemError';
}
