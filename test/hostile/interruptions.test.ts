import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Unreachable } from '../../packages/contract/src/wire/require-reachable.ts';
import { selfSigned } from '../../src/marketplace/core/key-set.ts';
import { createSteps, type RunningServer, serve } from '../broken/good-server.ts';
import { signer, trust } from '../broken/trust.ts';
import { defaultRules } from '../default-rules.ts';
import { listen } from '../listen.ts';
import { uncaughtDuring } from './uncaught.ts';

const everyRule = defaultRules.map(({ id }) => id).sort();
let server: RunningServer;

beforeAll(async () => {
  server = await serve(createSteps(trust));
});
afterAll(() => server.stop());

/** When to cut a connection: after a number of bytes from the client or from the server, by FIN or by RST. */
interface Cut {
  readonly up?: number;
  readonly down?: number;
  readonly by: 'end' | 'reset';
  /** The number of first connections that are not cut. */
  readonly spared: number;
}

const places = [
  { up: 0 },
  { up: 1 },
  { up: 300 },
  { up: 70_000 },
  { down: 1 },
  { down: 15 },
  { down: 120 },
  { down: 400 },
];
const cuts: readonly Cut[] = places.flatMap((place) =>
  (['end', 'reset'] as const).flatMap((by) => [0, 3].map((spared) => ({ ...place, by, spared }))),
);

it.each(cuts.map((cut) => [JSON.stringify(cut), cut] as const))(
  'a connection that is cut at any moment: %s',
  async (_, cut) => {
    const url = await between(server.url, cut);
    const uncaught = await uncaughtDuring(async () => {
      const outcome = await outcomeOf(url, 1_000);
      if (outcome instanceof Unreachable) return;
      expect(idsIn(outcome)).toEqual(everyRule);
    });
    expect(uncaught).toEqual([]);
  },
);

describe('a non-HTTP answer', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const certificate = selfSigned(privateKey).toString('base64');

  it('TLS to a plain port is unreachable, and the message suggests http', async () => {
    const outcome = await outcomeOf(server.url.replace('http:', 'https:'));
    expect(outcome).toBeInstanceOf(Unreachable);
    expect((outcome as Unreachable).message).toContain('if the server speaks plain HTTP');
  });

  it('plain HTTP to a TLS port is unreachable', async () => {
    const cert = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`;
    const secure = createSecureServer({ key, cert }, (_, response) => response.end());
    const port = await listen(secure);
    expect(await outcomeOf(`http://127.0.0.1:${port}/mcp`)).toBeInstanceOf(Unreachable);
    const distrusted = await outcomeOf(`https://127.0.0.1:${port}/mcp`);
    expect((distrusted as Unreachable).message).toMatch(/SELF_SIGNED|CERT/);
  });

  it('an unrequested protocol upgrade is not an answer', async () => {
    const switching = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello'),
      );
    });
    const port = await listen(switching);
    const uncaught = await uncaughtDuring(async () => {
      expect(await outcomeOf(`http://127.0.0.1:${port}/mcp`)).toBeInstanceOf(Unreachable);
    });
    expect(uncaught).toEqual([]);
  });
});

/** The rules in a report, each once. */
function idsIn({ rules }: Report): readonly string[] {
  return rules.map(({ id }) => id).sort();
}

function outcomeOf(url: string, timeoutMs = 60_000): Promise<Report | Unreachable> {
  return runContract({ url, profile: context, signer, timeoutMs }).catch((error: unknown) => {
    if (error instanceof Unreachable) return error;
    throw error;
  });
}

/** A proxy to a server that cuts connections. */
async function between(target: string, { up = Infinity, down = Infinity, by, spared }: Cut): Promise<string> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    connections += 1;
    const isCut = connections > spared;
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    const cut = () => {
      if (by === 'reset') client.resetAndDestroy();
      else client.destroySoon();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    let sent = 0;
    let received = 0;
    if (isCut && up === 0) return cut();
    client.on('data', (chunk) => {
      sent += chunk.length;
      if (isCut && sent >= up) cut();
      else upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      const left = down - received;
      received += chunk.length;
      if (!isCut || received < down) return client.write(chunk);
      client.write(chunk.subarray(0, left));
      cut();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroySoon());
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    relay.close();
  });
  return `http://127.0.0.1:${(relay.address() as AddressInfo).port}/mcp`;
}
