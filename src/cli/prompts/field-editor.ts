import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { getColumns, getRows, Prompt, wrapTextWithPrefix } from '@clack/core';
import { type CANCEL_SYMBOL, isCancel, S_BAR, S_BAR_END, symbol } from '@clack/prompts';
import { completionOf } from '../../fields/completion.ts';
import { type CheckedLines, checkLines } from '../../fields/lines.ts';
import { fieldsSchema } from '../../fields/shape-schema.ts';
import { fieldRows, tableLines } from '../../fields/table.ts';
import type { Field, InputError } from '../../model/model.ts';
import { singleLine } from '../single-line.ts';
import * as edit from './text-lines.ts';

export interface FieldEditorOptions {
  readonly message: string;
  /** The flag that takes the same lines: `--input`. */
  readonly flag: string;
  /** The initial lines. */
  readonly lines: readonly string[];
  /** The answer for Enter alone while nothing is typed; shown dimmed. */
  readonly suggested: readonly string[];
  /** Whether there may be no field at all, written `none`. */
  readonly optional: boolean;
  readonly hasDefaults: boolean;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal?: AbortSignal;
}

/** The fields; or, if the author asked for the form, the lines and the place in them. */
export type FieldEditorAnswer =
  | { readonly kind: 'fields'; readonly fields: readonly Field[] }
  | { readonly kind: 'form'; readonly lines: readonly string[]; readonly row: number };

const none = 'none';
const lineEnd = Number.POSITIVE_INFINITY;
const keysShown = '↑↓ moves · Shift-↑↓ reorders · Ctrl-K removes the line · Esc goes back';

/**
 * Asks for fields in the field language, one per line, and shows what the lines mean while they are typed.
 *
 * Enter starts the next line; on an empty last line it gives the answer. Enter does not leave a line with an error.
 */
export class FieldEditor extends Prompt<FieldEditorAnswer> {
  readonly #options: FieldEditorOptions;
  #text: edit.TextLines;
  /** Whether the last Enter was refused. */
  #isRefused = false;
  /** The word that Tab inserted last, and its alternatives. */
  #completing: { readonly before: string; readonly words: readonly string[]; index: number } | undefined;

  constructor(options: FieldEditorOptions) {
    super(
      {
        input: options.input,
        output: options.output,
        ...(options.signal && { signal: options.signal }),
        render() {
          return (this as unknown as FieldEditor).#frame();
        },
      },
      false,
    );
    this.#options = options;
    this.#text = edit.textLines(options.lines);
    this.on('key', (character, key) => this.#press(character, key));
  }

  /** @returns clack's symbol for a cancelled prompt if it is cancelled. */
  async ask(): Promise<FieldEditorAnswer | typeof CANCEL_SYMBOL> {
    const answer = await this.prompt();
    if (isCancel(answer)) return answer;
    return answer ?? { kind: 'fields', fields: [] };
  }

  /** Inserts pasted text; its lines become lines of the editor. */
  paste(pasted: string): void {
    const clean = pasted
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll('\t', ' ')
      .replaceAll(/(?!\n)\p{Cc}/gu, '');
    this.#change(edit.insert(this.#text, clean));
  }

  /** The fields of all lines without an error. */
  get fields(): readonly Field[] {
    return this.#checked().fields;
  }

  /** The text as it is. */
  get lines(): readonly string[] {
    return this.#text.lines;
  }

  /** Whether anything was typed. */
  get isTouched(): boolean {
    return !this.#isEmpty;
  }

  get #isEmpty(): boolean {
    return this.#text.lines.every((line) => line.trim() === '');
  }

  get #isNone(): boolean {
    const { optional, suggested } = this.#options;
    const text = this.#text.lines.join('').trim();
    return optional && (text === none || (text === '' && suggested.length === 0));
  }

  #checked(): CheckedLines {
    const { flag, suggested } = this.#options;
    if (this.#isNone) return { fields: [], errors: new Map() };
    return checkLines(this.#isEmpty ? suggested : this.#text.lines, flag);
  }

  #change(text: edit.TextLines): void {
    this.#text = text;
    this.#isRefused = false;
    this.#completing = undefined;
  }

  #press(
    character: string | undefined,
    key: { name?: string; ctrl?: boolean; meta?: boolean; shift?: boolean },
  ): void {
    const text = this.#text;
    const moves = key.shift || key.meta || key.ctrl;
    const [before] = edit.aroundCursor(text);
    const control = key.ctrl ? key.name : undefined;
    if (key.name === 'return') return;
    if (key.name === 'tab') this.#tab(before);
    else if (key.name === 'up')
      this.#change(moves ? edit.moveLine(text, -1) : edit.at(text, text.row - 1, lineEnd));
    else if (key.name === 'down')
      this.#change(moves ? edit.moveLine(text, 1) : edit.at(text, text.row + 1, lineEnd));
    else if (key.name === 'left') this.#change(edit.at(text, text.row, Math.max(0, text.column - 1)));
    else if (key.name === 'right') this.#right();
    else if (key.name === 'home' || control === 'a') this.#change(edit.at(text, text.row, 0));
    else if (key.name === 'end' || control === 'e') this.#change(edit.at(text, text.row, lineEnd));
    else if (key.name === 'backspace') this.#change(edit.backspace(text));
    else if (key.name === 'delete') this.#change(edit.deleteNext(text));
    else if (control === 'k') this.#change(edit.removeLine(text));
    else if (control === 'u') this.#change(edit.replaceBefore(text, ''));
    else if (control === 'w') this.#change(edit.replaceBefore(text, before.replace(/\S+\s*$/, '')));
    else if (character !== undefined && !key.ctrl && !key.meta && !/\p{Cc}/u.test(character))
      this.#change(edit.insert(text, character));
  }

  /** In an empty editor, the right arrow turns the suggestion into editable text. */
  #right(): void {
    const { suggested } = this.#options;
    if (this.#isEmpty && suggested.length > 0) this.#change(edit.textLines(suggested));
    else this.#change(edit.at(this.#text, this.#text.row, this.#text.column + 1));
  }

  /** Completes the word before the cursor; again, with the next candidate. On an empty line, opens the form. */
  #tab(before: string): void {
    if ((this.#text.lines[this.#text.row] ?? '').trim() === '') {
      this.value = { kind: 'form', lines: this.#text.lines, row: this.#text.row };
      this.state = 'submit';
      return;
    }
    const completing = this.#completing ?? { ...completionOf(before), index: -1 };
    if (completing.words.length === 0) return;
    completing.index = (completing.index + 1) % completing.words.length;
    this.#change(edit.replaceBefore(this.#text, completing.before + completing.words[completing.index]));
    this.#completing = completing;
  }

  protected override _shouldSubmit(): boolean {
    const { lines, row } = this.#text;
    const { fields, errors } = this.#checked();
    const isLast = row === lines.length - 1;
    const isDone = this.#isEmpty || this.#isNone || (isLast && lines[row]?.trim() === '');
    const invalid = isDone ? [...errors.keys()][0] : errors.has(row) ? row : undefined;
    if (invalid !== undefined) {
      this.#change(edit.at(this.#text, invalid, lineEnd));
      this.#isRefused = true;
      return false;
    }
    if (!isDone) {
      const end = edit.at(this.#text, row, lineEnd);
      this.#change(isLast ? edit.insert(end, '\n') : edit.at(this.#text, row + 1, lineEnd));
      return false;
    }
    if (fields.length === 0 && !this.#isNone) {
      this.#isRefused = true;
      return false;
    }
    this.value = { kind: 'fields', fields };
    return true;
  }

  #frame(): string {
    const { message, output } = this.#options;
    const isOver = this.state === 'submit' || this.state === 'cancel';
    const bar = styleText(isOver ? 'gray' : 'cyan', S_BAR);
    const head = [
      styleText('gray', S_BAR),
      wrapTextWithPrefix(output, message, `${bar}  `, `${symbol(this.state)}  `),
    ];
    if (isOver) return [...head, ...this.#overLines().map((line) => `${bar}  ${line}`)].join('\n');
    const editor = this.#editorLines();
    const table = ['', ...this.#tableLines()];
    const [enter = '', keys = ''] = this.#helpLines();
    const bodies = [
      [...editor, ...table, '', enter, keys],
      [...editor, ...table, '', enter],
      [...editor, ...table],
      editor,
    ].map((body) =>
      [
        ...head,
        ...body.map((line) => wrapTextWithPrefix(output, line, `${bar}  `).trimEnd()),
        styleText('cyan', S_BAR_END),
        '',
      ].join('\n'),
    );
    // A frame that is higher than the terminal leaves its first lines behind when it is drawn again.
    return bodies.find((frame) => frame.split('\n').length <= getRows(output)) ?? bodies.at(-1) ?? '';
  }

  #overLines(): readonly string[] {
    if (this.state === 'cancel')
      return this.#isEmpty ? [] : this.#text.lines.map((line) => styleText(['strikethrough', 'dim'], line));
    if (this.value?.kind === 'form') return [styleText('dim', 'step by step')];
    const table = this.#tableOf(this.value?.fields ?? []);
    return table.map((line) => styleText('dim', line));
  }

  /** The lines around the cursor, each with its error below it. */
  #editorLines(): readonly string[] {
    const { suggested } = this.#options;
    if (this.#isEmpty && this.#text.lines.length === 1) {
      const [first = '', ...rest] = suggested;
      const shown =
        first === '' ? ['█'] : [styleText('inverse', first[0] ?? ' ') + styleText('dim', first.slice(1))];
      return [
        `1  ${shown}`,
        ...rest.map((line, i) => `${i + 2}  ${styleText('dim', line)}`),
        ...this.#refusal(),
      ];
    }
    const { errors } = this.#checked();
    const { lines, row } = this.#text;
    const room = Math.max(3, Math.floor((getRows(this.#options.output) - 10) / 2));
    const from = Math.max(0, Math.min(row - Math.floor(room / 2), lines.length - room));
    return lines.slice(from, from + room).flatMap((line, i) => {
      const index = from + i;
      const number = String(index + 1).padEnd(3);
      const shown = index === row ? this.#lineWithCursor() : singleLine(line);
      return [`${number}${shown}`, ...this.#below(index, errors.get(index))];
    });
  }

  #lineWithCursor(): string {
    const [before, after] = edit.aroundCursor(this.#text);
    const [under, ...rest] = [...after];
    if (under === undefined) return `${singleLine(before)}█`;
    return `${singleLine(before)}${styleText('inverse', singleLine(under))}${singleLine(rest.join(''))}`;
  }

  /** The error of a line, dimmed while it is being typed, and what Tab would complete. */
  #below(index: number, error: InputError | undefined): readonly string[] {
    if (index !== this.#text.row) return error ? [`   ${styleText('yellow', sentence(error))}`] : [];
    const words = this.#completing?.words ?? completionOf(edit.aroundCursor(this.#text)[0]).words;
    const completion =
      words.length === 0 ? [] : [`   ${styleText('dim', `Tab: ${words.slice(0, 8).join(' · ')}`)}`];
    if (error === undefined) return [...completion, ...this.#refusal()];
    if (this.#isRefused) return [`   ${styleText('yellow', sentence(error))}`, ...completion];
    return completion.length > 0 ? completion : [`   ${styleText('dim', sentence(error))}`];
  }

  #refusal(): readonly string[] {
    if (!this.#isRefused) return [];
    return [
      `   ${styleText('yellow', 'At least one field is needed. Write one, such as price:number Price in USD.')}`,
    ];
  }

  #tableLines(): readonly string[] {
    if (this.#isNone) return ['The tool has no input.'];
    return this.#tableOf(this.#checked().fields).map((line) => styleText('dim', line));
  }

  #tableOf(fields: readonly Field[]): readonly string[] {
    if (fields.length === 0) return this.value ? ['none'] : [];
    const { output, hasDefaults } = this.#options;
    const head = { name: 'Name', required: hasDefaults ? 'Required' : 'Always', hasDefaults };
    const lines = tableLines(fieldRows(fieldsSchema(fields)), head, getColumns(output) - 4).map(singleLine);
    const room = Math.max(4, Math.floor((getRows(output) - 10) / 2));
    return lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more`];
  }

  #helpLines(): readonly string[] {
    const { suggested, optional } = this.#options;
    const orNone = optional ? `, ${none} for no input` : '';
    const enter = !this.#isEmpty
      ? 'Enter starts the next line; on an empty line, it finishes'
      : suggested.length > 0
        ? `Enter accepts this · → edits it · or type your own${orNone}`
        : `Write one field per line${optional ? ', or Enter for no input' : ''}`;
    const tab = 'Tab completes; on an empty line, it asks step by step';
    return [enter, `${tab} · ${keysShown}`].map((line) => styleText('dim', line));
  }
}

function sentence({ message, hint }: InputError): string {
  return singleLine(`${message}. ${hint}`);
}
