import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { changesBelow } from './watch.ts';

const compiler = path.join(
  path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

/**
 * Runs the built server and, after each change below `src`, compiles and starts it anew; while the source does not
 * compile, the last good build stays up. Resolves after SIGINT, SIGTERM or SIGHUP, when no process of it is left.
 *
 * @param directory the project's
 * @param env environment of the server
 */
export async function develop(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => ending.abort());

  const run = (file: string) =>
    spawn(process.execPath, [file], { cwd: directory, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const start = () =>
    run('dist/src/main.js').on('exit', (code) => {
      if (code) console.error(`The server ended with code ${code}; waiting for a change.`);
    });

  let server = start();
  for await (const _ of changesBelow(path.join(directory, 'src'), ending.signal)) {
    const [code] = await once(run(compiler), 'exit');
    if (ending.signal.aborted) break;
    if (code !== 0) {
      console.error('This does not compile: the last good build stays up.');
      continue;
    }
    await stop(server);
    server = start();
  }
  await stop(server);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
