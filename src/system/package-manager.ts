import { packageManagerCommands } from '../plan/package-manager.ts';
import type { PackageManager } from '../questions/package-managers.ts';
import { SystemError } from './errors.ts';
import { run } from './processes.ts';

/**
 * Installs a project's dependencies, development ones too.
 *
 * @param onProgress called with the number of packages fetched so far, or with the line the package manager wrote.
 * @throws SystemError `INSTALL_FAILED` with the last lines, or `PACKAGE_MANAGER_MISSING`.
 */
export async function install(
  name: PackageManager,
  directory: string,
  onProgress: (text: string) => void,
): Promise<void> {
  let fetched = 0;
  const ended = await run(name, installArguments[name], {
    cwd: directory,
    // A production environment would leave the compiler out.
    env: { NODE_ENV: undefined },
    isNoise: isFetch,
    onLine: (line) => {
      if (isFetch(line)) fetched += 1;
      onProgress(isFetch(line) ? `${fetched} packages` : line.trim());
    },
  });
  if (ended.exitCode === 0) return;
  const command = packageManagerCommands[name].install;
  const hint = `The project is in place. In ${directory} run: ${command}`;
  if (ended.missing) throw new SystemError('PACKAGE_MANAGER_MISSING', `${name} is not installed`, hint);
  throw new SystemError('INSTALL_FAILED', `${command} failed`, hint, ended.lastLines);
}

const installArguments: { readonly [name in PackageManager]: readonly string[] } = {
  npm: ['install', '--no-audit', '--no-fund', '--loglevel=http'],
  pnpm: ['install', '--reporter=append-only'],
  yarn: ['install'],
};

/** npm says each request it made on this level: `npm http fetch GET 200 …`. */
function isFetch(line: string): boolean {
  return /^npm http /.test(line);
}
