import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchDirectory } from './places.js';

const modules = join(benchDirectory, 'node_modules');

/** Installs the peers that bench/package.json pins, unless all of them are installed already. */
export function installPeers() {
  const wanted = versionsIn(join(benchDirectory, 'package-lock.json'));
  const present = versionsIn(join(modules, '.package-lock.json'));
  if (wanted.every((version) => present.includes(version))) return;
  console.error('Installing the peers into bench/node_modules …');
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: benchDirectory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * The script of a peer's program.
 *
 * @param {string} name the package's
 */
export function binOf(name) {
  const { bin } = manifestOf(name);
  return join(modules, name, typeof bin === 'string' ? bin : Object.values(bin)[0]);
}

/**
 * `name version`, as in the results.
 *
 * @param {string} name
 */
export function titleOf(name) {
  return `${name} ${manifestOf(name).version}`;
}

/**
 * `name@version`, for npm.
 *
 * @param {string} name
 */
export function specOf(name) {
  return `${name}@${manifestOf(name).version}`;
}

/** @param {string} name */
function manifestOf(name) {
  return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
}

/**
 * The packages of a lock file; none if it does not exist.
 *
 * @param {string} file
 */
function versionsIn(file) {
  if (!existsSync(file)) return [];
  /** @type {{ packages: Record<string, { version: string, optional?: boolean }> }} */
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(packages)
    .filter(([path, { optional }]) => path !== '' && !optional)
    .map(([path, { version }]) => `${path} ${version}`);
}
