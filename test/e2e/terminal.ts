import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { keys } from '../keys.ts';
import { screenOf } from './screen.ts';

/** After this a question that does not come is taken for one that never will. Milliseconds. */
const within = 60_000;

/** A program in a real pseudo-terminal, driven by what it shows. */
export class Terminal {
  readonly #pty: IPty;
  readonly ended: Promise<number>;
  #output = '';
  /** How much of the text waits have gone through. */
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

  /** All that was written, without control sequences; one that has not come whole is held back. */
  get text(): string {
    const last = this.#output.lastIndexOf(keys.escape);
    const whole = last < 0 || !/^\[?[\d;?]*$/.test(this.#output.slice(last + 1));
    return stripVTControlCharacters(whole ? this.#output : this.#output.slice(0, last));
  }

  /** What the terminal shows, with what has scrolled away above it. */
  get screen(): readonly string[] {
    return screenOf(this.#output);
  }

  /** Waits until a prompt asks the question, which then takes keys. @throws Error as `waitFor`. */
  asked(question: string): Promise<void> {
    return this.waitFor(`◆  ${question}`);
  }

  /**
   * Waits until the words are shown after those of the last wait. What a prompt shows again counts as new: the keys
   * that are typed, and the question once it is answered.
   *
   * @throws Error that shows the screen when they never are.
   */
  async waitFor(words: string): Promise<void> {
    await this.#until(words, () => {
      const found = this.text.indexOf(words, this.#seen);
      if (found >= 0) this.#seen = found + words.length;
      return found >= 0;
    });
  }

  /** Waits until the screen holds the words and a prompt that is drawn to its end. @throws Error as `waitFor`. */
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

  /** Ends the program if it still runs. */
  kill(): void {
    if (!this.#over) this.#pty.kill('SIGKILL');
  }
}
