import { describe, it } from 'vitest';
import { examineBounded } from './examination.ts';
import { listed } from './hostile-server.ts';
import { hostileContent } from './servers/content.ts';

describe('a server that sends hostile lists, schemas or results', () => {
  it.each(listed(hostileContent))('$name', examineBounded);
});
