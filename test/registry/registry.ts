import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { dump } from 'js-yaml';
import { installOnce } from '../e2e/install-once.ts';
import { freePort } from '../ports.ts';

/** A registry on this machine that contains what is published to it and proxies everything else to the configured one. */
export interface Registry {
  readonly url: string;
  stop(): Promise<void>;
}

/** Installs verdaccio, pnpm, Yarn and Bun. Returns their node_modules directory. */
export function installTools(): Promise<string> {
  const manifest = readFileSync(join(import.meta.dirname, 'package.json'), 'utf8');
  return installOnce('registry', manifest);
}

/**
 * @param tools node_modules directory with verdaccio
 * @param directory storage of the registry
 * @param denied a package that nobody may publish
 */
export async function startRegistry(tools: string, directory: string, denied?: string): Promise<Registry> {
  const { stdout: upstream } = await execa('npm', ['config', 'get', 'registry'], { cwd: directory });
  const everyone = { access: '$all', publish: '$all', unpublish: '$all' };
  const file = join(directory, 'config.yaml');
  const config = {
    storage: join(directory, 'storage'),
    auth: { htpasswd: { file: join(directory, 'htpasswd') } },
    uplinks: { configured: { url: upstream.trim(), maxage: '60m', timeout: '60s' } },
    packages: {
      ...Object.fromEntries(
        ['market-mcp-contract', 'market-mcp-runtime', 'create-market-mcp'].map((name) => [
          name,
          { ...everyone, ...(name === denied && { publish: 'nobody' }) },
        ]),
      ),
      '**': { ...everyone, proxy: 'configured' },
    },
    log: { type: 'stdout', format: 'json', level: 'warn' },
  };
  writeFileSync(file, dump(config));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const script = join(tools, 'verdaccio/bin/verdaccio');
  const child = spawn(process.execPath, [script, '--config', file, '--listen', `127.0.0.1:${port}`], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const exit = once(child, 'close');
  const stop = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  for (let attempt = 0; !(await answers(`${url}-/ping`)); attempt++) {
    if (child.exitCode === null && attempt < 3_000) {
      await setTimeout(100);
      continue;
    }
    await stop();
    throw new Error(`the registry did not start\n${output}`);
  }
  return {
    url,
    stop,
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

/**
 * The environment of somebody who has nothing but the package managers and this registry: separate homes, caches and prefixes, since
 * Yarn 1 installs the package for `create` globally.
 *
 * @param tools node_modules directory with pnpm, Yarn and Bun
 * @param home an absent directory
 */
export function emptyEnvironment(url: string, tools: string, home: string): Record<string, string> {
  const own = (name: string) => {
    const directory = join(home, name);
    mkdirSync(directory, { recursive: true });
    return directory;
  };
  const managers = own('managers');
  const { host } = new URL(url);
  writeFileSync(join(home, '.npmrc'), `registry=${url}\n//${host}/:_authToken=nobody\n`);
  writeFileSync(join(home, '.yarnrc'), `registry "${url}"\n`);
  for (const name of ['pnpm', 'yarn']) symlinkSync(join(tools, '.bin', name), join(managers, name));
  // The package `bun` puts its program in place by a script, which has not run.
  const [bun = ''] = readdirSync(join(tools, '@oven'));
  for (const name of ['bun', 'bunx']) symlinkSync(join(tools, '@oven', bun, 'bin/bun'), join(managers, name));
  return {
    PATH: [managers, process.env.PATH].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: own('cache'),
    XDG_CONFIG_HOME: own('config'),
    XDG_DATA_HOME: own('data'),
    XDG_STATE_HOME: own('state'),
    PNPM_HOME: own('pnpm'),
    YARN_CACHE_FOLDER: own('yarn-cache'),
    BUN_INSTALL: own('bun'),
    // bunx keeps a package for a day in the temporary directory.
    TMPDIR: own('tmp'),
    npm_config_userconfig: join(home, '.npmrc'),
    npm_config_registry: url,
    npm_config_cache: own('npm-cache'),
    npm_config_prefix: own('prefix'),
    // The package of this test was published a moment ago.
    pnpm_config_minimum_release_age: '0',
  };
}
