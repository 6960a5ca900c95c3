import { describe, expect, it } from 'vitest';
import { examine } from './examination.ts';
import { hostileTransport, strayed } from './servers/transport.ts';

describe(`${hostileTransport.length} servers whose answers never end, never begin, redirect or are not HTTP`, () => {
  it.concurrent.each(hostileTransport)('$name', examine);

  it('cause no request to another host', () => expect(strayed).toBe(0));
});
