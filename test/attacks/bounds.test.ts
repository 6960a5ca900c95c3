import { createServer, type RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listen } from '../listen.ts';
import { buildProject } from '../runtime/built.ts';
import { serveBuilt } from '../runtime/serve-built.ts';
import { audience, issuer, publicKey } from '../runtime/support.ts';
import { startVictim } from './victim.ts';

let project: ReturnType<typeof buildProject>;
beforeAll(() => {
  project = buildProject();
});
afterAll(() => project.remove());

const within = { timeout: 120_000 };

describe('an endless key set', () => {
  const endless: RequestListener = (_, response) => {
    const block = Buffer.alloc(1_048_576, ' ');
    const write = () => {
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', write).on('error', () => {});
    write();
  };
  const packed = gzipSync(Buffer.alloc(200_000_000, ' '));
  const bomb: RequestListener = (_, response) => {
    response.setHeader('content-encoding', 'gzip').end(packed);
  };
  const slow: RequestListener = (_, response) => {
    const timer = setInterval(() => response.write(' '), 10);
    response.once('close', () => clearInterval(timer));
  };

  test.each([
    ['fast', endless, 'more than 65536 characters'],
    ['compressed', bomb, 'more than 65536 characters'],
    ['slow', slow, 'aborted due to timeout'],
  ])('%s: the server keeps serving within its memory', async (_, listener, reason) => {
    const platform = createServer(listener);
    const port = await listen(platform);
    const victim = await startVictim(project.directory, {
      PLATFORM_PUBLIC_KEY: '',
      PLATFORM_JWKS_URL: `http://127.0.0.1:${port}/keys`,
    });
    try {
      await vi.waitUntil(() => victim.warnings.some((text) => text.includes(reason)), within);
      await delay(500);
      expect(victim.isAlive()).toBe(true);
      expect(victim.peakMegabytes()).toBeLessThan(150);
      expect((await fetch(`http://127.0.0.1:${victim.port}/health`)).status).toBe(200);
    } finally {
      await victim.kill();
    }
  });
});

test('a log reader that stops reading loses only log lines, and their number is logged', async () => {
  const { child, events, client } = await serveBuilt(project.directory, {
    HOST: '127.0.0.1',
    PORT: '0',
    PLATFORM_ISSUER: issuer,
    PLATFORM_AUDIENCE: audience,
    PLATFORM_PUBLIC_KEY: publicKey,
  });
  // Outside production, a call without a token is logged in a line of at least 100 bytes.
  const call = () => client.request('tools/call', { name: 'get_price' });
  child.stdout.pause();
  // 800 kB: the pipe and the buffers of both processes hold some 460 kB.
  const sent = 7_000;
  for (let asked = 0; asked < sent; asked += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, call));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  }
  child.stdout.resume();
  // A slow reader can lose lines more than once.
  const lost = () => events().reduce((sum, { dropped = 0 }) => sum + dropped, 0);
  await vi.waitUntil(async () => {
    await call();
    return lost() + events().filter(({ event }) => event === 'refused').length > sent;
  }, within);
  expect(lost()).toBeGreaterThan(100);
});
