import { chmodSync, lstatSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copySync, ensureDirSync } from 'fs-extra/esm';
import { attempt } from 'market-mcp-contract/json';
import type { FileSet } from '../../plan/planned-file.ts';
import { sha256 } from '../read/file-text.ts';
import { isEntry, modeOf, readRegular } from '../read/read-files.ts';
import { resolveInside } from '../read/resolve-inside.ts';
import { removeStaging, writeFiles } from './staging.ts';

/** A change to a directory. */
export interface ProjectChange {
  /** Files to write, in order. The last one is the manifest: writing it completes the change. */
  readonly files: FileSet;
  /** Paths of files to remove, in order, before the last file is written. */
  readonly removed: readonly string[];
}

/** The description of a change in its staging directory, for a later undo. */
interface Journal {
  /** Path → SHA-256 of the new content. */
  readonly files: { readonly [path: string]: string };
  readonly removed: readonly string[];
}

const journalFile = 'journal.json';

/**
 * Applies a change file by file, each with one rename out of a staging directory in the same directory. The staging
 * directory first gets all contents, copies of what they replace, and a journal, so a killed change can be undone. A
 * path that has a file before and after the change has one at every moment. Each step of the generator is one rename.
 *
 * @throws the errors of `resolveInside` before the first step, or of the file system. Nothing is undone then: call `rollBack`.
 */
export function* steps(
  directory: string,
  staging: string,
  { files, removed }: ProjectChange,
): Generator<void> {
  const paths = [...files.keys()];
  for (const path of [...paths, ...removed]) resolveInside(directory, path);
  writeFiles(join(staging, 'new'), files);
  for (const [path, { mode }] of files) {
    const before = keepCopy(join(directory, path), join(staging, 'old', path));
    const keptMode = mode ?? before;
    if (keptMode !== undefined) chmodSync(join(staging, 'new', path), keptMode);
  }
  const hashes = [...files].map(([path, { content }]) => [path, sha256(content)]);
  const journal = JSON.stringify({ files: Object.fromEntries(hashes), removed });
  writeFileSync(join(staging, journalFile), journal);

  const place = (path: string) => move(join(staging, 'new', path), join(directory, path));
  for (const path of paths.slice(0, -1)) yield place(path);
  for (const path of removed) yield move(join(directory, path), join(staging, 'old', path));
  for (const path of paths.slice(-1)) yield place(path);
}

/** Applies a change synchronously: a signal finds it either not begun or done. @throws its error after everything was undone. */
export function makeChange(directory: string, staging: string, change: ProjectChange): void {
  try {
    for (const _ of steps(directory, staging, change));
    for (const path of change.removed) removeEmptyParents(directory, path);
  } catch (error) {
    rollBack(directory, staging);
    throw error;
  }
}

/**
 * Undoes an unfinished change, last step first, so the list of tools never names a missing file. It removes only files
 * that are byte for byte ours. If the author has replaced one of them, that file stays and the previous one is put
 * beside it. A finished change is not undone. Repeating an undo, even a partial one, has no further effect.
 */
export function rollBack(directory: string, staging: string): void {
  const { files, removed } = readJournal(directory, staging);
  const paths = Object.keys(files);
  const last = paths.at(-1);
  if (last !== undefined && isEntry(join(staging, 'new', last))) {
    for (const path of removed.toReversed()) {
      const old = join(staging, 'old', path);
      if (isEntry(old) && !isEntry(join(directory, path))) move(old, join(directory, path));
    }
    for (const path of paths.toReversed()) {
      if (!isEntry(join(staging, 'new', path))) restore(directory, staging, path, files[path]);
    }
    for (const path of paths) removeEmptyParents(directory, path);
  }
  removeStaging(staging);
}

/** Restores what was at the path of a written file. */
function restore(directory: string, staging: string, path: string, hash: string | undefined): void {
  const place = join(directory, path);
  const old = join(staging, 'old', path);
  const isOurs = attempt(() => sha256(readRegular(place)) === hash, false);
  if (isEntry(old)) move(old, isOurs || !isEntry(place) ? place : `${place}.before`);
  else if (isOurs) rmSync(place);
}

/** A truncated journal belongs to a change that had not begun. */
function readJournal(directory: string, staging: string): Journal {
  const read = (): Journal => {
    const { files, removed } = JSON.parse(readRegular(join(staging, journalFile)).toString('utf8'));
    for (const path of [...Object.keys(files), ...removed]) resolveInside(directory, path);
    return { files, removed };
  };
  return attempt(read, { files: {}, removed: [] });
}

/** A link is copied as a link. @returns the permissions of a file */
function keepCopy(from: string, to: string): number | undefined {
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (!stats) return undefined;
  copySync(from, to, { overwrite: false, errorOnExist: true, dereference: false });
  if (stats.isSymbolicLink()) return undefined;
  return modeOf(stats);
}

/** One rename, which replaces what is there: `moveSync` of fs-extra removes it first. */
function move(from: string, to: string): void {
  ensureDirSync(dirname(to));
  renameSync(from, to);
}

function removeEmptyParents(directory: string, path: string): void {
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
    try {
      rmdirSync(join(directory, parent));
    } catch {
      return;
    }
  }
}
