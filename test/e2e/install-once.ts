import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

/** Kept after the run: installed packages are reused. */
const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/** The directory where `installOnce` puts the packages of that name. */
export function installedModules(name: string): string {
  return join(cache, name, 'node_modules');
}

/**
 * Installs the dependencies of a package.json unless they are installed. Returns their node_modules directory.
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
  const isDone = () => existsSync(done) && readFileSync(done, 'utf8') === manifest;
  if (isDone()) return installedModules(name);
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, 'package.json'), manifest);
  for (const path of beside) cpSync(path, join(unfinished, basename(path)), { recursive: true });
  const flags = ['--no-audit', '--no-fund', ...(runsScripts ? [] : ['--ignore-scripts'])];
  await execa('npm', ['install', ...flags], { cwd: unfinished });
  writeFileSync(join(unfinished, 'installed.json'), manifest);
  try {
    renameSync(unfinished, directory);
  } catch {
    // Another test file may have installed the same meanwhile, and use it.
    if (!isDone()) {
      rmSync(directory, { recursive: true, force: true });
      renameSync(unfinished, directory);
    }
  }
  rmSync(unfinished, { recursive: true, force: true });
  return installedModules(name);
}
