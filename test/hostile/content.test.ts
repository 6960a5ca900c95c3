import { describe, it } from 'vitest';
import { examine } from './examination.ts';
import { listed } from './hostile-server.ts';
import { hostileContent } from './servers/content.ts';

describe('a server that sends hostile lists, schemas or results', () => {
  // No request reaches its timeout, and an examination without end reaches that of the test.
  it.each(listed(hostileContent))('$name', (server) => examine(server, 60_000));
});
