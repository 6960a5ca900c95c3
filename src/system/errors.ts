import { CommandError, exitCodes } from '../model/command-error.ts';

const notStarted = new Set(['BUILD_FAILED', 'NOT_STARTED', 'UNREACHABLE']);

/** A step outside of this program that failed. `details` are the last lines it wrote. */
export class SystemError extends CommandError {
  constructor(code: string, message: string, hint: string, details: readonly string[] = []) {
    const exitCode = notStarted.has(code) ? exitCodes.notStarted : exitCodes.installFailed;
    super(code, message, hint, exitCode, details);
    this.name = 'SystemError';
  }
}
