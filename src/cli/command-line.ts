import { relative } from 'node:path';
import { shellLine } from '../questions/shell.ts';

/** npm's commands that fetch a program and run it, without putting it on the path. */
const fetching = ['exec', 'init'];

/** A call of `market-mcp` to be pasted: through npx where this very run came by it. */
export function marketCommand(...args: readonly string[]): string {
  const npx = fetching.includes(process.env.npm_command ?? '')
    ? ['npx', '--package', 'create-market-mcp']
    : [];
  return shellLine([...npx, 'market-mcp', ...args]);
}

/** The git command that brings files of a project back, to be pasted where this process runs. */
export function restoreCommand(directory: string, paths: readonly string[]): string {
  const place = relative(process.cwd(), directory);
  return shellLine(['git', ...(place === '' ? [] : ['-C', place]), 'restore', ...paths]);
}
