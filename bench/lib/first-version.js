import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { freshPath, repository } from './places.js';
import { plainEnvironment } from './product.js';

/** The commit whose code was version 0.1.0. */
const commit = '3c73d767';

/** @type {string | undefined} */
let built;

/**
 * A checkout of version 0.1.0, built once with the dependencies of its lock file.
 *
 * @returns {string} its directory
 */
export function firstVersion() {
  built ??= build();
  return built;
}

function build() {
  const checkout = freshPath('first-version');
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
