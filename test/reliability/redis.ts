import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { takesConnections } from '../attacks/proxies.ts';
import { freePort } from '../ports.ts';

/** Whether Debian's redis-server is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).error === undefined;

/** In memory where there is such a place: on a busy disk, each answer would wait for it. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/**
 * A Redis server on a free port, which writes each command to its file. It ends with the test.
 *
 * @param further settings, such as `--maxmemory 8mb`
 */
export async function startRedis(
  further: readonly string[] = [],
  { host = '127.0.0.1', port: given = 0, sentinel = false } = {},
) {
  const port = given || (await freePort());
  const directory = mkdtempSync(join(place, 'redis-'));
  // Without the five seconds in which a server waits for more followers.
  const saving = [
    '--save',
    '',
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--repl-diskless-sync-delay',
    '0',
  ];
  const options = ['--bind', host, ...(sentinel ? ['--sentinel'] : saving), ...further];
  const file = join(directory, 'redis.conf');
  let child: ChildProcess;
  const start = async () => {
    writeFileSync(file, '', { flag: 'a' });
    child = spawn('redis-server', [file, '--port', String(port), '--dir', directory, ...options], {
      stdio: 'ignore',
    });
    try {
      setPriority(child.pid ?? 0, -10); // on a busy machine, replicas work alone while it waits for a processor
    } catch {} // only root may do so
    while (!(await takesConnections(port, host))) await setTimeout(20);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  await start();
  onTestFinished(async () => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    port,
    /** With a password that the server does not need, and that no log may contain. */
    url: `redis://default:passw0rd@${host}:${port}`,
    signal: (name: 'SIGSTOP' | 'SIGCONT') => void child.kill(name),
    kill,
    start,
    /** A client of whoever else may write there. */
    client(): Redis {
      const client = new Redis(port, host);
      client.on('error', () => {});
      onTestFinished(() => client.disconnect());
      return client;
    },
  };
}

/** A connection to a server on this machine whose answers all come so much later. It ends with the test. */
export async function startSlowConnection(port: number, ms: number): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((caller) => {
    const behind = connect(port, '127.0.0.1');
    for (const socket of [caller, behind]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    caller.pipe(behind);
    behind.on('data', async (bytes) => {
      await setTimeout(ms);
      caller.write(bytes);
    });
    behind.once('close', () => caller.destroy());
    caller.once('close', () => behind.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}
