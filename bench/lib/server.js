import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pinned } from './machine.js';
import { freshPath } from './places.js';

/**
 * A server under measurement.
 *
 * @typedef {object} Running
 * @property {number} pid
 * @property {string} origin `http://127.0.0.1:<port>`
 * @property {string} url its MCP endpoint
 * @property {number} startMs from the start of the process to the first healthy answer
 * @property {() => Promise<void>} stop
 */

/** The core of the servers; the load driver runs on the other one. */
export const serverCore = 0;

const startLimitMs = 30_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a Node server on a free port and waits until it is healthy. Its output goes to a file.
 *
 * @param {string} script
 * @param {Readonly<Record<string, string | undefined>>} env added to the environment, beside PORT
 * @param {{ readonly pin?: boolean, readonly nodeArguments?: readonly string[] }} [options] whether it is pinned to its core; flags for Node
 * @returns {Promise<Running>}
 * @throws {Error} with its last lines if it does not become healthy
 */
export async function startServer(script, env, { pin = true, nodeArguments = [] } = {}) {
  const port = await freePort();
  const output = freshPath('server-output');
  const file = openSync(output, 'w');
  const line = [process.execPath, ...nodeArguments, script];
  const [command, ...args] = pin ? pinned(serverCore, line) : line;
  const started = performance.now();
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', NODE_ENV: 'production', ...env, PORT: String(port) },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  running.add(child);
  child.once('exit', () => running.delete(child));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const origin = `http://127.0.0.1:${port}`;
  while (!(await isHealthy(origin))) {
    if (child.exitCode === null && performance.now() - started < startLimitMs) continue;
    await stop();
    throw new Error(`did not start: ${readFileSync(output, 'utf8').trim().slice(-1000)}`);
  }
  const startMs = performance.now() - started;
  return { pid: Number(child.pid), origin, url: `${origin}/mcp`, startMs, stop };
}

/** @param {string} origin */
async function isHealthy(origin) {
  try {
    const { ok } = await fetch(`${origin}/health`);
    return ok;
  } catch {
    await delay(2);
    return false;
  }
}

/** A port that was free a moment ago. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
