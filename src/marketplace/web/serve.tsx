import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { streamSSE } from 'hono/streaming';
import { type Access, newSecret } from '../core/access.ts';
import { Checks } from '../core/checks.ts';
import { MarketError } from '../core/errors.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { askRoutes } from '../pages/ask.tsx';
import { checkRoutes } from '../pages/check.tsx';
import { disputeRoutes } from '../pages/disputes.tsx';
import { homeRoutes } from '../pages/home.tsx';
import { listingRoutes } from '../pages/listings.tsx';
import { registerRoutes } from '../pages/register.tsx';
import { trafficRoutes } from '../pages/traffic.tsx';
import { tryRoutes } from '../pages/try.tsx';
import { StatePart } from './layout.tsx';
import { Site } from './site.tsx';

export const defaultPort = 4400;

export interface Serving extends Access {
  close(): Promise<void>;
}

/**
 * Serves a marketplace on loopback.
 *
 * @param port undefined: the default, or the first free one after it.
 * @throws MarketError `PORT_TAKEN` if a requested port is in use.
 */
export async function serveMarketplace(
  marketplace: Marketplace,
  port?: number,
  secret: string = newSecret(),
): Promise<Serving> {
  const server = createServer();
  const ports =
    port === undefined ? [...Array.from({ length: 100 }, (_, more) => defaultPort + more), 0] : [port];
  for (const candidate of ports) {
    if (await listens(candidate)) break;
  }
  const address = server.address() as AddressInfo | null;
  if (!address) {
    const hint = 'Choose another with --port, or leave it out.';
    throw new MarketError('PORT_TAKEN', `port ${port} is in use`, hint);
  }
  const access = { url: `http://127.0.0.1:${address.port}`, secret };
  server.on('request', getRequestListener(appOf(marketplace, access).fetch));
  return {
    ...access,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function listens(candidate: number): Promise<boolean> {
    server.listen(candidate, '127.0.0.1');
    try {
      await once(server, 'listening');
      return true;
    } catch (error) {
      if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }
}

/** All routes of a marketplace. */
export function appOf(marketplace: Marketplace, access: Access): Site['app'] {
  const site = new Site(marketplace, access);
  const { app } = site;
  app.get('/events', (c) =>
    streamSSE(c, async (stream) => {
      const tell = (topic: string) => stream.writeSSE({ event: 'change', data: topic }).catch(() => {});
      marketplace.on('change', tell);
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      marketplace.off('change', tell);
    }),
  );
  app.get('/state.json', async (c) => c.json({ state: await marketplace.state() }));
  app.get('/state', async (c) => c.html(<StatePart state={await marketplace.state()} />));
  const lastCalls = new Map<string, number>();
  const checks = new Checks(marketplace);
  homeRoutes(site, lastCalls, checks);
  tryRoutes(site, lastCalls);
  checkRoutes(site, checks);
  for (const addRoutes of [registerRoutes, listingRoutes, askRoutes, disputeRoutes, trafficRoutes])
    addRoutes(site);
  return app;
}
