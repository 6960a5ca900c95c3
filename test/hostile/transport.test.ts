import { describe, expect, it } from 'vitest';
import { examine } from './examination.ts';
import { listed } from './hostile-server.ts';
import { hostileTransport, strayed } from './servers/transport.ts';

describe('servers whose answers never end, never begin, redirect or are not HTTP', () => {
  it.concurrent.each(listed(hostileTransport))('$name', (server) => examine(server, 60_000));

  it('cause no request to another host', () => expect(strayed).toBe(0));
});
