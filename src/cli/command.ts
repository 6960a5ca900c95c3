import type { ExitCode } from '../model/command-error.ts';
import type { Output } from './output.ts';

/** The names under which the program is started. */
export type ProgramName = 'create-market-mcp' | 'market-mcp';

/** A command whose arguments are parsed; its code is loaded when it is run. */
export type ReadyCommand = (output: Output) => Promise<ExitCode>;

/** Takes a command that was parsed. */
export type Run = (command: ReadyCommand) => Promise<void>;
