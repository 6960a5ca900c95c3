import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { develop } from '../../src/dev/develop.ts';
import { changesOf } from '../../src/dev/watch.ts';
import { scratch } from '../e2e/support.ts';
import { freePort } from '../ports.ts';
import { live } from '../runtime/support.ts';
import { generatedProject } from './project.ts';

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

test('a server that runs once, as for call, does not start again after a change of the source', async () => {
  const project = await generatedProject({ tool: 'get_price' });
  onTestFinished(() => project.remove());
  const { directory } = project;
  const port = await freePort();
  const environment = { ...live, PORT: String(port) };
  const states: string[] = [];
  const ending = new AbortController();
  const ended = develop({
    directory,
    server: async () => ({ url: `http://127.0.0.1:${port}/mcp`, environment }),
    nodeArguments: [],
    say: () => {},
    onState: ({ kind }) => void states.push(kind),
    stdout: 'ignore',
    until: ending.signal,
    once: true,
  });
  await vi.waitUntil(() => states.at(-1) === 'running', { timeout: 120_000 });
  const started = [...states];

  utimesSync(join(directory, 'src/main.ts'), 1, 1);
  await passPause();
  await passPause();
  // The watch has seen the change: it waits for no further one.
  expect(pauses).toEqual([]);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(states).toEqual(started);
  ending.abort();
  await ended;
});
