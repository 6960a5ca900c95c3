import { isAbsolute, posix } from 'node:path';
import { SystemError } from './errors.ts';
import { run } from './processes.ts';

/** The result for the repository, with a message for the author if there is one. */
export type GitOutcome =
  | { readonly state: 'committed' }
  | { readonly state: 'inside-repository' | 'initialised' | 'none'; readonly note: string };

/**
 * Makes a directory a git repository with a first commit. Inside another repository, nothing happens. Without an
 * identity the files stay uncommitted, and without git no repository is made.
 *
 * @throws SystemError `GIT_FAILED` with git's message.
 */
export async function initRepository(directory: string, message: string): Promise<GitOutcome> {
  const git = await gitIn(directory);
  if (!git) return { state: 'none', note: 'git is not installed, so no repository was created.' };
  const inside = await git('rev-parse', '--is-inside-work-tree');
  if (inside.exitCode === 0) {
    return {
      state: 'inside-repository',
      note: 'The directory is already inside a git repository, so no new one was created.',
    };
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

/** Files below a directory that differ from the last commit or are new; null outside of a repository. */
export async function uncommitted(directory: string): Promise<readonly string[] | null> {
  const status = await readRepository(directory, ['status', '--porcelain', '-z', '--no-renames', '--', '.']);
  if (status?.exitCode !== 0) return null;
  return status.stdout.split('\0').flatMap((entry) => (entry === '' ? [] : [entry.slice(3)]));
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
  // Whoever ignores the whole directory does not expect it in a clone.
  const whole = await readRepository(directory, ['check-ignore', '--quiet', '.']);
  if (whole?.exitCode === 0) return [];
  const checked = await readRepository(directory, ['check-ignore', '--verbose', '--', ...paths]);
  if (checked?.exitCode !== 0) return [];
  const prefix = await readRepository(directory, ['rev-parse', '--show-prefix']);
  const within = prefix?.stdout.trim() ?? '';
  return checked.stdout.split('\n').flatMap((line) => {
    const [, file = '', number, pattern = '', path] = /^(.*?):(\d+):(.*)\t(.*)$/.exec(line) ?? [];
    if (path === undefined || pattern.startsWith('!')) return [];
    const shown = isAbsolute(file) ? file : posix.relative(within, file);
    return [{ path, rule: `${shown}, line ${number}: ${pattern}` }];
  });
}

/** Runs a git command that only reads; undefined without git. It does not start a file monitor that the repository names. */
async function readRepository(directory: string, args: readonly string[]) {
  const git = await gitIn(directory);
  return git?.('-c', 'core.fsmonitor=false', ...args);
}

/** Runs git in a directory; undefined without git. While git runs a hook, it sets variables that would select another repository. */
async function gitIn(directory: string) {
  const local = await run('git', ['rev-parse', '--local-env-vars'], { cwd: directory });
  if (local.missing) return undefined;
  const env = Object.fromEntries(local.stdout.split('\n').map((name) => [name, undefined]));
  return (...args: readonly string[]) => run('git', args, { cwd: directory, env });
}

function gitFailed(command: string, directory: string, lines: readonly string[]): SystemError {
  const hint = `The project in ${directory} is complete. Fix what git reports and run the same command again, or skip git with --no-git.`;
  return new SystemError('GIT_FAILED', `${command} failed`, hint, lines);
}
