import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { streamSSE } from 'hono/streaming';
import { CommandError } from 'market-mcp-contract/command';
import type { Marketplace } from '../core/marketplace.ts';
import { type Access, newSecret } from '../core/page-access.ts';
import { checkRoutes } from '../pages/check.tsx';
import { disputeRoutes } from '../pages/disputes.tsx';
import { homeRoutes } from '../pages/home.tsx';
import { listingRoutes } from '../pages/listings.tsx';
import { registerRoutes } from '../pages/register.tsx';
import { trafficRoutes } from '../pages/traffic.tsx';
import { tryRoutes } from '../pages/try.tsx';
import { Site } from './site.tsx';

export const defaultPort = 4400;

export interface Serving extends Access {
  close(): Promise<void>;
}

/**
 * Serves a marketplace on loopback.
 *
 * @param port undefined: the default, or the first free one after it.
 * @throws CommandError `PORT_TAKEN` if a requested port is in use.
 */
export async function serveMarketplace(
  marketplace: Marketplace,
  port?: number,
  secret: string = newSecret(),
): Promise<Serving> {
  let servers: readonly Server[] = [];
  for (const candidate of candidatesFor(port)) {
    servers = await listenAt(candidate);
    if (servers.length > 0) break;
  }
  const [server] = servers;
  if (!server) {
    const hint = 'Choose another with --page-port, or leave it out.';
    throw new CommandError('PORT_TAKEN', `port ${port} is in use`, hint);
  }
  const access = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret };
  const listener = getRequestListener(appOf(marketplace, access).fetch);
  for (const httpServer of servers) httpServer.on('request', listener);
  return { ...access, close: () => closeAll(servers) };
}

/** 0 is a free port of 127.0.0.1, which may be in use at ::1. */
const anyPort = [0, 0, 0, 0];

function candidatesFor(port: number | undefined): readonly number[] {
  if (port === undefined) {
    return [...Array.from({ length: 100 }, (_, offset) => defaultPort + offset), ...anyPort];
  }
  return port === 0 ? anyPort : [port];
}

/**
 * Listens on each loopback address of this machine. Browsers look for a name under `.localhost` also at ::1: a program of
 * another user that listened there would be sent the secret.
 *
 * @returns no server if the port is in use at one of them.
 */
async function listenAt(port: number): Promise<readonly Server[]> {
  const servers: Server[] = [];
  let chosenPort = port;
  for (const address of ['127.0.0.1', '::1']) {
    const server = createServer().listen(chosenPort, address);
    try {
      await once(server, 'listening');
      servers.push(server);
      chosenPort = (server.address() as AddressInfo).port;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const hasNoIpv6 = address === '::1' && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code);
      if (hasNoIpv6) continue;
      await closeAll(servers);
      if (['EADDRINUSE', 'EACCES'].includes(code)) return [];
      throw error;
    }
  }
  return servers;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  const closings = servers.map((server) => {
    server.closeAllConnections();
    server.close();
    return once(server, 'close');
  });
  await Promise.all(closings);
}

/** All routes of a marketplace. */
export function appOf(marketplace: Marketplace, access: Access): Site['app'] {
  const site = new Site(marketplace, access);
  const { app } = site;
  app.get('/events', (c) =>
    streamSSE(c, async (stream) => {
      // A write fails after the page was closed; then `onAbort` ends the stream.
      const tell = (topic: string) => stream.writeSSE({ event: 'change', data: topic }).catch(() => {});
      marketplace.on('change', tell);
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      marketplace.off('change', tell);
    }),
  );
  // Every page shows the state.
  site.page(
    '/state',
    'Server',
    async () => ({ state: await marketplace.state() }),
    () => null,
  );
  homeRoutes(site);
  tryRoutes(site);
  checkRoutes(site);
  registerRoutes(site);
  listingRoutes(site);
  disputeRoutes(site);
  trafficRoutes(site);
  return app;
}
