import { accessSync, chmodSync, constants, existsSync, renameSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import type { FileSet } from '../../plan/planned-file.ts';
import { parentsOf } from '../read/read-files.ts';
import { inspectTarget, type TargetDirectory } from '../read/target-directory.ts';
import { liveStagings, makeStaging, removeStaging, staleStagings, writeFiles } from './staging.ts';
import { makeChange, rollBack } from './transaction.ts';

/**
 * Writes a whole project or nothing.
 *
 * A directory that is missing, or empty and not in use, is created by one rename of a finished sibling: a
 * kill leaves either nothing or everything. If the directory itself must remain (it is the current one,
 * a mount point, or contains files), the finished files are moved one by one out of a staging directory inside it, the manifest
 * last. A kill during those moves leaves the staging directory, and the next `rollBackKilledRuns` undoes them. The work is
 * synchronous: a signal finds it either not begun or done.
 *
 * @param files ends with the manifest.
 * @throws CommandError `WRITE_FAILED` after everything was undone; `BUSY` if another run writes there.
 */
export function writeProject(target: TargetDirectory, files: FileSet): void {
  try {
    const isReplaced = target.state === 'empty' && isReplaceable(target.directory);
    if (isReplaced || target.state === 'absent') renameIntoPlace(target.directory, files);
    else moveFilesInto(target, files);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = `cannot write ${target.directory}: ${error instanceof Error ? error.message : error}`;
    const hint = 'Nothing was written. Fix the cause and run the command again.';
    throw new CommandError('WRITE_FAILED', message, hint, { cause: error });
  }
}

/** Undoes what killed runs left in the target and beside it. */
export function rollBackKilledRuns(directory: string): void {
  const nearestDirectory = parentsOf(dirname(directory)).find(existsSync) ?? directory;
  for (const place of [directory, nearestDirectory]) {
    for (const staging of staleStagings(place)) rollBack(place, staging);
  }
}

/** Creates a directory with its parents by one rename, or replaces an empty one, which keeps its mode. */
function renameIntoPlace(directory: string, files: FileSet): void {
  const first = parentsOf(directory).findLast((place) => !existsSync(place)) ?? directory;
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode;
  withStaging(dirname(first), (staging) => {
    writeFiles(join(staging, relative(first, directory)), files);
    if (mode !== undefined) chmodSync(staging, mode);
    renameSync(staging, first);
  });
}

function moveFilesInto(target: TargetDirectory, files: FileSet): void {
  withStaging(target.directory, (staging) => {
    requireNoConflict(target, files, staging);
    makeChange(target.directory, staging, { files, removed: [] });
  });
}

function withStaging(parent: string, work: (staging: string) => void): void {
  const staging = makeStaging(parent);
  try {
    work(staging);
  } finally {
    removeStaging(staging);
  }
}

/**
 * Finds other runs that write to the same directory. Each run looks for others after it has created its staging directory, so of two runs
 * at least one sees the other.
 *
 * @throws CommandError `BUSY`
 */
function requireNoConflict({ directory, conflicts }: TargetDirectory, files: FileSet, staging: string): void {
  const otherStagings = liveStagings(directory, staging);
  const newConflicts = inspectTarget(directory, [...files.keys()]).conflicts.filter(
    (name) => !conflicts.includes(name),
  );
  if (otherStagings.length === 0 && newConflicts.length === 0) return;
  const hint = 'Nothing was written. Wait until the other run ends, and look at its result.';
  throw new CommandError('BUSY', `another run is writing to ${directory}`, hint);
}

/** A rename replaces the directory, so it must not be anybody's current directory or a mount point. */
function isReplaceable(directory: string): boolean {
  const relativePath = relative(directory, process.cwd());
  const holdsCurrent = !relativePath.startsWith(`..${sep}`) && relativePath !== '..';
  const isMount = statSync(directory).dev !== statSync(dirname(directory)).dev;
  return !holdsCurrent && !isMount && isWritable(dirname(directory)) && process.platform !== 'win32';
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
