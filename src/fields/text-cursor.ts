import { closest } from 'market-mcp-contract/command';
import { shorten } from 'market-mcp-contract/json';

/** The position and the reason where parsing a declaration stopped. */
export class ParseStop extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** A value as written: plain text, which is converted to the field's type, or JSON. */
export type WrittenValue = { readonly bare: string } | { readonly json: unknown };

/** Parses a declaration from left to right. */
export class TextCursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The text that is not parsed yet. */
  get rest(): string {
    return this.#text.slice(this.#at);
  }

  /** Moves past a literal text if it comes next. */
  eat(literal: string): boolean {
    if (!this.#text.startsWith(literal, this.#at)) return false;
    this.#at += literal.length;
    return true;
  }

  /** Moves past a pattern (sticky, `y`) if it matches here, and returns its groups. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at += match[0].length;
    return match;
  }

  expect(literal: string, hint: string): void {
    if (!this.eat(literal)) this.stop(`expected ${literal}`, hint);
  }

  /** One word of a closed list. */
  word(words: readonly string[], noun: string, aliases: ReadonlyMap<string, string> = new Map()): string {
    const from = this.#at;
    const word = this.take(/[\p{L}\p{N}_-]*/uy)?.[0] ?? '';
    if (words.includes(word)) return word;
    this.#at = from;
    const closestWord = aliases.get(word.toLowerCase()) ?? closest(word, words);
    return this.stop(
      word === '' ? `expected ${article(noun)} ${noun}` : `${shorten(word)} is not ${article(noun)} ${noun}`,
      closestWord === undefined ? `Write one of: ${words.join(', ')}.` : `Did you mean ${closestWord}?`,
    );
  }

  /** A value: JSON if it starts like JSON, else the text that `bare` (sticky) matches. */
  value(pattern: RegExp): WrittenValue {
    const next = this.#text[this.#at];
    if (next === '"' || next === '[' || next === '{') return { json: this.json() };
    const text = this.take(pattern)?.[0] ?? '';
    if (text === '') return this.stop('expected a value', 'Write a value. "" is the empty text.');
    return { bare: text };
  }

  /** A JSON string, array or object. */
  json(): unknown {
    const end = jsonEnd(this.#text, this.#at);
    const text = this.#text.slice(this.#at, end);
    try {
      const value: unknown = JSON.parse(text);
      this.#at = end;
      return value;
    } catch {
      return this.stop(
        `${shorten(text)} is not valid JSON`,
        `To use it as text, put it in quotes: ${JSON.stringify(text)}`,
      );
    }
  }

  stop(message: string, hint: string): never {
    const read = this.#text.slice(0, this.#at);
    throw new ParseStop(read === '' ? message : `${message} (after ${shorten(read)})`, hint);
  }
}

function article(noun: string): string {
  return /^[aeio]/.test(noun) ? 'an' : 'a';
}

/** The end of the JSON string, array or object that starts at `from`; the end of the text if it is not closed. */
function jsonEnd(text: string, from: number): number {
  let depth = 0;
  let i = from;
  while (i < text.length) {
    const character = text[i] ?? '';
    i = character === '"' ? stringEnd(text, i) : i + 1;
    if ('[{'.includes(character)) depth += 1;
    if (']}'.includes(character)) depth -= 1;
    if (depth <= 0) return i;
  }
  return text.length;
}

/** The end of the JSON string that starts at `from`; the end of the text if it is not closed. */
function stringEnd(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}
