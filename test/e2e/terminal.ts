import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';

/** After this a question that does not come is taken for one that never will. Milliseconds. */
const patience = 60_000;

export const keys = {
  enter: '\r',
  ctrlC: '\u0003',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  space: ' ',
};

/** A program in a real pseudo-terminal, driven by what it shows. */
export class Terminal {
  readonly #pty: IPty;
  readonly ended: Promise<number>;
  #output = '';
  #seen = 0;
  #notify = () => {};
  #over = false;

  constructor(
    file: string,
    args: readonly string[],
    { cwd, env }: { cwd: string; env?: Record<string, string> },
  ) {
    const { CI: _, ...inherited } = process.env;
    this.#pty = spawn(file, [...args], {
      cwd,
      cols: 100,
      rows: 50,
      name: 'xterm',
      env: { ...inherited, ...env },
    });
    this.#pty.onData((data) => {
      this.#output += data;
      this.#notify();
    });
    this.ended = new Promise((resolve) =>
      this.#pty.onExit(({ exitCode, signal }) => {
        this.#over = true;
        resolve(signal ? 128 + signal : exitCode);
      }),
    );
  }

  /** All that was written, without control sequences. */
  get text(): string {
    return stripVTControlCharacters(this.#output);
  }

  /** Everything shown since the last `waitFor`. */
  get fresh(): string {
    return stripVTControlCharacters(this.#output.slice(this.#seen));
  }

  /** Waits until the text since the last wait matches. @throws Error that shows the screen when it never does. */
  async waitFor(pattern: RegExp | string): Promise<void> {
    const matches = () =>
      typeof pattern === 'string' ? this.fresh.includes(pattern) : pattern.test(this.fresh);
    let over = false;
    const end = Promise.race([this.ended, setTimeout(patience, undefined, { ref: false })]).then(() => {
      over = true;
    });
    while (!matches()) {
      if (over) throw new Error(`${pattern} was never shown:\n${this.text.slice(-3000)}`);
      await Promise.race([end, new Promise<void>((resolve) => (this.#notify = resolve))]);
    }
    this.#seen = this.#output.length;
  }

  press(...input: readonly string[]): void {
    for (const key of input) this.#pty.write(key);
  }

  /** Ends the program if it still runs. */
  kill(): void {
    if (!this.#over) this.#pty.kill('SIGKILL');
  }
}
