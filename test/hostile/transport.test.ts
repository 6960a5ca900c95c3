import { describe, expect, it } from 'vitest';
import { boundMs, examine } from './examination.ts';
import { hostileTransport, strayed } from './servers/transport.ts';

describe(`${hostileTransport.length} servers whose answers never end, never begin, lead elsewhere or are none`, () => {
  it.concurrent.each(hostileTransport)('$name', { timeout: boundMs }, examine);

  it('send nobody to another host', () => expect(strayed).toBe(0));
});
