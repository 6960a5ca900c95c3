import { PassThrough, type Readable } from 'node:stream';

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
/** Switches the terminal's marking of pasted text on and off. */
export const bracketedPaste = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

/** A line break followed by text in one chunk: nobody types that. */
const unmarkedPaste = /[\r\n][^\p{Cc}]/u;
const endOfInput = '\u0004';

/** Terminal input with each paste in one piece: line breaks in it do not count as Enter. */
export class TerminalInput extends PassThrough {
  readonly isTTY = true;
  readonly #input: Readable & { setRawMode?(mode: boolean): unknown };
  readonly #take = (chunk: Buffer | string) => this.#read(String(chunk));
  readonly #end = () => this.end();
  /** The received part of a marked paste, with its start; empty outside of one. */
  #held = '';
  /** Nothing was read yet. */
  #isFirst = true;
  /** Called with each paste. */
  onPaste = (_text: string): void => {};

  constructor(input: Readable) {
    super();
    this.#input = input;
  }

  /** clack calls it for each prompt. */
  setRawMode(mode: boolean): void {
    this.#input.setRawMode?.(mode);
  }

  /** Reads until `release`. In between, the input is paused so that the program can end. */
  hold(): void {
    this.#input.setEncoding('utf8');
    this.#input.on('data', this.#take).once('end', this.#end).once('close', this.#end);
    this.#input.resume();
  }

  release(): void {
    this.#input.off('data', this.#take).off('end', this.#end).off('close', this.#end);
    this.#input.pause();
  }

  /** Whether the input has ended: no answer can come any more. */
  get hasEnded(): boolean {
    return this.writableEnded || this.#input.readableEnded || this.#input.destroyed;
  }

  #read(input: string): void {
    // Lines typed before the first question end in a line feed, because the terminal was not in raw mode.
    let text = this.#held + (this.#isFirst ? input.slice(input.lastIndexOf('\n') + 1) : input);
    this.#isFirst = false;
    for (;;) {
      const start = text.indexOf(pasteStart);
      this.#type(start < 0 ? text : text.slice(0, start));
      this.#held = start < 0 ? '' : text.slice(start);
      const end = this.#held.indexOf(pasteEnd);
      if (end < 0) return;
      this.onPaste(this.#held.slice(pasteStart.length, end));
      text = this.#held.slice(end + pasteEnd.length);
      this.#held = '';
    }
  }

  #type(text: string): void {
    if (unmarkedPaste.test(text) && !text.includes('\u001b')) this.onPaste(text);
    // readline treats Ctrl-D as the end of input, and the program would end silently.
    else if (text !== '') this.write(text.replaceAll(endOfInput, ''));
  }
}
