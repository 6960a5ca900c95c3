import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { bins, scaffold, scratch, tree } from './support.ts';

const root = scratch();

it('a self-check that is ended ends its servers', async () => {
  const { directory } = await scaffold(['checked', '--tool', 'get_price'], { cwd: root });
  const main = join(directory, 'dist/src/main.js');
  writeFileSync(
    main,
    // It never listens: the check cannot have ended when the signal arrives.
    `import { writeFileSync } from 'node:fs';
    writeFileSync(process.env.MARK, '');
    await new Promise(() => setInterval(() => {}, 1_000));
    ${readFileSync(main, 'utf8')}`,
  );
  for (const [signal, status] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const mark = join(root, signal);
    const check = spawn(process.execPath, [bins.market, 'check', '--no-build'], {
      cwd: directory,
      env: { ...process.env, MARK: mark },
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(check, 'exit');
    await vi.waitUntil(() => existsSync(mark), 120_000);
    check.kill(signal);
    expect(await ended).toEqual([status, null]);
    // All its descendants belong to its process group.
    await vi.waitFor(() => expect(() => process.kill(-Number(check.pid), 0)).toThrow('ESRCH'), 120_000);
  }
});

it('Ctrl-C stops busy code, and nothing is written', async () => {
  // Seconds of work: a busy machine may deliver the signal late.
  const output = Array.from({ length: 30 }, (_, i) => ({
    name: `value_${i}`,
    type: 'number',
    required: true,
    description: `Value ${i}`,
  }));
  const tools = Array.from({ length: 1_000 }, (_, i) => ({
    name: `get_metric_${i}`,
    description: `Returns metric ${i} of a chain. Use it when a question asks for metric ${i}.`,
    input: [],
    output,
  }));
  const child = spawn(process.execPath, [bins.create, 'big', '--spec', '-', '--yes', '--no-install'], {
    cwd: root,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  // More than a pipe buffer: when all of it is written, the program has started to read.
  child.stdin.end(JSON.stringify(tools).padEnd(4_000_000));
  await once(child.stdin, 'finish');
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  expect(tree(join(root, 'big')).size).toBe(0);
});
