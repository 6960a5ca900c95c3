import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { repository } from '../e2e/support.ts';
import { directory } from '../project/directory.ts';

const main = join(directory(), 'main.mjs');

beforeAll(async () => {
  const command = join(repository, 'packages/contract/src/command');
  const virtual = '\0main';
  const text = `
    export { runMain } from ${JSON.stringify(join(command, 'run-main.ts'))};
    export * from ${JSON.stringify(join(command, 'signals.ts'))};
    export * from ${JSON.stringify(join(repository, 'src/system/processes.ts'))};`;
  await build({
    input: virtual,
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'main',
        resolveId: (id) => (id === virtual ? id : null),
        load: (id) => (id === virtual ? text : null),
      },
    ],
    output: { file: main, codeSplitting: false },
  });
});

/** How a program ends whose one command consists of these lines. */
function ran(command: string, children = '{ watch: watchChildren, end: endChildren }') {
  const file = join(directory(), 'program.mjs');
  writeFileSync(
    file,
    `import { spawn, spawnSync } from 'node:child_process';
    import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
    import { childEnded, childStarted, childStarting, endChildren, onInterrupted, runMain, untilSignal, watchChildren } from ${JSON.stringify(main)};
    /** Returns when the signal has arrived; the event loop has not seen it yet. */
    const send = (name) => spawnSync('kill', ['-' + name, String(process.pid)]);
    let isWorking = true;
    const work = async () => { ${command} };
    const run = (action) => ({ parseAsync: () => action(async () => { await work(); isWorking = false; return 0; }) });
    await runMain({ build: (action) => ({ tree: run(action), args: [] }), children: ${children} }, []);`,
  );
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  return { status, signal, stdout, stderr };
}

/** Children that take longer to end than the command. */
const slow = `{
  watch: (listener) => listener(),
  async end() {
    while (isWorking) await turn();
    for (let i = 0; i < 100; i++) await turn();
  },
}`;

test.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
])(
  '%s that arrives when one child has ended and before the next one starts ends the program',
  (name, status) => {
    const ended = ran(
      `childStarting(); send('${name}'); await childEnded(undefined); childStarting(); await wait(60_000);`,
    );
    expect(ended).toMatchObject({ status, signal: null });
  },
);

test('a signal between two steps, when no child runs, is reported before the program ends', () => {
  const told = "onInterrupted(() => console.log('told'));";
  expect(ran(`${told} send('SIGTERM'); await wait(60_000);`)).toMatchObject({
    status: 143,
    stdout: 'told\n',
  });
  const removed = `${told} onInterrupted(undefined); send('SIGTERM'); await wait(60_000);`;
  expect(ran(removed)).toMatchObject({ status: 143, stdout: '' });
});

test('the command that ends meanwhile does not decide the exit code', () => {
  expect(ran(`send('SIGINT'); await turn(); await turn();`, slow)).toMatchObject({ status: 130 });
  const bug = `setTimeout(() => { throw new Error('a bug'); });
    await new Promise((resolve) => process.once('uncaughtExceptionMonitor', resolve));`;
  expect(ran(bug, slow)).toMatchObject({ status: 70, stderr: expect.stringContaining('a bug') });
});

test('a command that waits for a signal ends by itself', () => {
  const waited = `await untilSignal((signal) => {
      const timer = setInterval(() => {}, 1_000);
      send('SIGINT');
      return new Promise((resolve) => signal.addEventListener('abort', resolve)).finally(() => clearInterval(timer));
    });
    console.log('waited');`;
  expect(ran(waited)).toMatchObject({ status: 0, stdout: 'waited\n' });
  expect(ran(`${waited} send('SIGINT'); await wait(60_000);`)).toMatchObject({
    status: 130,
    stdout: 'waited\n',
  });
});

test('a child that the command does not wait for ends with it', () => {
  const child =
    "const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }); childStarting(); childStarted(child.pid);";
  const { status, stdout } = ran(`${child} console.log(child.pid);`);
  expect(status).toBe(0);
  expect(() => process.kill(Number(stdout), 0)).toThrow('ESRCH');
});

test('without children, busy code is stopped', () => {
  expect(ran("send('SIGINT'); for (;;);")).toMatchObject({ status: null, signal: 'SIGINT' });
});
