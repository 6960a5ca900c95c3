import { describe, it } from 'vitest';
import { examineBounded } from './examination.ts';
import { hostileContent } from './servers/content.ts';

describe(`${hostileContent.length} servers that send hostile lists, schemas and results`, () => {
  it.each(hostileContent)('$name', examineBounded);
});
