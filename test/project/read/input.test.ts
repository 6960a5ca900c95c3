import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readInput } from '../../../packages/contract/src/command/read-input.ts';
import { directory } from '../directory.ts';

const file = (name: string) => join(directory(), name);

it('reads a file', async () => {
  const spec = file('spec.json');
  writeFileSync(spec, '{"a": "é"}');
  expect(await readInput(spec)).toBe('{"a": "é"}');
});

it('reports the line that is not UTF-8', async () => {
  const spec = file('spec.json');
  writeFileSync(
    spec,
    Buffer.concat([Buffer.from('{"a": "é",\n"b": "'), Buffer.from([0xe9]), Buffer.from('"}')]),
  );
  await expect(readInput(spec)).rejects.toMatchObject({
    code: 'NOT_READABLE',
    message: `${spec}:2: the text is not UTF-8`,
  });
});

it('does not wait for a pipe or read a device', async () => {
  const pipe = file('pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', directory()]) {
    await expect(readInput(path)).rejects.toMatchObject({
      code: 'NOT_READABLE',
      message: expect.stringContaining('not a regular file'),
    });
  }
});

it('refuses a missing file and one over the limit', async () => {
  const huge = file('huge.json');
  writeFileSync(huge, '');
  truncateSync(huge, 2 ** 40);
  await expect(readInput(huge)).rejects.toThrow('20,000,000 bytes');
  await expect(readInput(file('none'))).rejects.toThrow('no such');
});
