import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saveJson } from '../../src/project/save.ts';
import { directory } from './directory.ts';

it('a link that was planted at the name of the unfinished file is not followed', async () => {
  const root = directory();
  const secret = join(root, 'secret');
  writeFileSync(secret, 'mine');
  symlinkSync(secret, join(root, `report.json.${process.pid}.tmp`));
  await saveJson(join(root, 'report.json'), { a: 1 });
  expect(readFileSync(secret, 'utf8')).toBe('mine');
  expect(JSON.parse(readFileSync(join(root, 'report.json'), 'utf8'))).toEqual({ a: 1 });
  expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toHaveLength(1);
});

it('a link at the name itself is replaced, not written through', async () => {
  const root = directory();
  writeFileSync(join(root, 'secret'), 'mine');
  symlinkSync(join(root, 'secret'), join(root, 'report.json'));
  await saveJson(join(root, 'report.json'), { a: 1 });
  expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('mine');
});
