import { accessSync, chmodSync, constants, existsSync, renameSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { FileSet } from '../plan/model.ts';
import { ProjectError } from './errors.ts';
import { liveStagings, makeStaging, removeStaging, staleStagings, writeFiles } from './staging.ts';
import { inspectTarget, type Target } from './target.ts';
import { makeChange, takeBack } from './transaction.ts';

/**
 * Writes a whole project or nothing.
 *
 * A directory that does not exist, or is empty and nobody's current one, appears by one rename of a finished sibling: a
 * kill at any moment leaves nothing or everything. Into a directory that must stay the same one (it is the current one,
 * a mount point, or holds files) the finished files move one by one out of a staging directory inside it, the manifest
 * last. A kill during those moves leaves the staging directory, and the next `sweep` takes the move back. The work is
 * synchronous: a signal finds it not begun or done.
 *
 * @param files ends with the manifest.
 * @throws ProjectError `WRITE_FAILED`, after everything was taken back; `BUSY` where another run writes there.
 */
export function writeProject(target: Target, files: FileSet): void {
  try {
    if (target.state === 'absent') appear(target.directory, files);
    else if (target.state === 'empty' && isReplaceable(target.directory))
      replaceEmpty(target.directory, files);
    else moveInto(target, files);
  } catch (error) {
    if (error instanceof ProjectError) throw error;
    throw new ProjectError(
      'WRITE_FAILED',
      `cannot write ${target.directory}: ${error instanceof Error ? error.message : error}`,
      'Nothing was written. Fix the cause and run the command again.',
      { cause: error },
    );
  }
}

/** Takes back what killed runs left in the target and beside it. */
export function sweep(directory: string): void {
  for (const place of [directory, nearestDirectory(dirname(directory))]) {
    for (const staging of staleStagings(place)) takeBack(place, staging);
  }
}

function appear(directory: string, files: FileSet): void {
  const first = firstMissing(directory);
  const staging = makeStaging(dirname(first));
  try {
    writeFiles(join(staging, relative(first, directory)), files);
    renameSync(staging, first);
  } finally {
    removeStaging(staging);
  }
}

function replaceEmpty(directory: string, files: FileSet): void {
  const staging = makeStaging(dirname(directory));
  try {
    writeFiles(staging, files);
    chmodSync(staging, statSync(directory).mode);
    renameSync(staging, directory);
  } finally {
    removeStaging(staging);
  }
}

function moveInto(target: Target, files: FileSet): void {
  const { directory } = target;
  const staging = makeStaging(directory);
  try {
    requireUnchanged(target, files, staging);
    makeChange(directory, staging, { files, removed: [] });
  } finally {
    removeStaging(staging);
  }
}

/** Whoever looks after making a staging directory sees every other run that did, or all that it wrote. */
function requireUnchanged({ directory, conflicts }: Target, files: FileSet, staging: string): void {
  const others = liveStagings(directory, staging);
  const now = inspectTarget(directory, [...files.keys()]).conflicts.filter(
    (name) => !conflicts.includes(name),
  );
  if (others.length === 0 && now.length === 0) return;
  const hint = 'Nothing was written. Wait until the other run ends, and look at its result.';
  throw new ProjectError('BUSY', `another run is writing to ${directory}`, hint);
}

/** A rename takes the place of the directory, so it must not be anybody's current one or a mount point. */
function isReplaceable(directory: string): boolean {
  const within = relative(directory, process.cwd());
  const holdsCurrent = !within.startsWith(`..${sep}`) && within !== '..';
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

function firstMissing(directory: string): string {
  const parent = dirname(directory);
  return existsSync(parent) ? directory : firstMissing(parent);
}

function nearestDirectory(directory: string): string {
  return existsSync(directory) ? directory : nearestDirectory(dirname(directory));
}
