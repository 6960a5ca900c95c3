import { CommandError } from 'market-mcp-contract/command';

/** The reason why a project cannot be written or found. */
export class ProjectError extends CommandError {
  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(code, message, hint, [], {}, options);
    this.name = 'ProjectError';
  }
}

/** The error of a server whose answer is not complete when a time limit has passed. */
export function notAnswered(place: string, what: string, ms: number): CommandError {
  const message = `${place}: ${what} within ${ms / 1_000} seconds`;
  const hint = 'Check that the server works, or save its answer to a file and give that.';
  return new CommandError('NOT_ANSWERED', message, hint);
}
