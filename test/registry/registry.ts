import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { dump } from 'js-yaml';
import { installOnce } from '../e2e/install-once.ts';
import { freePort } from '../runtime/built.ts';

/** A registry on this machine that contains what is published to it and proxies everything else to the configured one. */
export interface Registry {
  readonly url: string;
  /** Publishes a packed package. */
  publish(tarball: string, env: Readonly<Record<string, string>>): Promise<void>;
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
 */
export async function startRegistry(tools: string, directory: string): Promise<Registry> {
  const { stdout: upstream } = await execa('npm', ['config', 'get', 'registry'], { cwd: directory });
  const everyone = { access: '$all', publish: '$all', unpublish: '$all' };
  const file = join(directory, 'config.yaml');
  const config = {
    storage: join(directory, 'storage'),
    auth: { htpasswd: { file: join(directory, 'htpasswd') } },
    uplinks: { configured: { url: upstream.trim(), maxage: '60m', timeout: '60s' } },
    packages: {
      'create-market-mcp': everyone,
      'market-mcp-runtime': everyone,
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
    if (child.exitCode === null && attempt < 600) {
      await setTimeout(100);
      continue;
    }
    await stop();
    throw new Error(`the registry did not start\n${output}`);
  }
  return {
    url,
    stop,
    async publish(tarball, env) {
      const { stdout } = await execa('npm', ['config', 'get', 'registry'], { cwd: directory, env });
      const { hostname } = new URL(stdout.trim());
      if (hostname !== '127.0.0.1') throw new Error(`${hostname} is not this machine: nothing was published`);
      await execa('npm', ['publish', tarball, '--registry', url], { cwd: directory, env });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
