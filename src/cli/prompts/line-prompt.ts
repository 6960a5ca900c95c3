import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { AutocompletePrompt, type State, TextPrompt, wrapTextWithPrefix } from '@clack/core';
import {
  limitOptions,
  S_BAR,
  S_BAR_END,
  S_CHECKBOX_INACTIVE,
  S_CHECKBOX_SELECTED,
  symbol,
} from '@clack/prompts';
import { maskUrl, nameList } from 'market-mcp-contract/command';
import { hasWords } from '../../import/openapi/operations.ts';

/** The terminal of a prompt. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

export interface LineOptions extends Streams {
  readonly message: string;
  readonly placeholder: string;
  /** The value for Enter without text. */
  readonly defaultValue?: string;
  /** Text to edit. */
  readonly initialValue?: string;
  /** Why the text is refused. */
  validate(text: string | undefined): string | undefined;
}

/** Asks for one line of text. Unlike clack's `text`, its caller can read the typed text when it is cancelled. */
export class LinePrompt extends TextPrompt {
  constructor({ message, placeholder, ...options }: LineOptions) {
    super({
      ...options,
      render() {
        const answer = styleText(
          this.state === 'cancel' ? ['strikethrough', 'dim'] : 'dim',
          maskUrl(this.value ?? ''),
        );
        const typed = this.userInput === '' ? suggestion(placeholder) : this.userInputWithCursor;
        const body = isPromptOver(this.state) ? answer : typed;
        return promptFrame(options.output, this.state, message, [body], this.error);
      },
    });
  }

  get lines(): readonly string[] {
    return [this.userInput];
  }
}

/** Whether a prompt is answered or cancelled. */
export function isPromptOver(state: State): boolean {
  return state === 'submit' || state === 'cancel';
}

/** A suggested text under the cursor. */
export function suggestion(text: string): string {
  const [first, ...rest] = [...text];
  if (first === undefined) return styleText(['inverse', 'hidden'], '_');
  return styleText('inverse', first) + styleText('dim', rest.join(''));
}

/** The screen of a prompt: its question, and its lines beside a bar, below which an error is shown. */
export function promptFrame(
  output: Writable,
  state: State,
  message: string,
  lines: readonly string[],
  error = '',
): string {
  const openColor = state === 'error' ? 'yellow' : 'cyan';
  const color = isPromptOver(state) ? 'gray' : openColor;
  const bar = `${styleText(color, S_BAR)}  `;
  const shownError = state === 'error' ? styleText('yellow', error) : '';
  const end = wrapTextWithPrefix(output, shownError, '   ', `${styleText(color, S_BAR_END)}  `).trimEnd();
  return [
    styleText('gray', S_BAR),
    wrapTextWithPrefix(output, message, bar, `${symbol(state)}  `),
    ...lines.map((line) => wrapTextWithPrefix(output, line, bar).trimEnd()),
    ...(isPromptOver(state) ? [] : [end, '']),
  ].join('\n');
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

export interface SearchOptions extends Streams {
  readonly message: string;
  readonly choices: readonly Choice<string>[];
  /** The values that are selected at first. */
  readonly selected: readonly string[];
  /** What is shown beside the question; with it, none need be selected. */
  readonly statusOf: ((selected: readonly string[]) => string) | undefined;
}

const maxShown = 12;
/** The columns of the bar, of a checkbox, and of the spaces after them. */
const gutter = 5;

/** Asks for some of many values. Typing filters them by label and hint, Tab selects one. */
export class SearchPrompt extends AutocompletePrompt<Choice<string>> {
  readonly #options: SearchOptions;

  constructor(options: SearchOptions) {
    const { choices, selected, statusOf, input, output, signal } = options;
    super({
      input,
      output,
      signal,
      options: [...choices],
      multiple: true,
      initialValue: [...selected],
      filter: (typed, { label, hint = '' }) => hasWords(`${label} ${hint}`, typed),
      validate: () => (statusOf || this.lines.length > 0 ? undefined : 'Select at least one, with Tab.'),
      render: () => this.#frame(),
    });
    this.#options = options;
  }

  /** The selected values. */
  get lines(): readonly string[] {
    return this.selectedValues;
  }

  #frame(): string {
    const { message, statusOf, output } = this.#options;
    const shownMessage = statusOf ? `${message} ${statusOf(this.lines)}` : message;
    if (isPromptOver(this.state)) {
      const selection = this.lines.length === 0 ? 'none selected' : nameList(this.lines);
      return promptFrame(
        output,
        this.state,
        shownMessage,
        this.state === 'submit' ? [styleText('dim', selection)] : [],
      );
    }
    const select = this.isNavigating ? 'Space or Tab' : 'Tab';
    const help = styleText('dim', `↑/↓ to navigate • ${select}: select • Enter: confirm • Type: to search`);
    const framed = (lines: readonly string[]) =>
      promptFrame(output, this.state, shownMessage, ['', this.#searchLine(), ...lines, help], this.error);
    return framed(
      limitOptions({
        cursor: this.cursor,
        options: this.filteredOptions,
        style: (choice, isActive) => this.#choiceLines(choice, isActive),
        maxItems: maxShown,
        rowPadding: framed([]).split('\n').length,
        output,
      }),
    );
  }

  #searchLine(): string {
    const { length } = this.filteredOptions;
    const typed = this.isNavigating ? styleText('dim', this.userInput) : this.userInputWithCursor;
    const isFiltered = length !== this.#options.choices.length;
    const noun = length === 1 ? 'match' : 'matches';
    const matches = isFiltered ? styleText('dim', ` (${length} ${noun})`) : '';
    const shownInput = this.userInput === '' ? styleText('dim', 'type to filter') : typed;
    return `${styleText('dim', 'Search:')} ${shownInput}${matches}`;
  }

  /** A choice beside its checkbox; the choice under the cursor has its hint. */
  #choiceLines({ value, label, hint }: Choice<string>, isActive: boolean): string {
    const mark = this.lines.includes(value)
      ? styleText('green', S_CHECKBOX_SELECTED)
      : styleText('dim', S_CHECKBOX_INACTIVE);
    const shownHint = hint && isActive ? ` ${styleText('dim', `(${hint})`)}` : '';
    const text = isActive ? label + shownHint : styleText('dim', label);
    return wrapTextWithPrefix(this.#options.output, text, ' '.repeat(gutter))
      .split('\n')
      .map((line, i) => `${i === 0 ? mark : ' '} ${line.slice(gutter)}`)
      .join('\n');
  }
}
