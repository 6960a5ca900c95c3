import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { CheckReport } from '../../packages/contract/src/check/check-report.ts';
import { bins, run } from '../e2e/support.ts';
import { freePort } from '../ports.ts';
import type { ForeignServer } from './servers.ts';

/** The findings of `market-mcp check` about a third-party server. */
export interface Examined {
  readonly server: ForeignServer;
  /** `name version` of its packages. */
  readonly packages: readonly string[];
  readonly report: CheckReport;
}

/** Timeout of each request in milliseconds: some tools of these servers take ten seconds, others never end. */
const timeoutMs = 20_000;

/**
 * Starts a third-party server, runs the built `market-mcp check` on its URL and ends it. The result must match what is known of
 * it.
 */
export async function examine(server: ForeignServer, place: string): Promise<Examined> {
  const { url, stop } = await started(server, place, await server.start(place));
  try {
    const { headers } = await initialize(url);
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    expect(isStream ? 'SSE' : 'JSON').toBe(server.answers);
    expect(headers.has('mcp-session-id')).toBe(server.hasSessions);
    const args = [bins.market, 'check', url, '--json', '--call', '*', '--timeout', String(timeoutMs)];
    const { status, stdout, stderr } = await run(process.execPath, args);
    expect({ status, stderr }).toEqual({ status: server.dies ? 3 : 1, stderr: '' });
    const report: CheckReport = JSON.parse(stdout);
    const failed = report.rules.filter((rule) => rule.status === 'fail').map(({ id }) => id);
    expect(failed).toEqual(expect.arrayContaining([...server.fails]));
    const names = [server.package, ...(server.wraps ? [server.wraps] : [])];
    const packages = server.source ? [server.source] : names.map((name) => titleOf(server, name));
    return { server, packages, report };
  } finally {
    await stop();
  }
}

export async function started(server: ForeignServer, place: string, texts: readonly string[]) {
  const port = await freePort();
  const args = texts.map((text) => text.replace('$PORT', String(port)));
  const child = spawn(process.execPath, ['--import', join(import.meta.dirname, 'loopback.js'), ...args], {
    cwd: place,
    env: { PATH: process.env.PATH, PORT: String(port), ...server.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // its own process group, so that its children are ended with it
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-2_000);
    });
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    process.kill(-Number(child.pid), 'SIGKILL');
    await exit;
  };
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let attempt = 0; attempt < 3_000; attempt++) {
    if (child.exitCode !== null) break;
    const answer = await initialize(url).catch(() => undefined);
    if (answer) return { url, stop };
    await setTimeout(50);
  }
  await stop();
  throw new Error(`${server.name} did not start\n${output}`);
}

async function initialize(url: string): Promise<Response> {
  const params = {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  };
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await answer.body?.cancel();
  return answer;
}

function titleOf({ modules }: ForeignServer, directory: string): string {
  const { name, version } = JSON.parse(readFileSync(join(modules, directory, 'package.json'), 'utf8'));
  return `${name} ${version}`;
}
