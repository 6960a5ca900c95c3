import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileSet } from '../plan/model.ts';
import { isEntry } from './files.ts';
import { sha256 } from './hash.ts';
import { readRegular } from './read.ts';
import { removeStaging, writeFiles } from './staging.ts';

/** What shall become of a directory. */
export interface Change {
  /** Files to be written, in order. The last one is the manifest: with it the change is done. */
  readonly files: FileSet;
  /** Paths of files to be taken away, in order; they go before the last file comes. */
  readonly removed: readonly string[];
}

/** What a staging directory says of its change, for whoever has to take it back. */
interface Journal {
  /** Path → SHA-256 of what is written there. */
  readonly files: { readonly [path: string]: string };
  readonly removed: readonly string[];
}

const journalFile = 'journal.json';

/**
 * Makes a change file by file, each by one rename, out of a staging directory in the same directory. All contents stand
 * there first, with copies of what they replace and a journal, so that a kill at any moment can be taken back. No path
 * is without a file at any moment if it had one before and has one afterwards. Each step of the generator is one rename.
 *
 * @throws Error of the file system; nothing is taken back then, call `takeBack`.
 */
export function* steps(directory: string, staging: string, { files, removed }: Change): Generator<void> {
  const paths = [...files.keys()];
  writeFiles(join(staging, 'new'), files);
  for (const path of paths) keepCopy(join(directory, path), join(staging, 'old', path));
  const hashes = [...files].map(([path, { content }]) => [path, sha256(content)]);
  const journal = JSON.stringify({ files: Object.fromEntries(hashes), removed });
  writeFileSync(join(staging, journalFile), journal);

  const place = (path: string) => move(join(staging, 'new', path), join(directory, path));
  for (const path of paths.slice(0, -1)) yield place(path);
  for (const path of removed) yield move(join(directory, path), join(staging, 'old', path));
  for (const path of paths.slice(-1)) yield place(path);
}

/** Makes a change in one go: a signal finds it not begun or done. @throws what stood against it, all taken back. */
export function makeChange(directory: string, staging: string, change: Change): void {
  try {
    for (const _ of steps(directory, staging, change));
    for (const path of change.removed) removeEmptyParents(directory, path);
  } catch (error) {
    takeBack(directory, staging);
    throw error;
  }
}

/**
 * Undoes a change that was not finished, last step first, so that a list never names a file that is gone. Only files
 * that are byte for byte ours are removed; what the author put in the place of one of them stays, with the file of
 * before beside it. A finished change stays. Taking back twice, or half and then again, is the same as once.
 */
export function takeBack(directory: string, staging: string): void {
  const { files, removed } = readJournal(staging);
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

/** Puts back what stood where a file was moved to. */
function restore(directory: string, staging: string, path: string, hash: string | undefined): void {
  const place = join(directory, path);
  const old = join(staging, 'old', path);
  const isOurs = isEntry(place) && sha256(readRegular(place)) === hash;
  if (isEntry(old)) move(old, isOurs || !isEntry(place) ? place : `${place}.before`);
  else if (isOurs) rmSync(place);
}

/** A journal that was cut off belongs to a change that had not begun. */
function readJournal(staging: string): Journal {
  const nothing = { files: {}, removed: [] };
  try {
    const { files, removed }: Journal = JSON.parse(readRegular(join(staging, journalFile)).toString('utf8'));
    const isInside = [...Object.keys(files), ...removed].every(
      (path) => path !== '' && !path.startsWith('/') && !path.split('/').includes('..'),
    );
    return isInside ? { files, removed } : nothing;
  } catch {
    return nothing;
  }
}

/** A link is kept as a link. */
function keepCopy(from: string, to: string): void {
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (!stats) return;
  mkdirSync(dirname(to), { recursive: true });
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else copyFileSync(from, to);
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
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
