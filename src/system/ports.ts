import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { attempt, isObject } from 'market-mcp-contract/json';

/** Below the ports that operating systems choose, and free of those that `fetch` refuses. */
const ports = { first: 11_000, count: 20_000, apart: 101, step: 7 };
let portsGiven = 0;

/**
 * A port of 127.0.0.1 that was free a moment ago. Processes that run at the same time start far apart: another server at the port
 * would answer instead of one that does not start. The ports of one process are also apart: a debugger whose port is taken
 * uses the next one.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; attempt <= 50; attempt++) {
    const port = ports.first + ((process.pid * ports.apart + portsGiven++ * ports.step) % ports.count);
    if (await isFree('127.0.0.1', port)) return port;
  }
  return (await listenOnce('127.0.0.1', 0)) ?? 0;
}

/** Whether a server could listen at an address. */
export async function isFree(host: string, port: number): Promise<boolean> {
  return (await listenOnce(host, port)) !== undefined;
}

/** The port on which a server could listen for a moment; undefined if it could not. */
async function listenOnce(host: string, port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    await once(server.listen(port, host.replaceAll(/[[\]]/g, '')), 'listening');
  } catch {
    return undefined;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address === 'object' && address) return address.port;
  return undefined;
}

/** Whether a process could not listen because its port is taken, by the words of Node or of a generated server. */
export function isPortTaken(output: string): boolean {
  return /in use|EADDRINUSE/.test(output);
}

/** What a generated server that could not listen wrote, as a sentence that names who has its port; undefined if it wrote nothing of that. */
export async function portTakenIn(errors: string): Promise<string | undefined> {
  const port = /^- Port (\d+) is already in use\./m.exec(stripVTControlCharacters(errors))?.[1];
  if (port === undefined) return undefined;
  return `Port ${port} is taken by ${await portOwner(Number(port))}.`;
}

/**
 * Who listens at a port of this machine: `node (pid 12)` if /proc names it, else the server that /health names.
 *
 * @param proc where the system lists its processes
 */
export async function portOwner(port: number, proc = '/proc'): Promise<string> {
  const pid = listenerAt(port, proc);
  if (pid !== undefined) return `${readText(`${proc}/${pid}/comm`).trim()} (pid ${pid})`;
  try {
    const signal = AbortSignal.timeout(1_000);
    const health: unknown = await (await fetch(`http://127.0.0.1:${port}/health`, { signal })).json();
    if (isObject(health) && typeof health.server === 'string') {
      return `the server ${JSON.stringify(health.server)}`;
    }
  } catch {
    // It does not speak HTTP, or not to us.
  }
  return 'another program';
}

/** The process of this user that listens at a port, by Linux's /proc. */
function listenerAt(port: number, proc: string): string | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const sockets = [`${proc}/net/tcp`, `${proc}/net/tcp6`]
    .flatMap((file) => readText(file).split('\n'))
    .map((line) => line.trim().split(/\s+/))
    // sl, local_address, rem_address, st (0A: listening), …, inode
    .filter(([, local, , status]) => local?.endsWith(`:${hex}`) && status === '0A')
    .map((fields) => `socket:[${fields[9]}]`);
  if (sockets.length === 0) return undefined;
  return procEntries(proc)
    .filter((name) => /^\d+$/.test(name))
    .find((pid) =>
      procEntries(`${proc}/${pid}/fd`).some((fd) =>
        sockets.includes(attempt(() => readlinkSync(`${proc}/${pid}/fd/${fd}`), '')),
      ),
    );
}

/** Empty if the process has ended, or belongs to another user. */
function readText(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}

/** As `readText`. */
function procEntries(directory: string): readonly string[] {
  return attempt(() => readdirSync(directory), []);
}
