import { join } from 'node:path';
import { CommandError, nameList, shellLine } from 'market-mcp-contract/command';
import { isEntry } from '../../project/read/read-files.ts';
import { isInOtherRepository, resolveInside } from '../../project/read/resolve-inside.ts';
import { outputsOf } from '../../project/write/change.ts';
import type { ProjectChange } from '../../project/write/transaction.ts';
import { gitCommand } from '../../system/command-line.ts';
import { packageManagerOf } from '../../system/detect.ts';
import { ignoredFiles, repositoryState, type UnfinishedCommand } from '../../system/git.ts';

const commit = ['git add --all', 'git commit --message "Before the upgrade"'];

/**
 * The commands that undo a change of a project by its author's git, to paste in the current directory.
 *
 * @throws CommandError `NO_REPOSITORY`, `NOT_COMMITTED`, `NOT_RESTORABLE` if git could not bring back what the change
 *   replaces
 */
export async function undoOf(
  directory: string,
  { files, removed }: ProjectChange,
): Promise<readonly string[]> {
  const { lockFile, install, frozenInstall } = packageManagerOf(directory);
  const state = await repositoryState(directory, lockFile.startsWith('../') ? [lockFile] : []);
  if ('why' in state) {
    const message = `git is what undoes an upgrade, and it cannot read a repository in ${directory}: ${state.why}`;
    throw new CommandError('NO_REPOSITORY', message, repositoryHint(state.why));
  }
  if (state.uncommitted.length > 0) {
    const message = `there are uncommitted changes: ${nameList(state.uncommitted)}`;
    throw new CommandError('NOT_COMMITTED', message, commitHint(state.unfinished));
  }
  const isThere = (path: string) => isEntry(resolveInside(directory, path));
  const changed = [...files.keys(), ...removed];
  const before = changed.filter(isThere);
  await requireRestorable(
    directory,
    before.filter((path) => !state.restorable.has(path)),
  );
  const isLocked = state.restorable.has(lockFile);
  const locks = isEntry(join(directory, lockFile)) ? [] : [lockFile];
  const added = [
    ...changed.filter((path) => !isThere(path)).flatMap((path) => [path, ...outputsOf(path)]),
    ...locks,
  ];
  const restored = [...before, ...(isLocked ? [lockFile] : [])];
  return [
    gitCommand(directory, ['restore', '--staged', '--worktree', '--'], restored),
    ...(added.length === 0
      ? []
      : [gitCommand(directory, ['clean', '--force', '--quiet', '-x', '--'], added)]),
    isLocked ? frozenInstall : install,
  ];
}

/** A repository of another user is there, so `git init` would not help. */
function repositoryHint(reason: string): string {
  if (!reason.includes('dubious ownership')) return thenRun(['git init', ...commit]);
  const [, place = '<directory>'] = /repository at '([^']+)'/.exec(reason) ?? [];
  const trust = shellLine(['git', 'config', '--global', '--add', 'safe.directory', place]);
  return `Nothing was changed. The repository belongs to another user. Run the upgrade as that user, or, if you trust the repository: ${trust}`;
}

/** A commit of all files would record the markers of conflicts that are not resolved. */
function commitHint(unfinished: UnfinishedCommand | null): string {
  if (unfinished === null) return thenRun(commit);
  return `Nothing was changed. A ${unfinished} is not finished: resolve its conflicts, then run: git ${unfinished} --continue. Or go back by: git ${unfinished} --abort. Then run the upgrade again.`;
}

/** @throws CommandError `NOT_RESTORABLE` */
async function requireRestorable(directory: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const ignored = new Map((await ignoredFiles(directory, paths)).map(({ path, rule }) => [path, rule]));
  const reasonOf = (path: string) => {
    if (isInOtherRepository(directory, path)) return 'it is in another repository';
    const rule = ignored.get(path);
    if (rule === undefined) return 'git does not follow its changes';
    return `git ignores it (${rule})`;
  };
  throw new CommandError(
    'NOT_RESTORABLE',
    `the upgrade would change ${nameList(paths)}, and git could not restore what is there`,
    `Nothing was changed. Commit each file that is ignored, after: ${gitCommand(directory, ['add', '--force', '--'], paths)}. In another repository, make the change that --dry-run shows.`,
    { details: paths.map((path) => `${path}: ${reasonOf(path)}`) },
  );
}

/** An instruction to run commands, each after the one before has succeeded. */
export function thenRun(commands: readonly string[]): string {
  return `Nothing was changed. Run: ${commands.join(', then: ')}`;
}
