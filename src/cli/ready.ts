import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../plan/versions.ts';

/** The names of the program. */
export type ProgramName = 'create-market-mcp' | 'market-mcp';

/** Columns of the help on every terminal: the build writes the help to a file. */
export const helpWidth = 80;

/** The answer to arguments that need no command tree; undefined if they need one. */
export function prebuiltAnswer(name: ProgramName, args: readonly string[]): string | undefined {
  const [flag, ...more] = args;
  if (more.length > 0) return undefined;
  if (flag === '--version' || flag === '-V') return `${version}\n`;
  if (flag === '--help' || flag === '-h' || (flag === undefined && name === 'market-mcp'))
    return builtHelp(name);
  return undefined;
}

/** The help text that the build wrote beside the bundle; undefined in a checkout. */
function builtHelp(name: ProgramName): string | undefined {
  try {
    return readFileSync(join(import.meta.dirname, `${name}.help.txt`), 'utf8');
  } catch {
    return undefined;
  }
}
