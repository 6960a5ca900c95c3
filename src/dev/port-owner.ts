import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isObject } from 'market-mcp-contract/json';

/**
 * Who listens at a port of this machine: `node (pid 12)` if /proc names it, else the server that /health names.
 *
 * @param proc where the system lists its processes
 */
export async function ownerOf(port: number, proc = '/proc'): Promise<string> {
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
  return namesIn(proc)
    .filter((name) => /^\d+$/.test(name))
    .find((pid) =>
      namesIn(`${proc}/${pid}/fd`).some((fd) =>
        sockets.includes(attempt(() => readlinkSync(`${proc}/${pid}/fd/${fd}`), '')),
      ),
    );
}

function readText(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}

function namesIn(directory: string): readonly string[] {
  return attempt(() => readdirSync(directory), []);
}

/** Processes come and go, and those of other users cannot be read. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
