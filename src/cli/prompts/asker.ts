import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import {
  autocompleteMultiselect,
  type CANCEL_SYMBOL,
  intro,
  isCancel,
  log,
  multiselect,
  note,
  select,
} from '@clack/prompts';
import type { Result } from '../../model/model.ts';
import { singleLine } from '../single-line.ts';
import { FieldEditor, type FieldEditorAnswer, type FieldEditorOptions } from './field-editor.ts';
import { bracketedPaste, Keys } from './keys.ts';
import { Back, Cancelled, unfinishedFields } from './leaving.ts';
import { LinePrompt } from './line-prompt.ts';

const showCursor = '\u001b[?25h';

/** A prompt for text. */
export interface TextPrompt<T> {
  readonly message: string;
  readonly placeholder?: string;
  /** The answer for Enter alone; absent if something must be typed. */
  readonly initial?: { readonly text: string; readonly value: T };
  /** An earlier answer to edit. */
  readonly before?: string;
  parse(text: string): Result<T>;
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** What is kept of a prompt that is left without an answer. */
interface Left {
  /** Identifies the prompt; the texts are shown when it is asked again. */
  readonly key: string;
  texts(): readonly string[];
  unfinished?(): Cancelled['unfinished'];
}

/**
 * Asks at a terminal. Every answer is validated when it is given. A cancelled prompt, and one whose input has ended,
 * throws `Cancelled`; Escape throws `Back`. What was typed before Escape is there when the question is asked again.
 */
export class Asker {
  readonly #keys: Keys;
  readonly #output: Writable;
  /** What was typed in prompts that were left by Escape, by their keys. */
  readonly #drafts = new Map<string, readonly string[]>();
  /** The answer of a text prompt while it is looked at, by the name of its question: a signal can end the program then. */
  unfinished: Cancelled['unfinished'] = {};

  constructor(input: Readable = process.stdin, output: Writable = process.stdout) {
    this.#keys = new Keys(input);
    this.#output = output;
  }

  title(words: string): void {
    intro(words, { output: this.#output });
  }

  /** A paste is joined to one line. */
  async text<T>({ message, placeholder = '', initial, before, parse }: TextPrompt<T>): Promise<T> {
    const usesInitial = (typed: string | undefined) => initial !== undefined && (typed ?? '').trim() === '';
    this.#keys.onPaste = (pasted) => this.#keys.write(oneLine(pasted));
    const [draft = before] = this.#drafts.get(message) ?? [];
    let line: LinePrompt | undefined;
    const typed = await this.#settled(
      (streams) => {
        line = new LinePrompt({
          ...streams,
          message,
          placeholder: singleLine(initial?.text ?? '') || placeholder,
          ...(initial && { defaultValue: initial.text }),
          ...(draft !== undefined && { initialValue: oneLine(draft) }),
          validate: (text) => (usesInitial(text) ? undefined : errorOf(parse(text ?? ''))),
        });
        return line.prompt();
      },
      { key: message, texts: () => [line?.userInput ?? ''] },
    );
    if (initial !== undefined && (usesInitial(typed) || typed === initial.text)) return initial.value;
    const answer = parse(typed ?? '');
    if (answer.ok) return answer.value;
    throw new Error(`the question ${JSON.stringify(message)} took an answer that it refuses`);
  }

  /** A paste is refused with a message; it chooses nothing. */
  choose<T extends string>(message: string, options: readonly Choice<T>[], initialValue?: T): Promise<T> {
    let refusal = '';
    this.#keys.onPaste = (pasted) => {
      const shown = singleLine(oneLine(pasted)).slice(0, 40);
      refusal = `\n${styleText('yellow', `This question does not accept pasted text (${shown}). Choose with the arrow keys and Enter.`)}`;
      this.#keys.emit('keypress', undefined, {});
    };
    return this.#settled((streams) =>
      select<string>({
        ...streams,
        get message() {
          return message + refusal;
        },
        options: [...options],
        ...(initialValue && { initialValue }),
      }),
    ) as Promise<T>;
  }

  /** Any number of values; none is chosen at first. */
  chooseAny(message: string, options: readonly Choice<string>[]): Promise<string[]> {
    const shown = options.map(onOneLine);
    this.#keys.onPaste = () => {}; // a paste chooses nothing
    return this.#settled((streams) =>
      multiselect<string>({ ...streams, message, options: shown, required: false }),
    );
  }

  /**
   * At least one of many values. Typing filters them by label and hint, Tab selects one. A paste counts as typed.
   *
   * @param before values selected at first
   */
  search(
    message: string,
    options: readonly Choice<string>[],
    before: readonly string[] = [],
  ): Promise<string[]> {
    let selected: readonly string[] = this.#drafts.get(message) ?? before;
    const shown = options.map(onOneLine);
    this.#keys.onPaste = (pasted) => this.#keys.write(oneLine(pasted));
    return this.#settled(
      (streams) =>
        autocompleteMultiselect<string>({
          ...streams,
          message,
          options() {
            // clack asks for the options at each key, and gives its state to nobody else.
            if (this.state !== 'initial') selected = this.selectedValues;
            return shown;
          },
          initialValues: selected.filter((value) => options.some((option) => option.value === value)),
          placeholder: 'type to filter',
          required: true,
          maxItems: 12,
          filter: (typed, { label = '', hint = '' }) => hasWords(`${label} ${hint}`, typed),
        }),
      { key: message, texts: () => selected },
    );
  }

  /** Arrows, `y` and `n` change the choice; only Enter confirms it, so no Enter is left for the next question. */
  async confirm(message: string, initialValue: boolean): Promise<boolean> {
    let isYes = initialValue;
    const move = (character: string | undefined, { name }: { name?: string }) => {
      if (moves.has(name)) isYes = !isYes;
      const requested = letters.get(character?.toLowerCase());
      if (requested === !isYes) this.#keys.emit('keypress', undefined, { name: 'down' });
    };
    this.#keys.on('keypress', move);
    const choices = [
      { value: 'yes', label: 'Yes' },
      { value: 'no', label: 'No' },
    ] as const;
    try {
      return (await this.choose(message, choices, initialValue ? 'yes' : 'no')) === 'yes';
    } finally {
      this.#keys.off('keypress', move);
    }
  }

  /** Fields in the field language; the lines of a paste become lines of the editor. */
  fields(options: Omit<FieldEditorOptions, 'input' | 'output'>): Promise<FieldEditorAnswer> {
    let editor: FieldEditor | undefined;
    const lines = this.#drafts.get(options.flag) ?? options.lines;
    this.#keys.onPaste = (pasted) => {
      editor?.paste(pasted);
      this.#keys.emit('keypress', undefined, {});
    };
    return this.#settled(
      (streams) => {
        editor = new FieldEditor({ ...options, lines, ...streams });
        return editor.ask();
      },
      {
        key: options.flag,
        texts: () => editor?.lines ?? [],
        unfinished: () => unfinishedFields(options.flag, editor?.isTouched ? editor.fields : []),
      },
    );
  }

  show(title: string, lines: readonly string[]): void {
    note(lines.map(singleLine).join('\n'), title, { output: this.#output, format: (line) => line });
  }

  warn(lines: readonly string[]): void {
    log.warn(lines.map(singleLine).join('\n'), { output: this.#output });
  }

  #leave({ key, texts }: Left): void {
    const typed = texts();
    if (typed.some((text) => text.trim() !== '')) this.#drafts.set(key, typed);
    else this.#drafts.delete(key);
  }

  /** Restores the terminal, for a program that ends at once. */
  restore(): void {
    this.#keys.setRawMode(false);
    this.#output.write(`${bracketedPaste.off}${showCursor}\n`);
  }

  /** clack never settles a prompt whose input has ended, so it is aborted, which cancels it. */
  async #settled<T>(
    prompt: (streams: Streams) => Promise<T | typeof CANCEL_SYMBOL>,
    left?: Left,
  ): Promise<T> {
    const keys = this.#keys;
    const output = this.#output;
    const ended = new AbortController();
    const end = () => ended.abort();
    let last: string | undefined;
    const remember = (_: unknown, key: { name?: string }) => {
      last = key.name;
    };
    if (keys.hasEnded) throw new Cancelled();
    keys.once('end', end).on('keypress', remember);
    keys.hold();
    output.write(bracketedPaste.on);
    try {
      const answer = await prompt({ input: keys, output, signal: ended.signal });
      if (!isCancel(answer)) {
        if (left) this.#drafts.delete(left.key);
        return answer as T;
      }
      if (last !== 'escape' || ended.signal.aborted)
        throw new Cancelled({ unfinished: left?.unfinished?.() ?? {} });
      if (left) this.#leave(left);
      throw new Back();
    } finally {
      output.write(bracketedPaste.off);
      keys.release();
      keys.off('end', end).off('keypress', remember);
    }
  }
}

/** Keys that switch to the other of two choices. */
const moves: ReadonlySet<string | undefined> = new Set(['up', 'down', 'left', 'right', 'h', 'j', 'k', 'l']);
const letters: ReadonlyMap<string | undefined, boolean> = new Map([
  ['y', true],
  ['n', false],
]);

/** Whether a text contains each of the words, in any order. */
export function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** A choice whose texts may come from others. */
function onOneLine({ value, label, hint }: Choice<string>): Choice<string> {
  return { value, label: singleLine(label), ...(hint && { hint: singleLine(hint) }) };
}

/** Replaces line breaks and other control characters by single spaces. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\p{Cc}+/gu, ' ');
}

function errorOf(result: Result<unknown>): string | undefined {
  if (result.ok) return undefined;
  return result.errors.map(({ message, hint }) => singleLine(`${message}. ${hint}`)).join('\n');
}
