import { close } from 'node:inspector';
import { isFree } from '../system/ports.ts';

/** The debugger option of Node. */
export interface Inspection {
  readonly option: 'inspect' | 'inspect-brk' | 'inspect-wait';
  readonly host: string;
  readonly port: number;
}

const standard = { host: '127.0.0.1', port: 9229 } as const;
const inspectOption =
  /(?:^|\s)--(inspect(?:-brk|-wait)?)(?:=(?:(\[[^\]]*\]|[^\s:]*[^\s:\d][^\s:]*):?)?(\d+)?)?(?=\s|$)/g;

/** The debugger option in NODE_OPTIONS, and the other options. */
export function inspectionIn(options = ''): { readonly inspection?: Inspection; readonly rest: string } {
  const found = [...options.matchAll(inspectOption)].at(-1);
  const rest = options.replaceAll(inspectOption, '').trim();
  if (!found) return { rest };
  const [, option, host = standard.host, port] = found;
  const inspection = { option: option as Inspection['option'], host, port: Number(port ?? standard.port) };
  return { rest, inspection };
}

/**
 * Passes the debugger that NODE_OPTIONS requests on to the server, because every Node process between the author and the
 * server takes the option for itself, npm first. If one of them keeps the port, the next free port is used.
 */
export async function handOverInspector(env = process.env): Promise<Inspection | undefined> {
  const { inspection, rest } = inspectionIn(env.NODE_OPTIONS);
  if (!inspection) return undefined;
  env.NODE_OPTIONS = rest;
  close();
  return { ...inspection, port: await firstFree(inspection) };
}

const attempts = 50;

async function firstFree({ host, port }: Inspection): Promise<number> {
  for (let candidate = port; candidate < port + attempts; candidate++) {
    if (await isFree(host, candidate)) return candidate;
  }
  return port;
}
