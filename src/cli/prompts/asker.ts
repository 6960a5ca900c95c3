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
  text,
} from '@clack/prompts';
import type { Field, Result } from '../../model/model.ts';
import { singleLine } from '../single-line.ts';
import { FieldEditor, type FieldEditorAnswer, type FieldEditorOptions } from './field-editor.ts';
import { bracketedPaste, Keys } from './keys.ts';

/** Thrown when the author cancels or the terminal closes. Nothing was written. */
export class Cancelled extends Error {
  /** The command that continues with the answers so far. */
  readonly resume: string | undefined;
  /** The fields typed so far for the cancelled question, by the name of the question. */
  readonly unfinished: Readonly<Record<string, readonly Field[]>>;

  constructor({ resume, unfinished = {} }: { resume?: string; unfinished?: Cancelled['unfinished'] } = {}) {
    super('cancelled');
    this.name = 'Cancelled';
    this.resume = resume;
    this.unfinished = unfinished;
  }
}

/** Thrown when the author goes back to the previous question. */
export class Back extends Error {
  constructor() {
    super('back');
    this.name = 'Back';
  }
}

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

/**
 * Asks at a terminal. Every answer is validated when it is given. A cancelled prompt, and one whose input has ended,
 * throws `Cancelled`; Escape throws `Back`.
 */
export class Asker {
  readonly #keys: Keys;
  readonly #output: Writable;

  constructor(input: Readable = process.stdin, output: Writable = process.stdout) {
    this.#keys = new Keys(input);
    this.#output = output;
  }

  title(words: string): void {
    intro(words, { output: this.#output });
  }

  /** A paste is joined to one line. */
  async text<T>({ message, placeholder, initial, before, parse }: TextPrompt<T>): Promise<T> {
    const usesInitial = (typed: string | undefined) => initial !== undefined && (typed ?? '').trim() === '';
    this.#keys.onPaste = (pasted) => this.#keys.write(oneLine(pasted));
    const typed = await this.#settled((streams) =>
      text({
        ...streams,
        message,
        placeholder: singleLine(initial?.text ?? '') || placeholder,
        ...(initial && { defaultValue: initial.text }),
        ...(before !== undefined && { initialValue: oneLine(before) }),
        validate: (typed) => (usesInitial(typed) ? undefined : errorOf(parse(typed ?? ''))),
      }),
    );
    if (initial !== undefined && (usesInitial(typed) || typed === initial.text)) return initial.value;
    const answer = parse(typed);
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
    const shown = options.map(({ value, label, hint }) => ({
      value,
      label: singleLine(label),
      ...(hint && { hint: singleLine(hint) }),
    }));
    this.#keys.onPaste = () => {}; // a paste chooses nothing
    return this.#settled((streams) =>
      multiselect<string>({ ...streams, message, options: shown, required: false }),
    );
  }

  /** At least one of many values. Typing filters them by label and hint, Tab selects one. A paste counts as typed. */
  search(message: string, options: readonly Choice<string>[]): Promise<string[]> {
    const shown = options.map(({ value, label, hint }) => ({
      value,
      label: singleLine(label),
      ...(hint && { hint: singleLine(hint) }),
    }));
    this.#keys.onPaste = (pasted) => this.#keys.write(oneLine(pasted));
    return this.#settled((streams) =>
      autocompleteMultiselect<string>({
        ...streams,
        message,
        options: shown,
        placeholder: 'type to filter',
        required: true,
        maxItems: 12,
        filter: (typed, { label = '', hint = '' }) => hasWords(`${label} ${hint}`, typed),
      }),
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
    this.#keys.onPaste = (pasted) => {
      editor?.paste(pasted);
      this.#keys.emit('keypress', undefined, {});
    };
    return this.#settled(
      (streams) => {
        editor = new FieldEditor({ ...options, ...streams });
        return editor.ask();
      },
      () => {
        const written = editor?.isTouched ? editor.fields : [];
        return written.length > 0 ? { [options.flag.replace(/^--/, '')]: written } : {};
      },
    );
  }

  show(title: string, lines: readonly string[]): void {
    note(lines.map(singleLine).join('\n'), title, { output: this.#output, format: (line) => line });
  }

  warn(lines: readonly string[]): void {
    log.warn(lines.map(singleLine).join('\n'), { output: this.#output });
  }

  /** clack never settles a prompt whose input has ended, so it is aborted, which cancels it. */
  async #settled<T>(
    prompt: (streams: Streams) => Promise<T | typeof CANCEL_SYMBOL>,
    unfinished: () => Cancelled['unfinished'] = () => ({}),
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
      if (!isCancel(answer)) return answer;
      throw last === 'escape' && !ended.signal.aborted
        ? new Back()
        : new Cancelled({ unfinished: unfinished() });
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

/** Replaces line breaks and other control characters by single spaces. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\p{Cc}+/gu, ' ');
}

function errorOf(result: Result<unknown>): string | undefined {
  if (result.ok) return undefined;
  return result.errors.map(({ message, hint }) => singleLine(`${message}. ${hint}`)).join('\n');
}
