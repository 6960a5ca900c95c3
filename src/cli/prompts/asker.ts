import type { Readable, Writable } from 'node:stream';
import { type CANCEL_SYMBOL, intro, isCancel, log, note, select, text } from '@clack/prompts';
import type { Result } from '../../spec/model.ts';
import { printable } from '../printable.ts';
import { yesNo } from './yes-no.ts';

/** Thrown when the author cancels or the terminal goes away; nothing was written. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
    this.name = 'Cancelled';
  }
}

/** A text that is asked for. */
export interface TextPrompt<T> {
  readonly message: string;
  readonly placeholder?: string;
  /** What Enter alone gives; absent where something must be typed. */
  readonly initial?: { readonly text: string; readonly value: T };
  parse(text: string): Result<T>;
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

/**
 * Asks at a terminal. Every answer is validated as it is given; a cancelled prompt, and one whose input has ended,
 * throws `Cancelled`.
 */
export class Asker {
  readonly #streams: { readonly input: Readable; readonly output: Writable };

  constructor(input: Readable = process.stdin, output: Writable = process.stdout) {
    this.#streams = { input, output };
  }

  title(words: string): void {
    intro(words, this.#streams);
  }

  async text<T>({ message, placeholder, initial, parse }: TextPrompt<T>): Promise<T> {
    const usesInitial = (typed: string | undefined) => initial !== undefined && (typed ?? '').trim() === '';
    const typed = await this.#settled((streams) =>
      text({
        ...streams,
        message,
        placeholder: printable(initial?.text ?? '') || placeholder,
        ...(initial && { defaultValue: initial.text }),
        validate: (typed) => (usesInitial(typed) ? undefined : faultOf(parse(typed ?? ''))),
      }),
    );
    if (initial !== undefined && (usesInitial(typed) || typed === initial.text)) return initial.value;
    const answer = parse(typed);
    if (answer.ok) return answer.value;
    throw new Error(`${message} was answered with what was refused`);
  }

  choose<T extends string>(message: string, options: readonly Choice<T>[], initialValue?: T): Promise<T> {
    return this.#settled((streams) =>
      select<string>({ ...streams, message, options: [...options], ...(initialValue && { initialValue }) }),
    ) as Promise<T>;
  }

  confirm(message: string, initialValue: boolean): Promise<boolean> {
    return this.#settled((streams) => yesNo({ ...streams, message, initialValue }));
  }

  show(title: string, lines: readonly string[]): void {
    note(lines.map(printable).join('\n'), title, { ...this.#streams, format: (line) => line });
  }

  warn(lines: readonly string[]): void {
    log.warn(lines.map(printable).join('\n'), this.#streams);
  }

  /** clack never settles a prompt whose input has ended: it is aborted, which cancels it. */
  async #settled<T>(
    prompt: (streams: {
      input: Readable;
      output: Writable;
      signal: AbortSignal;
    }) => Promise<T | typeof CANCEL_SYMBOL>,
  ): Promise<T> {
    const { input } = this.#streams;
    const ended = new AbortController();
    const end = () => ended.abort();
    if (input.readableEnded || input.destroyed) throw new Cancelled();
    input.once('end', end).once('close', end);
    try {
      const answer = await prompt({ ...this.#streams, signal: ended.signal });
      if (isCancel(answer)) throw new Cancelled();
      return answer;
    } finally {
      input.off('end', end).off('close', end);
    }
  }
}

function faultOf(result: Result<unknown>): string | undefined {
  if (result.ok) return undefined;
  return result.faults.map(({ message, hint }) => printable(`${message}. ${hint}`)).join('\n');
}
