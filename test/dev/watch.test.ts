import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { changesOf } from '../../src/dev/watch.ts';
import { scratch } from '../e2e/support.ts';

const pauses = vi.hoisted((): (() => void)[] => []);
vi.mock('node:timers/promises', () => ({
  setTimeout: () => new Promise<void>((resolve) => pauses.push(resolve)),
}));

/** Lets the pause that is waited for end. */
async function passPause(): Promise<void> {
  const end = await vi.waitUntil(() => pauses.shift(), { timeout: 60_000 });
  end();
}

test('a file that is emptied and then written is one change', async () => {
  const directory = scratch();
  mkdirSync(join(directory, 'src'));
  const write = (text: string, second: number) => {
    const file = join(directory, 'src/main.ts');
    writeFileSync(file, text);
    utimesSync(file, second, second);
  };
  write('one', 1);
  const ending = new AbortController();
  let changes = 0;
  const watching = (async () => {
    for await (const _ of changesOf(directory, ending.signal)) changes += 1;
  })();
  await passPause();
  write('', 2);
  await passPause();
  write('two', 3);
  await passPause();
  expect(changes).toBe(0);
  for (let polls = 0; polls < 4; polls++) await passPause();
  expect(changes).toBe(1);
  ending.abort();
  for (const end of pauses) end();
  await watching;
});
