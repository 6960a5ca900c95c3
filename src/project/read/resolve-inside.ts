import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { isEntry, readRegular } from './read-files.ts';

/**
 * Whether a path is relative, without `..`, and therefore inside the directory that it is relative to, on every operating
 * system. Paths into git's own directory do not count: no file of a project is there.
 */
export function isInside(path: string): boolean {
  const isPlain = !/[\\\0]|^[a-z]:/i.test(path);
  return isPlain && path.split('/').every((part) => !/^[. ]*$|^\.git[. ]*$/i.test(part));
}

/**
 * The place of a file of a project. Each path that leads to one, and above all each path that a file of the project names, goes
 * through this check before anything is read, written or removed there: a project is a stranger's until checked.
 *
 * @throws CommandError `PATH_OUTSIDE`; `LINK_IN_THE_WAY` or `NOT_A_DIRECTORY` if a directory on the way is a link or a file
 */
export function resolveInside(directory: string, path: string): string {
  if (!isInside(path)) {
    const hint = 'Restore the file that names it from version control.';
    throw new CommandError('PATH_OUTSIDE', `${JSON.stringify(path)} is no path in ${directory}`, hint);
  }
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    const parent = join(directory, path.slice(0, end));
    const stats = lstatSync(parent, { throwIfNoEntry: false });
    if (!stats) break;
    if (stats.isSymbolicLink())
      throw new CommandError('LINK_IN_THE_WAY', `${parent} is a link`, 'Remove the link.');
    if (!stats.isDirectory()) throw notADirectory(parent);
  }
  return join(directory, path);
}

/** The content of a file of a project. @throws the errors of `resolveInside` and `readRegular` */
export function readIn(directory: string, path: string): Buffer {
  return readRegular(resolveInside(directory, path));
}

/** The same; undefined if there is no such file. */
export function readIfThere(directory: string, path: string): Buffer | undefined {
  if (isEntry(resolveInside(directory, path))) return readIn(directory, path);
  return undefined;
}

/**
 * Refuses to write files where a link would lead out of the project, or where a directory is.
 *
 * @throws the errors of `resolveInside`, and CommandError `DIRECTORY_IN_THE_WAY`
 */
export function refuseObstacles(directory: string, paths: readonly string[]): void {
  for (const path of paths) {
    const place = resolveInside(directory, path);
    if (!lstatSync(place, { throwIfNoEntry: false })?.isDirectory()) continue;
    const message = `${place} is a directory, but a file must be written there`;
    throw new CommandError('DIRECTORY_IN_THE_WAY', message, 'Move the directory away.');
  }
}

/** Whether a file is in a separate git repository inside the project, such as a submodule. The root of a workspace is outside. */
export function isInOtherRepository(directory: string, path: string): boolean {
  if (path.startsWith('../')) return false;
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  if (parent === '') return false;
  return isEntry(join(directory, parent, '.git')) || isInOtherRepository(directory, parent);
}

export function notADirectory(path: string): CommandError {
  return new CommandError('NOT_A_DIRECTORY', `${path} is not a directory`, 'Choose another directory.');
}
