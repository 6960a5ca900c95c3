import { describe, expect, it } from 'vitest';
import { examine } from './examination.ts';
import { type HostileServer, listed } from './hostile-server.ts';
import { hostileTransport, strayed } from './servers/transport.ts';

describe('servers whose answers never end, never begin, redirect or are not HTTP', () => {
  /** Of those that answer no initialize, each request would take as long. */
  const timeoutOf = ({ finds }: HostileServer) =>
    finds.every((rule) => rule === 'discovery.initialize') ? 1_000 : 5_000;
  it.concurrent.each(listed(hostileTransport))('$name', (server) => examine(server, timeoutOf(server)));

  it('cause no request to another host', () => expect(strayed).toBe(0));
});
