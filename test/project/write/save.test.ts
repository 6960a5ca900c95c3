import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saveJson } from '../../../packages/contract/src/command/save.ts';
import { directory } from '../directory.ts';

it('does not follow a link at the name of the temporary file', async () => {
  const root = directory();
  const secret = join(root, 'secret');
  writeFileSync(secret, 'mine');
  symlinkSync(secret, join(root, `report.json.${process.pid}.tmp`));
  await saveJson(join(root, 'report.json'), { a: 1 });
  expect(readFileSync(secret, 'utf8')).toBe('mine');
  expect(JSON.parse(readFileSync(join(root, 'report.json'), 'utf8'))).toEqual({ a: 1 });
  expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toHaveLength(1);
});

it('replaces a link at the path instead of writing through it', async () => {
  const root = directory();
  writeFileSync(join(root, 'secret'), 'mine');
  symlinkSync(join(root, 'secret'), join(root, 'report.json'));
  await saveJson(join(root, 'report.json'), { a: 1 });
  expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('mine');
});
