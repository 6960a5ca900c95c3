import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { shellLine } from 'market-mcp-contract/command';
import { ownCommand } from '../project/package/own-package.ts';
import { parentsOf } from '../project/read/read-files.ts';
import { packageManagerOf } from './detect.ts';

/** A `market-mcp` command to paste: of the installed program if there is one in the current directory, else of this program. */
export function marketCommand(...args: readonly string[]): string {
  const currentDirectory = process.cwd();
  const words = isInstalled(currentDirectory)
    ? packageManagerOf(currentDirectory).market.split(' ')
    : ownCommand('market-mcp');
  return shellLine([...words, ...args]);
}

function isInstalled(directory: string): boolean {
  return parentsOf(directory).some((place) => existsSync(join(place, 'node_modules/.bin/market-mcp')));
}

/** A `market-mcp` command to paste that runs this program even if another version is installed in the current directory. */
export function thisProgram(...args: readonly string[]): string {
  return shellLine([...ownCommand('market-mcp'), ...args]);
}

/** A git command on files of a project, to paste in the current directory. */
export function gitCommand(directory: string, command: readonly string[], paths: readonly string[]): string {
  const place = relative(process.cwd(), directory);
  return shellLine(['git', ...(place === '' ? [] : ['-C', place]), ...command, ...paths]);
}

/** The command that explains a rule. */
export function explainCommand(rule: string): string {
  return marketCommand('explain', rule);
}
