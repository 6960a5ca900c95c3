import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pinned } from './machine.js';
import { benchDirectory } from './places.js';
import { serverCore } from './server.js';

/**
 * One load on one server: every request has this method, these params and a unique id.
 *
 * @typedef {object} Job
 * @property {string} url
 * @property {number} pid the server's, whose CPU time and memory are read
 * @property {string} method
 * @property {object} params
 * @property {readonly object[]} identities the headers of each connection
 * @property {readonly string[]} [tokens] used in turn instead of the one in the headers, of the same length
 * @property {Extent} warmUp
 * @property {Extent} extent
 */

/**
 * The extent of a load: a time in seconds, or a number of requests.
 *
 * @typedef {{ readonly duration: number } | { readonly amount: number }} Extent
 */

/**
 * @typedef {object} LoadResult
 * @property {number} requests
 * @property {number} failures answers with another status than 200, and missing answers
 * @property {number} perSecond
 * @property {number} p50 in milliseconds
 * @property {number} p99 in milliseconds
 * @property {number} serverCpuUs CPU time of the server for one request
 * @property {number} serverBusy share of one core
 * @property {number} driverBusy share of one core
 * @property {{ before: number, after: number }} rssMb resident memory of the server
 */

const driver = join(benchDirectory, 'load/driver.js');

/**
 * Loads a server from another process on another core.
 *
 * @param {Job} job
 * @returns {Promise<LoadResult>}
 * @throws {Error} if the driver or a request fails
 */
export async function load(job) {
  const [command, ...args] = pinned(serverCore + 1, [process.execPath, driver]);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(job));
  const exit = once(child, 'exit');
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exit;
  if (code !== 0) throw new Error(`the load failed: ${/Error: .*/.exec(complaint) ?? complaint}`);
  /** @type {LoadResult} */
  const result = JSON.parse(output);
  if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} requests failed`);
  return result;
}
