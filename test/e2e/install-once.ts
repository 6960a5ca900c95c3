import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

/** Outlives the run: what is there is not installed again. */
const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/** Where `installOnce` puts the packages of that name. */
export function installedModules(name: string): string {
  return join(cache, name, 'node_modules');
}

/**
 * Installs the dependencies of a package.json, unless they are already there. Returns their node_modules directory.
 *
 * @param from directory that the package.json takes `file:` dependencies from
 */
export async function installOnce(name: string, manifest: string, from?: string): Promise<string> {
  const directory = join(cache, name);
  const done = join(directory, 'installed.json');
  if (!existsSync(done) || readFileSync(done, 'utf8') !== manifest) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'package.json'), manifest);
    if (from) cpSync(join(from, 'vendor'), join(directory, 'vendor'), { recursive: true });
    await execa('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: directory });
    writeFileSync(done, manifest);
  }
  return installedModules(name);
}
