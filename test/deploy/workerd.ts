import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { afterAll } from 'vitest';
import { installOnce } from '../e2e/install-once.ts';

/** A Worker that runs here. */
export interface RunningWorker {
  readonly origin: string;
  /** What it has logged. */
  readonly lines: readonly string[];
  /** What workerd itself has reported. */
  errors(): string;
  stop(): Promise<void>;
}

/**
 * The last wrangler that runs on Node 20, with a newer workerd: its own ends event streams at once. They have 200 MB, so only these
 * tests install them. The registry lacks the packages of some later versions of workerd for macOS and Windows.
 */
export const wranglerModules = () => {
  const manifest = { dependencies: { wrangler: '4.86.0' }, overrides: { workerd: '1.20261117.1' } };
  return installOnce('wrangler', JSON.stringify(manifest));
};

/** What `wrangler.jsonc` says, which is JSON with comments. */
function wranglerConfig(project: string) {
  const text = readFileSync(join(project, 'wrangler.jsonc'), 'utf8').replace(/^\s*\/\/.*$/gm, '');
  return JSON.parse(text) as {
    readonly compatibility_date: string;
    readonly compatibility_flags: readonly string[];
    readonly vars: { readonly [name: string]: string };
  };
}

/** Bundles the Worker of a project as a deployment does. Returns the directory of `worker.js`. */
export async function bundled(project: string, modules: string): Promise<string> {
  const directory = join(project, 'bundled');
  const wrangler = join(modules, 'wrangler/bin/wrangler.js');
  await execa(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', directory], {
    cwd: project,
    env: { WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
  });
  return directory;
}

const started: ChildProcess[] = [];
afterAll(() => {
  for (const workerd of started) workerd.kill('SIGKILL');
});

/** Starts a bundled Worker with the settings of the project's `wrangler.jsonc` and further variables. */
export async function startWorker(
  project: string,
  bundle: string,
  modules: string,
  variables: { readonly [name: string]: string },
): Promise<RunningWorker> {
  const { compatibility_date, compatibility_flags, vars } = wranglerConfig(project);
  const environment = { ...vars, ...variables };
  const bindings = Object.entries(environment).map(
    ([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)})`,
  );
  const config = join(bundle, `${started.length}.capnp`);
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .server),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const server :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${compatibility_date}",
  compatibilityFlags = ${JSON.stringify(compatibility_flags)},
  bindings = [${bindings.join(', ')}],
);
`,
  );
  const workerd: ChildProcess = spawn(binaryOf(modules), ['serve', '--control-fd=3', config], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  started.push(workerd);
  const [, stdout, errors, control] = workerd.stdio as unknown as [null, Readable, Readable, Readable];
  const lines: string[] = [];
  createInterface(stdout).on('line', (line) => lines.push(line));
  let said = '';
  errors.on('data', (text) => {
    said += text;
  });
  const ended = once(workerd, 'exit');
  const failed = ended.then(() => Promise.reject(new Error(`workerd ended: ${said}`)));
  const [line] = await Promise.race([once(createInterface(control), 'line'), failed]);
  return {
    origin: `http://127.0.0.1:${JSON.parse(line).port}`,
    lines,
    errors: () => said,
    async stop() {
      workerd.kill('SIGKILL');
      await ended;
    },
  };
}

/** workerd's own binary: its package starts it through a script of Node. */
function binaryOf(modules: string): string {
  const { resolve } = createRequire(join(dirname(modules), 'node_modules/workerd/package.json'));
  return resolve(
    `@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : process.arch}/bin/workerd`,
  );
}
