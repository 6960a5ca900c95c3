import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { TextPrompt, wrapTextWithPrefix } from '@clack/core';
import { S_BAR, S_BAR_END, symbol } from '@clack/prompts';

export interface LineOptions {
  readonly message: string;
  readonly placeholder: string;
  /** The value for Enter alone. */
  readonly defaultValue?: string;
  /** Text to edit. */
  readonly initialValue?: string;
  /** Why the text is refused. */
  validate(text: string | undefined): string | undefined;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Asks for one line of text. Unlike clack's `text`, it lets its caller read what was typed when it is cancelled. */
export class LinePrompt extends TextPrompt {
  readonly #options: LineOptions;

  constructor(options: LineOptions) {
    super({
      ...options,
      render() {
        return (this as unknown as LinePrompt).#frame();
      },
    });
    this.#options = options;
  }

  #frame(): string {
    const { message, output } = this.#options;
    const isOver = this.state === 'submit' || this.state === 'cancel';
    const color = isOver ? 'gray' : this.state === 'error' ? 'yellow' : 'cyan';
    const bar = `${styleText(color, S_BAR)}  `;
    const head = [
      styleText('gray', S_BAR),
      wrapTextWithPrefix(output, message, bar, `${symbol(this.state)}  `),
    ];
    if (isOver) return [...head, wrapTextWithPrefix(output, this.#answer(), bar).trimEnd()].join('\n');
    const typed = this.userInput === '' ? this.#placeholder() : this.userInputWithCursor;
    const end = styleText(color, S_BAR_END);
    const error = this.state === 'error' ? styleText('yellow', this.error) : '';
    return [
      ...head,
      wrapTextWithPrefix(output, typed, bar),
      wrapTextWithPrefix(output, error, '   ', `${end}  `).trimEnd(),
      '',
    ].join('\n');
  }

  #answer(): string {
    const answer = this.value ?? '';
    return styleText(this.state === 'cancel' ? ['strikethrough', 'dim'] : 'dim', answer);
  }

  #placeholder(): string {
    const [first, ...rest] = [...this.#options.placeholder];
    if (first === undefined) return styleText(['inverse', 'hidden'], '_');
    return styleText('inverse', first) + styleText('dim', rest.join(''));
  }
}
