import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { settings, wrapTextWithPrefix } from '@clack/core';
import {
  type CANCEL_SYMBOL,
  intro,
  isCancel,
  multiselect,
  note,
  password,
  S_BAR,
  S_WARN,
  select,
} from '@clack/prompts';
import { errorLine, type Result, singleLine, unwrap } from 'market-mcp-contract/command';
import { FieldEditor, type FieldEditorAnswer, type FieldEditorOptions } from './field-editor.ts';
import { Back, Cancelled } from './leaving.ts';
import { type Choice, LinePrompt, SearchPrompt, type Streams } from './line-prompt.ts';
import { bracketedPaste, TerminalInput } from './terminal-input.ts';

// clack moves the cursor of a list by the letters of vi, so a typed word would choose at random.
for (const letter of 'hjkl') settings.aliases.delete(letter);

const showCursor = '\u001b[?25h';

/** A prompt for text. */
export interface TextPrompt<T> {
  readonly message: string;
  readonly placeholder?: string;
  /** The answer for Enter without text; absent if something must be typed. */
  readonly initial?: T & string;
  /** An earlier answer to edit; if it is a suggestion that was accepted, it is suggested again. */
  readonly previous?: string;
  /** Prompts with the same name suggest what was entered last in any of them. */
  readonly shared?: string;
  /** Prepares a paste to be joined to one line. */
  joined?(pasted: string): string;
  parse(text: string): Result<T>;
}

/** An open prompt: its typed text is shown when it is asked again after Escape. */
interface Open<T> {
  prompt(): Promise<T | typeof CANCEL_SYMBOL | undefined>;
  readonly lines?: readonly string[];
}

/**
 * Asks at a terminal. Every answer is validated when it is given. A cancelled prompt, and one whose input has ended,
 * throws `Cancelled`; Escape throws `Back`. The text typed before Escape is there when the question is asked again.
 */
export class Asker {
  readonly #keys: TerminalInput;
  readonly #output: Writable;
  /** The text typed in prompts that were left by Escape, by their questions. */
  readonly #drafts = new Map<string, readonly string[]>();
  /** The suggestions that were accepted, by their questions. */
  readonly #accepted = new Map<string, string>();
  /** The part of an incomplete answer that is kept if the program ends now, by the name of its question. */
  unfinished: () => object = () => ({});

  constructor(input: Readable = process.stdin, output: Writable = process.stdout) {
    this.#keys = new TerminalInput(input);
    this.#output = output;
  }

  title(words: string): void {
    intro(words, { output: this.#output });
  }

  /** A paste is joined to one line. */
  async text<T>(prompt: TextPrompt<T>): Promise<T> {
    const { message, placeholder = '', initial, previous, shared, parse, joined = (text) => text } = prompt;
    const usesInitial = (typed: string | undefined) => initial !== undefined && (typed ?? '').trim() === '';
    const key = shared ?? message;
    const isSuggested = previous === initial || previous === this.#accepted.get(key);
    const [draft = isSuggested ? undefined : previous] = this.#drafts.get(key) ?? [];
    const typed = await this.#asked(
      key,
      (streams) =>
        new LinePrompt({
          ...streams,
          message,
          placeholder: singleLine(initial ?? '') || placeholder,
          ...(initial !== undefined && { defaultValue: initial }),
          ...(draft !== undefined && { initialValue: withoutLineBreaks(draft) }),
          validate: (text) => (usesInitial(text) ? undefined : resultErrorText(parse(text ?? ''))),
        }),
      (pasted) => this.#keys.write(withoutLineBreaks(joined(pasted))),
    );
    this.#accepted.delete(key);
    if (initial !== undefined && (usesInitial(typed) || typed === initial)) {
      this.#accepted.set(key, initial);
      return initial;
    }
    if (shared !== undefined) this.#drafts.set(shared, [typed ?? '']);
    return unwrap(parse(typed ?? ''));
  }

  /** A text that is not shown. */
  hidden(message: string): Promise<string> {
    const validate = (text: string | undefined) => (text?.trim() ? undefined : 'Type or paste the value.');
    return this.#asked(
      message,
      (streams) => ({ prompt: () => password({ ...streams, message, validate }) }),
      (pasted) => this.#keys.write(withoutLineBreaks(pasted)),
    );
  }

  /** A paste is refused with a message; it chooses nothing. */
  choose<T extends string>(message: string, options: readonly Choice<T>[], initialValue?: T): Promise<T> {
    let refusal = '';
    const refuse = (pasted: string) => {
      const pastedStart = singleLine(withoutLineBreaks(pasted)).slice(0, 40);
      refusal = `\n${styleText('yellow', `This question does not accept pasted text (${pastedStart}). Choose with the arrow keys and Enter.`)}`;
      this.#redraw();
    };
    const prompt = (streams: Streams) =>
      select<string>({
        ...streams,
        get message() {
          return message + refusal;
        },
        options: [...options],
        ...(initialValue && { initialValue }),
      });
    return this.#asked(message, (streams) => ({ prompt: () => prompt(streams) }), refuse) as Promise<T>;
  }

  /** Any number of values; none is chosen at first. */
  chooseAny(message: string, options: readonly Choice<string>[]): Promise<string[]> {
    const shownOptions = options.map(onOneLine);
    return this.#asked(message, (streams) => ({
      prompt: () => multiselect<string>({ ...streams, message, options: shownOptions, required: false }),
    }));
  }

  /**
   * At least one of many values. Typing filters them by label and hint, Tab selects one. A paste counts as typed.
   *
   * @param previous values selected at first
   * @param statusOf a text beside the question while values are selected; with it, none need be selected
   */
  search(
    message: string,
    options: readonly Choice<string>[],
    previous: readonly string[] = [],
    statusOf?: (selected: readonly string[]) => string,
  ): Promise<string[]> {
    const selected = this.#drafts.get(message) ?? previous;
    const choices = options.map(onOneLine);
    return this.#asked(
      message,
      (streams) => new SearchPrompt({ ...streams, message, choices, selected, statusOf }),
      (pasted) => this.#keys.write(withoutLineBreaks(pasted)),
    ) as Promise<string[]>;
  }

  /** Arrows, `y` and `n` change the choice; only Enter confirms it, so no Enter is left for the next question. */
  async confirm(message: string, initialValue: boolean): Promise<boolean> {
    let isYes = initialValue;
    const move = (character: string | undefined, { name = '' }: { name?: string }) => {
      if (moves.has(name)) isYes = !isYes;
      const otherKey = isYes ? 'n' : 'y';
      if (character?.toLowerCase() === otherKey) this.#keys.emit('keypress', undefined, { name: 'down' });
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
  async fields(options: Omit<FieldEditorOptions, keyof Streams>): Promise<FieldEditorAnswer> {
    const { flag } = options.kind;
    const previous = options.lines.join('\n').trim();
    const isSuggested = previous === options.suggested.join('\n') || previous === this.#accepted.get(flag);
    const suggested = isSuggested && previous !== '' ? previous.split('\n') : options.suggested;
    const lines = this.#drafts.get(flag) ?? (isSuggested ? [] : options.lines);
    let editor: FieldEditor | undefined;
    const answer = await this.#asked(
      flag,
      (streams) => {
        const fieldEditor = new FieldEditor({ ...options, lines, suggested, ...streams });
        editor = fieldEditor;
        this.unfinished = () => (fieldEditor.typed.length > 0 ? { [flag.slice(2)]: fieldEditor.typed } : {});
        return fieldEditor;
      },
      (pasted) => {
        editor?.paste(pasted);
        this.#redraw();
      },
    );
    const isAccepted = answer.fields !== undefined && answer.lines.every((line) => line.trim() === '');
    if (isAccepted) this.#accepted.set(flag, suggested.join('\n'));
    else this.#accepted.delete(flag);
    return answer;
  }

  show(title: string, lines: readonly string[]): void {
    note(lines.map(singleLine).join('\n'), title, { output: this.#output, format: (line) => line });
  }

  warn(lines: readonly string[]): void {
    const bar = styleText('gray', S_BAR);
    const mark = styleText('yellow', S_WARN);
    const text = lines.map(singleLine).join('\n');
    this.#output.write(`${bar}\n${wrapTextWithPrefix(this.#output, text, `${bar}  `, `${mark}  `)}\n`);
  }

  /** Restores the terminal, for a program that ends at once. */
  restore(): void {
    this.#keys.setRawMode(false);
    this.#output.write(`${bracketedPaste.off}${showCursor}\n`);
  }

  /** A prompt draws itself again when the size of its terminal changes. */
  #redraw(): void {
    this.#output.emit('resize');
  }

  /** clack never settles a prompt whose input has ended, so it is aborted, which cancels it. */
  async #asked<T>(
    key: string,
    open: (streams: Streams) => Open<T>,
    onPaste = (_pasted: string): void => {},
  ): Promise<T> {
    const keys = this.#keys;
    const output = this.#output;
    const abort = new AbortController();
    const end = () => abort.abort();
    let last: string | undefined;
    const remember = (_: unknown, { name }: { name?: string }) => {
      last = name;
    };
    if (keys.hasEnded) throw new Cancelled();
    keys.onPaste = onPaste;
    keys.once('end', end).on('keypress', remember);
    keys.hold();
    output.write(bracketedPaste.on);
    try {
      const prompt = open({ input: keys, output, signal: abort.signal });
      const answer = await prompt.prompt();
      const isLeft = isCancel(answer);
      if (isLeft && (last !== 'escape' || abort.signal.aborted)) throw new Cancelled();
      const { lines = [] } = prompt;
      if (isLeft && lines.some((text) => text.trim() !== '')) this.#drafts.set(key, lines);
      else this.#drafts.delete(key);
      if (isLeft) throw new Back();
      return answer as T;
    } finally {
      output.write(bracketedPaste.off);
      keys.release();
      keys.off('end', end).off('keypress', remember);
    }
  }
}

/** Keys that switch to the other of two choices. */
const moves: ReadonlySet<string> = new Set(['up', 'down', 'left', 'right']);

/** A choice whose texts may come from others. */
function onOneLine({ value, label, hint }: Choice<string>): Choice<string> {
  return { value, label: singleLine(label), ...(hint && { hint: singleLine(hint) }) };
}

/** Replaces line breaks and other control characters by single spaces. */
function withoutLineBreaks(text: string): string {
  return text.trim().replaceAll(/\p{Cc}+/gu, ' ');
}

function resultErrorText(result: Result<unknown>): string | undefined {
  if (result.ok) return undefined;
  return result.errors.map(errorLine).join('\n');
}
