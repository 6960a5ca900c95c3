import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createBatch, createLog } from '../../packages/runtime/src/server/log.ts';

it('hands each line to its host at once', () => {
  const lines: string[] = [];
  const log = createLog((line) => lines.push(line));
  log('one', { detail: 'a\nb' });
  log('two');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'one', detail: 'a\nb' },
    { event: 'two' },
  ]);
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
});

it('counts the lines that a slow reader misses', () => {
  const lines: string[] = [];
  let keepsUp = true;
  const log = createLog(
    (line) => lines.push(line),
    () => keepsUp,
  );
  log('one');
  keepsUp = false;
  for (let time = 0; time < 3; time++) log('missed');
  keepsUp = true;
  for (let time = 0; time < 2; time++) log('later');
  expect(lines.map((line) => JSON.parse(line).dropped)).toEqual([undefined, 3, undefined]);
});

it('a batch writes the lines of one turn together, and the rest when it is flushed', async () => {
  const writes: string[] = [];
  const batch = createBatch((text) => writes.push(text));
  for (const line of ['a\n', 'b\n']) batch.add(line);
  expect(writes).toEqual([]);
  await nextTurn();
  batch.add('c\n');
  batch.flush();
  batch.flush();
  await nextTurn();
  expect(writes).toEqual(['a\nb\n', 'c\n']);
});

it('publishes each line in the context of its request, though they are written together', async () => {
  const requests = new AsyncLocalStorage<number>();
  const published: (readonly [unknown, number | undefined])[] = [];
  const take = (line: unknown) => published.push([line, requests.getStore()]);
  subscribe('market-mcp-runtime:log', take);
  onTestFinished(() => {
    unsubscribe('market-mcp-runtime:log', take);
  });
  const writes: (readonly [string, number | undefined])[] = [];
  const log = createLog(createBatch((text) => writes.push([text, requests.getStore()])).add);
  for (const request of [1, 2]) requests.run(request, log, 'call', { request });
  await nextTurn();
  expect(published.map(([, request]) => request)).toEqual([1, 2]);
  expect(writes).toEqual([[published.map(([line]) => line).join(''), 1]]);
});
