import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { bins, scaffold, scratch, tree } from './support.ts';

const root = scratch();

it('a self-check that is ended takes its servers with it', async () => {
  const { directory } = await scaffold(['checked', '--tool', 'get_price'], { cwd: root });
  for (const [signal, status] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const check = spawn(process.execPath, ['dist/self-check/main.js', '--progress'], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const ended = once(check, 'exit');
    await once(check.stderr, 'data');
    check.kill(signal);
    expect(await ended).toEqual([status, null]);
    // All that it started is of its process group.
    await vi.waitFor(() => expect(() => process.kill(-Number(check.pid), 0)).toThrow('ESRCH'), 20_000);
  }
});

it('Ctrl-C stops busy code, and nothing is written', async () => {
  const tools = Array.from({ length: 900 }, (_, i) => ({
    name: `get_metric_${i}`,
    description: `Returns metric ${i} of a chain. Use it when a question asks for metric ${i}.`,
    input: [],
    output: [{ name: 'value', type: 'number', required: true, description: 'The value' }],
  }));
  const child = spawn(process.execPath, [bins.create, 'big', '--spec', '-', '--yes', '--no-install'], {
    cwd: root,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  // More than a pipe holds: once it is through, the program has begun to read.
  child.stdin.end(JSON.stringify(tools).padEnd(4_000_000));
  await once(child.stdin, 'finish');
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  expect(tree(join(root, 'big')).size).toBe(0);
});
