import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type State, TextPrompt, wrapTextWithPrefix } from '@clack/core';
import { S_BAR, S_BAR_END, symbol } from '@clack/prompts';

/** The terminal of a prompt. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

export interface LineOptions extends Streams {
  readonly message: string;
  readonly placeholder: string;
  /** The value for Enter alone. */
  readonly defaultValue?: string;
  /** Text to edit. */
  readonly initialValue?: string;
  /** Why the text is refused. */
  validate(text: string | undefined): string | undefined;
}

/** Asks for one line of text. Unlike clack's `text`, it lets its caller read what was typed when it is cancelled. */
export class LinePrompt extends TextPrompt {
  constructor({ message, placeholder, ...options }: LineOptions) {
    super({
      ...options,
      render() {
        const answer = styleText(
          this.state === 'cancel' ? ['strikethrough', 'dim'] : 'dim',
          this.value ?? '',
        );
        const typed = this.userInput === '' ? suggestion(placeholder) : this.userInputWithCursor;
        const body = isOver(this.state) ? answer : typed;
        return frame(options.output, this.state, message, [body], this.error);
      },
    });
  }

  get lines(): readonly string[] {
    return [this.userInput];
  }
}

/** Whether a prompt is answered or cancelled. */
export function isOver(state: State): boolean {
  return state === 'submit' || state === 'cancel';
}

/** A suggested text under the cursor. */
export function suggestion(text: string): string {
  const [first, ...rest] = [...text];
  if (first === undefined) return styleText(['inverse', 'hidden'], '_');
  return styleText('inverse', first) + styleText('dim', rest.join(''));
}

/** The screen of a prompt: its question, and its lines beside a bar, below which an error is shown. */
export function frame(
  output: Writable,
  state: State,
  message: string,
  lines: readonly string[],
  error = '',
): string {
  const color = isOver(state) ? 'gray' : state === 'error' ? 'yellow' : 'cyan';
  const bar = `${styleText(color, S_BAR)}  `;
  const shownError = state === 'error' ? styleText('yellow', error) : '';
  const end = wrapTextWithPrefix(output, shownError, '   ', `${styleText(color, S_BAR_END)}  `).trimEnd();
  return [
    styleText('gray', S_BAR),
    wrapTextWithPrefix(output, message, bar, `${symbol(state)}  `),
    ...lines.map((line) => wrapTextWithPrefix(output, line, bar).trimEnd()),
    ...(isOver(state) ? [] : [end, '']),
  ].join('\n');
}
