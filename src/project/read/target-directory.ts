import { accessSync, constants, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { isStaging } from '../write/staging.ts';
import { isEntry } from './read-files.ts';
import { notADirectory, refuseObstacles } from './resolve-inside.ts';

/** The place of a new project. */
export interface TargetDirectory {
  /** Absolute; links are resolved if the directory exists. */
  readonly directory: string;
  readonly state: 'absent' | 'empty' | 'occupied';
  /** The author's own entries in the directory: neither ours nor harmless. */
  readonly conflicts: readonly string[];
}

/**
 * Examines the target without changing it.
 *
 * @param paths the files to write, relative.
 * @throws CommandError if the target cannot be written: something that is not a directory is in the way
 *   (`NOT_A_DIRECTORY`), a link would lead out of it (`LINK_IN_THE_WAY`), or permission is missing (`NOT_WRITABLE`).
 */
export function inspectTarget(requestedPath: string, paths: readonly string[]): TargetDirectory {
  const absolute = resolve(requestedPath);
  const existing = nearestExisting(absolute);
  if (!existing.stats.isDirectory()) throw notADirectory(existing.path);
  requireWritable(existing.path);
  if (existing.path !== absolute) return { directory: absolute, state: 'absent', conflicts: [] };

  const directory = realpathSync(absolute);
  refuseObstacles(directory, paths);
  const entries = readdirSync(directory);
  return {
    directory,
    state: entries.length === 0 ? 'empty' : 'occupied',
    conflicts: [
      ...entries.filter((name) => !isHarmlessFile(name) && !isStaging(join(directory, name))),
      ...paths.filter(
        (path) =>
          path.includes('/') && isHarmlessFile(path.replace(/\/.*$/s, '')) && isEntry(join(directory, path)),
      ),
    ].sort(),
  };
}

/** Entries that a fresh repository or an editor creates; inside them, only our own files conflict. */
const harmless = new Set(
  '.git .gitattributes .gitkeep .hg .svn .idea .vscode .DS_Store Thumbs.db'.split(' '),
);

function isHarmlessFile(name: string): boolean {
  return harmless.has(name) || /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(name);
}

function nearestExisting(path: string): { path: string; stats: Stats } {
  for (let at = path; ; at = dirname(at)) {
    let stats: Stats | undefined;
    try {
      stats = statSync(at, { throwIfNoEntry: false });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // ENOTDIR: a parent is a file. ELOOP and a name that is too long cannot be resolved at all.
      if (code !== 'ENOTDIR') throw targetNotWritable(at, error);
    }
    if (stats) return { path: at, stats };
    if (isEntry(at)) throw new CommandError('NOT_A_DIRECTORY', `${at} is a broken link`, 'Remove the link.');
    if (at === dirname(at)) throw notADirectory(at);
  }
}

function requireWritable(directory: string): void {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw targetNotWritable(directory, error);
  }
}

function targetNotWritable(path: string, cause: unknown): CommandError {
  const { code } = cause as NodeJS.ErrnoException;
  const reason = code === 'EROFS' ? 'the file system is read-only' : `no permission (${code})`;
  return new CommandError('NOT_WRITABLE', `cannot write to ${path}: ${reason}`, 'Choose another directory.', {
    cause,
  });
}
