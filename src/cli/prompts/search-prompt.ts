import { styleText } from 'node:util';
import { AutocompletePrompt, wrapTextWithPrefix } from '@clack/core';
import { limitOptions, S_CHECKBOX_INACTIVE, S_CHECKBOX_SELECTED } from '@clack/prompts';
import { hasWords } from '../../import/openapi/operations.ts';
import { frame, isOver, type Streams } from './line-prompt.ts';

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
    const shown = statusOf ? `${message} ${statusOf(this.lines)}` : message;
    if (isOver(this.state)) {
      const chosen = this.lines.length === 0 ? 'none selected' : `${this.lines.length} selected`;
      return frame(output, this.state, shown, this.state === 'submit' ? [styleText('dim', chosen)] : []);
    }
    const select = this.isNavigating ? 'Space or Tab' : 'Tab';
    const help = styleText('dim', `↑/↓ to navigate • ${select}: select • Enter: confirm • Type: to search`);
    const framed = (lines: readonly string[]) =>
      frame(output, this.state, shown, ['', this.#searchLine(), ...lines, help], this.error);
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
    const matches = isFiltered ? styleText('dim', ` (${length} ${length === 1 ? 'match' : 'matches'})`) : '';
    const shown = this.userInput === '' ? styleText('dim', 'type to filter') : typed;
    return `${styleText('dim', 'Search:')} ${shown}${matches}`;
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
