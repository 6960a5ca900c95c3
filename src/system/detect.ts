import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { attempt } from 'market-mcp-contract/json';
import {
  inWorkspace,
  type PackageManagerCommands,
  packageManagerCommands,
} from '../plan/package-manager-commands.ts';
import { manifestFile, readManifest } from '../project/manifest/manifest.ts';
import { parentsOf } from '../project/read/read-files.ts';
import { lockDirectory, workspaceRoot } from '../project/read/workspace.ts';
import { type PackageManager, packageManagers } from '../questions/package-managers.ts';

/**
 * The package manager to use. In a project: the one whose lock file it has, else the one with the lock file of its workspace, else
 * the one that its manifest names. Elsewhere, and where that does not decide: the one with the lock file of the workspace, else the
 * one that runs this program, else the one with a lock file above the directory, else npm.
 */
export function detectPackageManager(directory: string, env = process.env): PackageManager {
  const running = packageManagers.find((name) => name === env.npm_config_user_agent?.split('/')[0]);
  const places = parentsOf(resolve(directory));
  const project = places.find((place) => existsSync(join(place, manifestFile)));
  const ownLocks = project === undefined ? [] : locksIn(project);
  const root = workspaceRoot(project ?? directory);
  const rootLocks = root === undefined ? [] : locksIn(root);
  return (
    ownLocks.find((name) => name === running) ??
    ownLocks[0] ??
    rootLocks.find((name) => name === running) ??
    rootLocks[0] ??
    (project === undefined ? undefined : recordedIn(project)) ??
    running ??
    places.flatMap(locksIn)[0] ??
    'npm'
  );
}

/** The commands of the package manager of a directory, to paste there. The lock file of a workspace is at its root: `../../yarn.lock`. */
export function packageManagerOf(directory: string): PackageManagerCommands {
  const commands = packageManagerCommands[detectPackageManager(directory)];
  const root = existsSync(join(directory, commands.lockFile)) ? undefined : lockDirectory(directory);
  if (root === undefined) return commands;
  return inWorkspace(commands, root);
}

function locksIn(place: string): readonly PackageManager[] {
  return packageManagers.filter((name) => existsSync(join(place, packageManagerCommands[name].lockFile)));
}

/** Undefined if the manifest is damaged. */
function recordedIn(project: string): PackageManager | undefined {
  return attempt(() => readManifest(project).answers.packageManager, undefined);
}
