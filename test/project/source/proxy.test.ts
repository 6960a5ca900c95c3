import { beforeEach, expect, it, vi } from 'vitest';
import { readDocumentText } from '../../../src/project/read/read-document.ts';
import { listServer } from '../../../src/project/source/mcp-server.ts';
import { freePort } from '../../ports.ts';
import { sendCommand } from './command.ts';

const requests: readonly [flag: string, send: (url: string) => Promise<unknown>][] = [
  ['--from-openapi', (url) => readDocumentText(`${url}/api.json`)],
  ['--from-request', (url) => sendCommand(`curl ${url}/prices`)],
  ['--from-url', (url) => listServer(`${url}/mcp`, undefined)],
];

/** The hint of the error that ends a request to a port without a program. */
async function hintOf(send: (url: string) => Promise<unknown>): Promise<string> {
  const error = await send(`http://127.0.0.1:${await freePort()}`).catch((thrown: unknown) => thrown);
  return (error as { hint: string }).hint;
}

beforeEach(() => {
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'])
    vi.stubEnv(name, undefined);
  return () => vi.unstubAllEnvs();
});

it.each(requests)('%s names a proxy that its request without an answer did not use', async (_, send) => {
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9');
  expect(await hintOf(send)).toContain(
    'The program connects directly: it does not use the proxy in HTTPS_PROXY.',
  );
});

it.each(requests)('%s names no proxy if none is set', async (_, send) => {
  expect(await hintOf(send)).not.toContain('proxy');
});
