import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packageManagerCommands } from '../plan/package-manager.ts';
import { type PackageManager, packageManagers } from '../questions/package-managers.ts';

/**
 * The package manager to use: the one that runs this program, else the one with a lock file in the directory or
 * above it, else npm.
 */
export function detectPackageManager(directory: string, env: NodeJS.ProcessEnv): PackageManager {
  const running = env.npm_config_user_agent?.split('/')[0];
  return packageManagers.find((name) => name === running) ?? lockedBy(resolve(directory)) ?? 'npm';
}

function lockedBy(directory: string): PackageManager | undefined {
  const locked = (name: PackageManager) => existsSync(join(directory, packageManagerCommands[name].lockFile));
  const parent = dirname(directory);
  return packageManagers.find(locked) ?? (parent === directory ? undefined : lockedBy(parent));
}
