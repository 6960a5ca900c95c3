import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { freshPath } from './places.js';

/**
 * The cost of one run of a command.
 *
 * @typedef {object} Cost
 * @property {number} ms wall time
 * @property {number} cpuMs user and system time with all its children, to 10 ms; NaN if it is not available
 * @property {number} peakMb resident memory of its largest process, only on request; else NaN
 * @property {string} stdout
 */

/**
 * @typedef {object} MeasureOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] replaces this process's environment
 * @property {boolean} [memory] whether to measure peak memory, through GNU time
 * @property {number} [timeoutMs]
 * @property {readonly number[]} [statuses] exit statuses that count as success
 */

const gnuTime = '/usr/bin/time';

/**
 * Runs a command to its end.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {MeasureOptions} [options]
 * @returns {Cost}
 * @throws {Error} with the command's last lines if it exits with another status
 */
export function measure(
  command,
  args,
  { cwd, env, memory = false, timeoutMs = 600_000, statuses = [0] } = {},
) {
  const weighed = memory && existsSync(gnuTime) ? weigh() : null;
  const [file = command, ...rest] = [...(weighed?.prefix ?? []), command, ...args];
  const cpuBefore = childrenCpuMs();
  const started = performance.now();
  const { status, signal, stdout, stderr, error } = spawnSync(file, rest, {
    cwd,
    env,
    timeout: timeoutMs,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 100_000_000,
  });
  const ms = performance.now() - started;
  const cpuMs = childrenCpuMs() - cpuBefore;
  if (status !== null && statuses.includes(status))
    return { ms, cpuMs, peakMb: weighed?.read() ?? Number.NaN, stdout };
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n').slice(-8).join('\n');
  throw new Error(
    `${[command, ...args].join(' ')}: ${error?.message ?? `exit ${signal ?? status}`}\n${lines}`,
  );
}

/**
 * CPU time of a run: the mean, not the median, because single readings are as coarse as their clock.
 *
 * @param {readonly Pick<Cost, 'cpuMs'>[]} runs
 */
export function meanCpuMs(runs) {
  return runs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / runs.length;
}

/** Prefixes a command with GNU time; `read` returns the peak in megabytes after the command has ended. */
function weigh() {
  const file = freshPath('peak');
  return {
    prefix: [gnuTime, '-q', '-f', '%M', '-o', file],
    read: () => Number(readFileSync(file, 'utf8')) / 1024,
  };
}

const tickMs = 10;

/** Milliseconds of CPU time of all children of this process that have ended. */
export function childrenCpuMs() {
  const stat = statOf('self');
  return stat ? (Number(stat[13]) + Number(stat[14])) * tickMs : Number.NaN;
}

/**
 * CPU time and resident memory of a running process with all its threads.
 *
 * @param {number} pid
 * @returns {{ cpuMs: number, rssMb: number }} NaN if they are not available
 */
export function vitals(pid) {
  const stat = statOf(pid);
  if (!stat) return { cpuMs: Number.NaN, rssMb: Number.NaN };
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMs: (Number(stat[11]) + Number(stat[12])) * tickMs,
    rssMb: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
  };
}

/**
 * Milliseconds of CPU time of all threads of a process, to the nanosecond; NaN if they are not available.
 *
 * @param {number} pid
 */
export function cpuMsOf(pid) {
  const directory = `/proc/${pid}/task`;
  if (!existsSync(`/proc/${pid}/schedstat`)) return Number.NaN;
  const nanoseconds = readdirSync(directory).map((thread) =>
    Number(readFileSync(`${directory}/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

/**
 * The fields of /proc/<pid>/stat from the third on: the second, the name, may contain spaces.
 *
 * @param {number | 'self'} pid
 */
function statOf(pid) {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') : undefined;
}
