import { mkdirSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { liveStagings, makeStaging, staleStagings } from '../../../src/project/write/staging.ts';
import { directory } from '../directory.ts';

const day = 86_400;

it('a staging directory with a distant date is stale, whatever process it names', () => {
  const root = directory();
  const tag = basename(makeStaging(root)).split('-')[3];
  const planted = [`${'0'.repeat(8)}-1`, `${tag}-1`].flatMap((who, i) =>
    [day, -day].map((from, j) => {
      const path = join(root, `.create-market-mcp-${who}-${String(i * 2 + j).repeat(16)}`);
      mkdirSync(path);
      utimesSync(path, Date.now() / 1000 + from, Date.now() / 1000 + from);
      return path;
    }),
  );
  expect(staleStagings(root)).toEqual(expect.arrayContaining(planted));
  expect(liveStagings(root, '').filter((path) => planted.includes(path))).toEqual([]);
});

it('a staging directory of a running process, here or elsewhere, is kept', () => {
  const root = directory();
  const tag = basename(makeStaging(root)).split('-')[3];
  const live = [`${'0'.repeat(8)}-1`, `${tag}-1`].map((who) =>
    join(root, `.create-market-mcp-${who}-${'a'.repeat(16)}`),
  );
  for (const path of live) mkdirSync(path);
  expect(liveStagings(root, '')).toEqual(expect.arrayContaining(live));
});
