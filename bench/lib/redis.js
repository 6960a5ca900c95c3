import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './server.js';

/** Whether Redis is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).error === undefined;

/**
 * Starts an empty Redis server on a free port, which writes nothing to the disk. It is not pinned.
 *
 * @returns {Promise<{ readonly url: string, readonly stop: () => Promise<void> }>}
 */
export async function startRedis() {
  const port = String(await freePort());
  const options = ['--port', port, '--bind', '127.0.0.1', '--save', ''];
  const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  for (let output = ''; !output.includes('Ready to accept connections'); ) {
    if (child.exitCode !== null) throw new Error(`redis-server does not start: ${output}`);
    output += child.stdout.read() ?? '';
    await delay(10);
  }
  child.stdout.resume();
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      const exited = once(child, 'exit');
      kill();
      await exited;
      process.off('exit', kill);
    },
  };
}
