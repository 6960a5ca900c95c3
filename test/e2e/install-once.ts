import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

/** Kept after the run: installed packages are reused. */
const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/** The directory where `installOnce` puts the packages of that name. */
export function installedModules(name: string): string {
  return join(cache, name, 'node_modules');
}

/**
 * Installs the dependencies of a package.json unless they are installed. One process installs, others that need the same wait for it.
 * Returns their node_modules directory.
 *
 * @param runsScripts whether packages may run their installation scripts
 * @param beside files and directories to put beside the package.json: a lock file, a `vendor/` with packages
 */
export async function installOnce(
  name: string,
  manifest: string,
  beside: readonly string[] = [],
  runsScripts = false,
): Promise<string> {
  const directory = join(cache, name);
  const done = join(directory, 'installed.json');
  const lock = `${directory}.lock`;
  mkdirSync(cache, { recursive: true });
  const isDone = () => existsSync(done) && readFileSync(done, 'utf8') === manifest;
  while (!isDone()) {
    if (!takes(lock)) {
      await setTimeout(100);
      continue;
    }
    try {
      if (isDone()) break; // while this process waited
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory);
      writeFileSync(join(directory, 'package.json'), manifest);
      for (const path of beside) cpSync(path, join(directory, basename(path)), { recursive: true });
      const flags = ['--no-audit', '--no-fund', ...(runsScripts ? [] : ['--ignore-scripts'])];
      await execa('npm', ['install', ...flags], { cwd: directory });
      writeFileSync(done, manifest);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return installedModules(name);
}

/** Whether this process has the lock now: nobody had it, or a process that has ended. */
function takes(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isRunning(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** Whether the process that wrote a lock runs, or the lock is gone. */
function isRunning(lock: string): boolean {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
