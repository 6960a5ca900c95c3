import { CommandError, exitCodes } from '../model/command-error.ts';

/** The reason why a project cannot be written or found. */
export class ProjectError extends CommandError {
  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(code, message, hint, exitCodes.badInput, [], {}, options);
    this.name = 'ProjectError';
  }
}
