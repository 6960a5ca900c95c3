import { PassThrough, type Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** A text to wait for, and the keys to press then; `end` ends the input. */
export type Answer = readonly [shown: string, ...keys: string[]];

/** A terminal that waits for each text in order and presses its keys. */
export class Keyboard extends Writable {
  readonly input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => this.input,
  }) as Readable & PassThrough;
  readonly isTTY = true;
  readonly columns: number;
  readonly rows = 200;
  /** All output, with control sequences. */
  raw = '';
  #fresh = '';
  readonly #answers: Answer[];

  constructor(answers: readonly Answer[], columns = 200) {
    super();
    this.#answers = [...answers];
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.raw += chunk;
    this.#fresh += stripVTControlCharacters(String(chunk));
    const [next] = this.#answers;
    if (next && this.#fresh.includes(next[0])) {
      this.#answers.shift();
      this.#fresh = '';
      const [, ...keys] = next;
      setImmediate(() => {
        for (const key of keys) key === 'end' ? this.input.end() : this.input.write(key);
      });
    }
    done();
  }

  /** All output, without control sequences. */
  get text(): string {
    return stripVTControlCharacters(this.raw);
  }

  get unused(): number {
    return this.#answers.length;
  }
}
