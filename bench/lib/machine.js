import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** Describes the machine in one line, without its name. */
export function describeMachine() {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${availableParallelism()} cores, ${memory} GB, ${type()} ${release().split('-')[0]}`;
}

/** The versions of Node and npm. */
export function describeRuntime() {
  return `Node ${process.versions.node}, npm ${execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim()}`;
}

/** Whether processes can be pinned to cores: the measured one to the first, the measuring one to the second. */
export const canPin = process.platform === 'linux' && availableParallelism() > 1 && hasTaskset();

/**
 * A command line that runs on one core, if pinning is possible.
 *
 * @param {number} core
 * @param {readonly string[]} command
 * @returns {readonly [string, ...string[]]}
 */
export function pinned(core, command) {
  const [file = '', ...args] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return [file, ...args];
}

function hasTaskset() {
  try {
    execFileSync('taskset', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
