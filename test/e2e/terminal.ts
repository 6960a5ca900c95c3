import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { keys } from '../keys.ts';
import { screenOf } from './screen.ts';

/** Timeout for an expected text, in milliseconds. */
const within = 180_000;

/** Drives a program in a real pseudo-terminal, until the test has finished at the latest. */
export class Terminal {
  readonly #pty: IPty;
  readonly ended: Promise<number>;
  #output = '';
  /** Position in the text up to which waits have matched. */
  #seen = 0;
  #notify = () => {};
  #over = false;

  constructor(
    file: string,
    args: readonly string[],
    {
      cwd,
      env,
      columns = 100,
      rows = 50,
    }: { cwd: string; env?: Record<string, string>; columns?: number; rows?: number },
  ) {
    const { CI: _, ...inherited } = process.env;
    this.#pty = spawn(file, [...args], {
      cwd,
      cols: columns,
      rows,
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
    onTestFinished(() => this.kill());
  }

  /** All output without control sequences; an incomplete sequence is held back. */
  get text(): string {
    const last = this.#output.lastIndexOf(keys.escape);
    const whole = last < 0 || !/^\[?[\d;?]*$/.test(this.#output.slice(last + 1));
    return stripVTControlCharacters(whole ? this.#output : this.#output.slice(0, last));
  }

  /** The screen, preceded by the lines that scrolled away. */
  get screen(): readonly string[] {
    return screenOf(this.#output, this.#pty.rows);
  }

  /** Waits until a prompt with the question is completely drawn, so accepts keys. @throws Error as `waitFor`. */
  asked(question: string): Promise<void> {
    return this.waitFor(`◆  ${question}`, '└');
  }

  /**
   * Waits until a text appears after the text of the last wait. Repeated output of a prompt counts as new: typed
   * keys, and the question after it is answered.
   *
   * @param end - Has to appear after the text, too.
   * @throws Error that contains the screen if the text does not appear.
   */
  async waitFor(words: string, end = ''): Promise<void> {
    await this.#until(words, () => {
      const found = this.text.indexOf(words, this.#seen);
      if (found < 0 || this.text.indexOf(end, found) < 0) return false;
      this.#seen = found + words.length;
      return true;
    });
  }

  /** Waits until the screen contains the text and a completely drawn prompt. @throws Error as `waitFor`. */
  async shows(words: string): Promise<void> {
    await this.#until(words, () => {
      const { screen } = this;
      return (
        screen.some((line) => line.includes(words)) && screen.findLast((line) => line !== '')?.[0] === '└'
      );
    });
  }

  async #until(words: string, isThere: () => boolean): Promise<void> {
    let over = false;
    const end = Promise.race([this.ended, setTimeout(within, undefined, { ref: false })]).then(() => {
      over = true;
    });
    for (;;) {
      if (isThere()) return;
      if (over) throw new Error(`${words} was never shown:\n${this.text.slice(-3000)}`);
      await Promise.race([end, new Promise<void>((resolve) => (this.#notify = resolve))]);
    }
  }

  press(...input: readonly string[]): void {
    for (const key of input) this.#pty.write(key);
  }

  /** Kills the program if it is running. */
  kill(signal = 'SIGKILL'): void {
    if (!this.#over) this.#pty.kill(signal);
  }
}
