import { CommandError, exitCodes } from '../model/command-error.ts';

const notStarted = new Set(['BUILD_FAILED', 'NOT_STARTED', 'UNREACHABLE']);

/** The failure of an external program. `details` are its last lines of output. */
export class SystemError extends CommandError {
  constructor(code: string, message: string, hint: string, details: readonly string[] = []) {
    const exitCode = notStarted.has(code) ? exitCodes.notStarted : exitCodes.installFailed;
    super(code, message, hint, exitCode, details);
    this.name = 'SystemError';
  }
}
