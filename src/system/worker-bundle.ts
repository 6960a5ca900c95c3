import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapping } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError } from 'market-mcp-contract/command';
import { packageManagerOf } from './detect.ts';
import { runProgram } from './processes.ts';

/** A Worker as wrangler uploads it, as files on this machine. */
export interface BundledWorker {
  /** In the project; what is in it may be overwritten. */
  readonly directory: string;
  /** The program that runs it: the one that Cloudflare runs. */
  readonly workerd: string;
  /** The main one first. */
  readonly modules: readonly WorkerModule[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  /** Those of its configuration, as text. */
  readonly variables: { readonly [name: string]: string };
  /** Names of bindings that a machine without Cloudflare does not have, such as databases. */
  readonly missing: readonly string[];
}

interface WorkerModule {
  readonly name: string;
  /** The field of workerd's configuration. */
  readonly type: string;
  /** Below the directory. */
  readonly path: string;
}

/** What wrangler uploads beside the modules, as far as it is read here. */
interface Metadata {
  readonly main_module: string;
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
  readonly bindings: readonly {
    readonly name: string;
    readonly type: string;
    readonly text?: string;
    readonly json?: unknown;
  }[];
}

const sourceMap = 'source-map.json';

const moduleTypes: { readonly [contentType: string]: string } = {
  'application/javascript+module': 'esModule',
  'application/javascript': 'commonJsModule',
  'application/wasm': 'wasm',
  'application/json': 'json',
  'text/plain': 'text',
  'application/octet-stream': 'data',
};

/**
 * Bundles the Worker of a project with the project's wrangler, which does all of a deployment but the upload.
 *
 * @throws CommandError `NO_WRANGLER` if the project has none, `WORKER_NOT_BUILT` with the last lines
 */
export async function bundleWorker(directory: string): Promise<BundledWorker> {
  const wrangler = wranglerOf(directory);
  const target = join(directory, 'dist/worker');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const upload = join(target, 'upload.form');
  const args = [join(wrangler, 'bin/wrangler.js'), 'deploy', '--dry-run', '--outfile', upload];
  const { exitCode, lastLines } = await runProgram(process.execPath, args, {
    cwd: directory,
    // An author's NODE_ENV would become part of the Worker.
    env: { WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', NODE_ENV: undefined },
  });
  const hint = `Correct what wrangler reports. In ${directory}: npx wrangler deploy --dry-run`;
  if (exitCode !== 0 || !existsSync(upload))
    throw new CommandError('WORKER_NOT_BUILT', 'wrangler could not bundle the Worker', hint, {
      details: lastLines,
    });
  const form = await formIn(upload);
  const metadata: Metadata = JSON.parse(String(form.get('metadata')));
  const modules: WorkerModule[] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') continue;
    const type = moduleTypes[value.type];
    const path = type === undefined ? sourceMap : `module-${modules.length}`;
    writeFileSync(join(target, path), new Uint8Array(await value.arrayBuffer()));
    if (type === undefined) continue;
    const module = { name, type, path };
    if (name === metadata.main_module) modules.unshift(module);
    else modules.push(module);
  }
  const ownBindings = metadata.bindings.filter(({ type }) => type === 'plain_text' || type === 'json');
  const variables = ownBindings.map(({ name, text, json }) => [name, text ?? JSON.stringify(json)]);
  const missing = metadata.bindings.filter(
    (binding) => !ownBindings.includes(binding) && binding.type !== 'inherit',
  );
  return {
    directory: target,
    workerd: await workerdOf(wrangler),
    modules,
    compatibilityDate: metadata.compatibility_date,
    compatibilityFlags: metadata.compatibility_flags ?? [],
    variables: Object.fromEntries(variables),
    missing: missing.map(({ name }) => name),
  };
}

function wranglerOf(directory: string): string {
  try {
    return dirname(createRequire(join(directory, 'package.json')).resolve('wrangler/package.json'));
  } catch {
    const hint = `In ${directory} run: ${packageManagerOf(directory).addDev} wrangler`;
    throw new CommandError(
      'NO_WRANGLER',
      'the project has no wrangler, which bundles and runs Workers',
      hint,
    );
  }
}

/** The binary that the package of wrangler names for this machine. */
async function workerdOf(wrangler: string): Promise<string> {
  const script = "process.stdout.write(require('workerd').default)";
  const { exitCode, stdout, lastLines } = await runProgram(process.execPath, ['-e', script], {
    cwd: wrangler,
  });
  if (exitCode === 0) return stdout;
  const hint = 'Install the packages of the project again, with those that are optional.';
  throw new CommandError('NO_WRANGLER', 'wrangler has no workerd for this machine', hint, {
    details: lastLines,
  });
}

/** The form that wrangler would send: its first line is the boundary. */
async function formIn(file: string): Promise<FormData> {
  const bytes = readFileSync(file);
  const boundary = bytes.subarray(2, bytes.indexOf('\r\n')).toString();
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return new Response(bytes, { headers }).formData();
}

/** A Worker to start: the program that runs it in the foreground. */
export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The command of a new instance of a Worker.
 *
 * @param variables replace the variables of its configuration; the instance listens on 127.0.0.1 at the port `PORT`
 * @param files paths of files of the project that it can read as in the project
 */
export function workerCommand(
  worker: BundledWorker,
  variables: NodeJS.ProcessEnv,
  project: string,
  files: readonly string[],
): WorkerCommand {
  const { directory, workerd, modules, compatibilityDate, compatibilityFlags } = worker;
  const env = { ...worker.variables, ...variables };
  const quoted = (texts: readonly string[]) => texts.map((text) => JSON.stringify(text)).join(', ');
  const allModules = [
    ...modules,
    ...files.map((name) => ({ name, type: 'text', path: relative(directory, join(project, name)) })),
  ].map(
    ({ name, type, path }) => `(name = ${JSON.stringify(name)}, ${type} = embed ${JSON.stringify(path)})`,
  );
  const bindings = Object.keys(env).map((name) => `(name = "${name}", fromEnvironment = "${name}")`);
  const config = join(directory, `config-${env.PORT}.capnp`);
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .server),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${env.PORT}", http = (), service = "main")],
);
const server :Workerd.Worker = (
  modules = [
    ${allModules.join(',\n    ')}
  ],
  compatibilityDate = ${JSON.stringify(compatibilityDate)},
  compatibilityFlags = [${quoted(compatibilityFlags)}],
  bindings = [${bindings.join(', ')}],
);
`,
  );
  return { file: workerd, args: ['serve', config], env: { ...process.env, ...env } };
}

/** What an instance wrote, with places in the files of the project: `file:///…/src/tools/x.ts:7:3` for `worker.js:512:9`. */
export function localized(
  { directory, modules: [main] }: BundledWorker,
  project: string,
  text: string,
): string {
  const file = join(directory, sourceMap);
  if (main === undefined || !text.includes(`${main.name}:`) || !existsSync(file)) return text;
  const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  return text.replaceAll(/([\w./-]+):(\d+):(\d+)/g, (frame, name, line, column) => {
    if (name !== main.name) return frame;
    const found = map.findEntry(line - 1, column - 1);
    if (!('originalSource' in found)) return frame;
    const { originalSource, originalLine, originalColumn } = found as SourceMapping;
    const { href } = pathToFileURL(resolve(project, originalSource));
    return `${href}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

/** Paths of the files in a directory of a project, relative to the project. */
export function filesIn(project: string, directory: string): readonly string[] {
  const place = join(project, directory);
  if (existsSync(place)) return readdirSync(place).map((name) => `${directory}/${name}`);
  return [];
}
