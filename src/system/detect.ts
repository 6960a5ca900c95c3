import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageManagerCommands } from '../plan/package-manager.ts';
import { parentsOf } from '../project/read/read.ts';
import { type PackageManager, packageManagers } from '../questions/package-managers.ts';

/**
 * The package manager to use: the one that runs this program, else the one with a lock file in the directory or
 * above it, else npm.
 */
export function detectPackageManager(directory: string, env = process.env): PackageManager {
  const running = env.npm_config_user_agent?.split('/')[0];
  return packageManagers.find((name) => name === running) ?? lockedBy(directory) ?? 'npm';
}

function lockedBy(directory: string): PackageManager | undefined {
  return parentsOf(resolve(directory)).flatMap((place) =>
    packageManagers.filter((name) => existsSync(join(place, packageManagerCommands[name].lockFile))),
  )[0];
}
