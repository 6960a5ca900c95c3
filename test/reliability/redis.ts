import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { freePort } from '../ports.ts';

/** Whether Debian's redis-server is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).error === undefined;

/** In memory where there is such a place: on a busy disk, each answer would wait for it. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** How often a server looks for a port that no other process takes meanwhile. */
const maxPorts = 5;

/**
 * A Redis server on a free port, which writes each command to its file. It ends with the test.
 *
 * @param further settings, such as `--maxmemory 8mb`
 */
export async function startRedis(
  further: readonly string[] = [],
  { host = '127.0.0.1', port: given = 0, sentinel = false } = {},
) {
  let port = given || (await freePort());
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
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      setPriority(child.pid ?? 0, -10); // on a busy machine, replicas work alone while it waits for a processor
    } catch {} // only root may do so
    if (!(await logsStart(child))) throw new Error(`redis-server does not start on port ${port}`);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(async () => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  });
  for (let attempt = 1; ; attempt++) {
    try {
      await start();
      break;
    } catch (error) {
      if (given || attempt === maxPorts) throw error;
      port = await freePort();
    }
  }
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

/** Whether the log of a server says that it takes connections. False if the server ends before. */
async function logsStart(child: ChildProcess): Promise<boolean> {
  const lines = createInterface({ input: child.stdout as Readable });
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve(true);
    });
    lines.once('close', () => resolve(false));
  });
}

/** The Unix time in seconds, as tokens have it. */
export const nowSeconds = () => Math.floor(Date.now() / 1000);

/** Writes the marker that replicas with `TOKEN_ONCE=strict` compare, as if the first of them had connected a minute ago. */
export async function writeMarker(
  client: Redis,
  namespace: string,
  since = nowSeconds() - 60,
): Promise<void> {
  const [, run] = /run_id:(\w+)/.exec(await client.info('server')) ?? [];
  await client.hset(`market-mcp:${namespace}:run`, { run_id: String(run), since });
}

/** A connection to a server on this machine whose answers all come so much later. It ends with the test. */
export async function startSlowConnection(port: number, ms: number): Promise<number> {
  return (await startRelay(port, ms)).port;
}

/** An address whose connections lead to a server on this machine, with answers that all come so much later. It ends with the test. */
export async function startRelay(serverPort: number, delayMs = 0) {
  let target = serverPort;
  const sockets = new Set<Socket>();
  const endConnections = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((caller) => {
    const behind = connect(target, '127.0.0.1');
    for (const socket of [caller, behind]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    caller.pipe(behind);
    behind.on('data', async (bytes) => {
      if (delayMs > 0) await setTimeout(delayMs);
      caller.write(bytes);
    });
    behind.once('close', () => caller.destroy());
    caller.once('close', () => behind.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    endConnections();
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    endConnections,
    /** Leads to another server from now on. */
    leadTo(port: number): void {
      target = port;
      endConnections();
    },
  };
}
