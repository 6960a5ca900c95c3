import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, posix, relative } from 'node:path';
import { CommandError } from 'market-mcp-contract/command';
import { decodeText, encodeText } from '../project/read/file-text.ts';
import { type ProcessResult, runProgram } from './processes.ts';

/** The result for the repository, with a message for the author if there is one. */
export type GitOutcome =
  | { readonly state: 'committed' }
  | { readonly state: 'inside-repository' | 'initialised' | 'none'; readonly note: string };

/**
 * Makes a directory a git repository with a first commit. Inside another repository, nothing happens. Without an
 * identity the files stay uncommitted, and without git no repository is made.
 *
 * @throws CommandError `GIT_FAILED` with git's message.
 */
export async function initRepository(directory: string, message: string): Promise<GitOutcome> {
  const git = await gitIn(directory);
  if (!git) return { state: 'none', note: 'git is not installed, so no repository was created.' };
  const workTree = await git('rev-parse', '--is-inside-work-tree', '--show-prefix');
  if (workTree.exitCode === 0) {
    const isOwn = workTree.stdout.trim() === 'true';
    const commits = isOwn ? await git('rev-parse', '--verify', '--quiet', 'HEAD') : workTree;
    const note =
      commits.exitCode === 0
        ? 'The directory is already inside a git repository, so no new one was created.'
        : 'The directory is a git repository without a commit. To make the first one: git add --all && git commit';
    return { state: 'inside-repository', note };
  }

  const init = await git('init', '--quiet');
  if (init.exitCode !== 0) throw gitFailed('git init', directory, init.lastLines);
  const identity = await git('var', 'GIT_COMMITTER_IDENT');
  const email = await git('config', 'user.email');
  if (
    identity.exitCode !== 0 ||
    (email.exitCode !== 0 && !process.env.GIT_COMMITTER_EMAIL && !process.env.EMAIL)
  ) {
    return { state: 'initialised', note: 'git has no user.name and user.email, so nothing was committed.' };
  }
  const add = await git('add', '--all');
  const commit = await git(
    '-c',
    'commit.gpgSign=false',
    'commit',
    '--quiet',
    '--no-verify',
    '--message',
    message,
  );
  if (add.exitCode === 0 && commit.exitCode === 0) return { state: 'committed' };
  const failed = add.exitCode === 0 ? 'git commit' : 'git add';
  throw gitFailed(failed, directory, [...add.lastLines, ...commit.lastLines]);
}

/** Git's state of the files below a directory. */
export interface RepositoryState {
  /** The command of git that is not finished, such as `merge`; null if none is. */
  readonly unfinished: UnfinishedCommand | null;
  /** Files that differ from the last commit or are new, by their path in the repository. */
  readonly uncommitted: readonly string[];
  /** Files, by their path in the directory, that `git restore` brings back. */
  readonly restorable: ReadonlySet<string>;
}

export type UnfinishedCommand = 'merge' | 'cherry-pick' | 'revert' | 'rebase';

/** What git writes into its directory until a command is finished. */
const unfinishedMarks: readonly (readonly [file: string, command: UnfinishedCommand])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
];

async function unfinishedCommand(directory: string): Promise<UnfinishedCommand | null> {
  const { stdout } = await readRepository(directory, ['rev-parse', '--absolute-git-dir']);
  const [, command] = unfinishedMarks.find(([file]) => existsSync(join(stdout.trim(), file))) ?? [];
  return command ?? null;
}

/**
 * The state of the repository that a directory is in, or git's own words where there is none that can be read.
 *
 * @param further paths of the repository outside of the directory, such as the lock file of a workspace
 */
export async function repositoryState(
  directory: string,
  further: readonly string[] = [],
): Promise<RepositoryState | { readonly why: string }> {
  const [status, files] = [
    await readRepository(directory, [
      ...['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal'],
      ...['--ignore-submodules=all', '--', '.', ...further],
    ]),
    await readRepository(directory, ['ls-files', '-v', '-z', '--', '.', ...further]),
  ];
  const failed = [status, files].find(({ exitCode }) => exitCode !== 0);
  if (failed) return { why: failed.missing ? 'git is not installed' : failed.lastLines.join(' ') };
  // `H` is a tracked file. git does not see changes of files that are marked otherwise.
  const tracked = splitNames(files.stdout).filter((entry) => entry.startsWith('H '));
  return {
    unfinished: await unfinishedCommand(directory),
    uncommitted: splitNames(status.stdout).map((entry) => entry.slice(3)),
    restorable: new Set(tracked.map((entry) => entry.slice(2))),
  };
}

function splitNames(list: string): readonly string[] {
  return list.split('\0').filter((name) => name !== '');
}

/** What git does with a file. `committable`: it neither tracks nor ignores it, so `git add .` would add it. */
export type FileGitState = 'tracked' | 'ignored' | 'committable';

/** Returns what git does with a file; undefined outside of a repository. */
export async function fileGitState(directory: string, path: string): Promise<FileGitState | undefined> {
  const tracked = await readRepository(directory, ['ls-files', '--', path]);
  if (tracked.exitCode !== 0) return undefined;
  if (tracked.stdout.trim() !== '') return 'tracked';
  const ignored = await readRepository(directory, ['check-ignore', '--quiet', '--', path]);
  return ignored.exitCode === 0 ? 'ignored' : 'committable';
}

/** A file that git ignores. */
export interface IgnoredFile {
  readonly path: string;
  /** The place and the text of the pattern: `../.gitignore, line 3: *.tgz`. */
  readonly rule: string;
}

/** Those of some files that git ignores and does not track; none outside of a repository. */
export async function ignoredFiles(
  directory: string,
  paths: readonly string[],
): Promise<readonly IgnoredFile[]> {
  // A user who ignores the whole directory does not expect it in a clone.
  const isWholeIgnored = await readRepository(directory, ['check-ignore', '--quiet', '.']);
  if (isWholeIgnored.exitCode === 0) return [];
  const checked = await readRepository(directory, ['check-ignore', '--verbose', '--', ...paths]);
  if (checked.exitCode !== 0) return [];
  const prefix = await readRepository(directory, ['rev-parse', '--show-prefix']);
  const prefixPath = prefix.stdout.trim();
  return checked.stdout.split('\n').flatMap((line) => {
    const [, file = '', number, pattern = '', path] = /^(.*?):(\d+):(.*)\t(.*)$/.exec(line) ?? [];
    if (path === undefined || pattern.startsWith('!')) return [];
    const shownPath = isAbsolute(file) ? file : posix.relative(prefixPath, file);
    return [{ path, rule: `${shownPath}, line ${number}: ${pattern}` }];
  });
}

/**
 * Runs a git command that only reads. None of the programs that the configuration of a repository can name is started: no hook,
 * file monitor or filter, and nothing that fetches missing objects. A bare repository that is found instead of the project's repository is
 * refused, also by a git that does not know `safe.bareRepository` (before 2.38).
 */
async function readRepository(directory: string, args: readonly string[]): Promise<ProcessResult> {
  const env = { ...withoutGitVariables(), GIT_ALLOW_PROTOCOL: 'none' };
  const git = (settings: readonly string[], ...words: readonly string[]) =>
    runProgram('git', ['--no-optional-locks', ...settings.flatMap((setting) => ['-c', setting]), ...words], {
      cwd: directory,
      env,
    });
  const place = await git(withoutPrograms, 'rev-parse', '--absolute-git-dir');
  if (place.exitCode !== 0) return place;
  const real = realpathSync(directory);
  const way = relative(realpathSync(place.stdout.trim()), real);
  if (!way.startsWith('..') && !isAbsolute(way))
    return { ...place, exitCode: undefined, lastLines: [`${real} is in a bare repository`] };
  const listed = await git(withoutPrograms, 'config', '--null', '--name-only', '--get-regexp', '^filter\\.');
  const filters = new Set(splitNames(listed.stdout).map((key) => key.replace(/\.[^.]*$/, '')));
  // git would read a part of such a name as the value.
  const unsafe = [...filters].find((name) => name.includes('='));
  if (unsafe !== undefined)
    return { ...listed, exitCode: undefined, lastLines: [`the name of ${unsafe} contains =`] };
  const emptied = ['clean=', 'smudge=', 'process=', 'required=false'];
  const noFilters = [...filters].flatMap((name) => emptied.map((setting) => `${name}.${setting}`));
  return git([...withoutPrograms, ...noFilters], ...args);
}

/** Removes each variable that git reads from the environment of a child. */
export function withoutGitVariables(): Readonly<Record<string, undefined>> {
  const names = Object.keys(process.env).filter((name) => /^GIT_/i.test(name));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

const withoutPrograms = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.bareRepository=explicit'];

/** Runs git in a directory; undefined without git. While git runs a hook, it sets variables that would select another repository. */
async function gitIn(directory: string) {
  const local = await runProgram('git', ['rev-parse', '--local-env-vars'], { cwd: directory });
  if (local.missing) return undefined;
  const env = Object.fromEntries(local.stdout.split('\n').map((name) => [name, undefined]));
  return (...args: readonly string[]) => runProgram('git', args, { cwd: directory, env });
}

function gitFailed(command: string, directory: string, lines: readonly string[]): CommandError {
  const hint = `The project in ${directory} is complete. Fix what git reports and run the same command again, or skip git with --no-git.`;
  return new CommandError('GIT_FAILED', `${command} failed`, hint, { details: lines });
}

/** A merged text and its conflicts. */
export interface Merged {
  readonly text: string;
  /** The lines of the opening markers, 1-based. Empty if there are no conflicts. */
  readonly conflicts: readonly number[];
}

/**
 * Three-way merge of texts (`decodeText`) by `git merge-file`, in a separate directory: git reads no repository, so none of its
 * attributes, drivers and filters. Conflicting changes are put between git's markers.
 *
 * @param label names `theirs` after the closing marker
 * @throws CommandError `GIT_FAILED`, also if git is not installed
 */
export async function mergeTexts(base: string, ours: string, theirs: string, label: string): Promise<Merged> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'market-mcp-merge-')));
  try {
    for (const [name, text] of Object.entries({ base, ours, theirs }))
      writeFileSync(join(place, name), encodeText(text));
    const labels = ['yours', 'base', label].flatMap((name) => ['-L', name]);
    const files = ['ours', 'base', 'theirs'];
    const { exitCode, missing, lastLines } = await runProgram(
      'git',
      ['-c', 'merge.conflictStyle=merge', 'merge-file', ...labels, ...files],
      {
        cwd: place,
        env: { ...withoutGitVariables(), GIT_CEILING_DIRECTORIES: dirname(place) },
      },
    );
    // The exit code is the number of conflicts; an error has a greater one.
    if (exitCode === undefined || exitCode >= 128) {
      const message = missing ? 'git is not installed' : 'git merge-file failed';
      throw new CommandError('GIT_FAILED', message, 'Nothing was changed.', { details: lastLines });
    }
    const text = decodeText(readFileSync(join(place, 'ours')));
    const lines = text.split('\n').entries();
    return { text, conflicts: exitCode === 0 ? [] : [...lines].flatMap(lineOfConflict) };
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Whether a text contains a marker of `mergeTexts`, with a label of this program. */
export function hasMarkers(text: string): boolean {
  return /^(?:<<<<<<< yours|>>>>>>> create-market-mcp-\S+)\r?$/m.test(text);
}

function lineOfConflict([at, line]: readonly [number, string]): readonly number[] {
  if (line === '<<<<<<< yours') return [at + 1];
  return [];
}
