import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { freshPath, repository } from './places.js';
import { plainEnvironment } from './product.js';

/** The commit whose code was each earlier version. */
const commits = { '0.1.0': '3c73d767', '0.2.0': '5df7cac6', '0.4.0': '0fd011fd' };

/** @typedef {keyof typeof commits} Version */

/** @type {Map<Version, string>} */
const checkouts = new Map();

/**
 * A checkout of an earlier version, built once with the dependencies of its lock file.
 *
 * @param {Version} version
 * @returns {string} its directory
 */
export function earlierVersion(version) {
  const checkout = checkouts.get(version) ?? build(commits[version]);
  checkouts.set(version, checkout);
  return checkout;
}

function build(/** @type {string} */ commit) {
  const checkout = freshPath('earlier-version');
  mkdirSync(checkout);
  const archive = freshPath('archive');
  execFileSync('git', ['archive', '--output', archive, '--format', 'tar', commit], { cwd: repository });
  execFileSync('tar', ['-xf', archive, '-C', checkout]);
  const run = (/** @type {string} */ command, /** @type {string[]} */ args) =>
    execFileSync(command, args, {
      cwd: checkout,
      env: plainEnvironment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']);
  run(process.execPath, ['build.js']);
  return checkout;
}
