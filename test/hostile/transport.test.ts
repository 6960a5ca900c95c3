import { beforeAll, describe, expect, it } from 'vitest';
import { examine } from './examination.ts';
import { type HostileServer, listed } from './hostile-server.ts';
import { hostileTransport, strayed } from './servers/transport.ts';

describe('servers whose answers never end, never begin, redirect or are not HTTP', () => {
  const servers = listed(hostileTransport);
  const examinations = new Map<HostileServer, Promise<unknown>>();
  // They wait most of the time, so all begin at once.
  beforeAll(() => {
    for (const server of servers)
      examinations.set(
        server,
        examine(server, 60_000).catch((error: unknown) => error),
      );
  });

  it.each(servers)('$name', async (server) => {
    expect(await examinations.get(server)).not.toBeInstanceOf(Error);
  });

  it('cause no request to another host', () => expect(strayed).toBe(0));
});
