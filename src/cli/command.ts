import type { ExitCode } from '../model/command-error.ts';
import type { Output } from './output.ts';

/** The names of the program. */
export type ProgramName = 'create-market-mcp' | 'market-mcp';

/** A parsed command; its code is loaded when it is run. */
export type ReadyCommand = (output: Output) => Promise<ExitCode>;

/** Receives a parsed command. */
export type Run = (command: ReadyCommand) => Promise<void>;
