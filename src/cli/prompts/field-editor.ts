import { styleText } from 'node:util';
import { getColumns, getRows, Prompt } from '@clack/core';
import { errorLine, type InputError, singleLine } from 'market-mcp-contract/command';
import { type CheckedLines, checkLines, completionOf } from '../../fields/field-lines.ts';
import { fieldsSchema } from '../../fields/shape.ts';
import { fieldRows, tableLines } from '../../fields/table.ts';
import type { Field } from '../../model/tool-model.ts';
import { isPromptOver, promptFrame, type Streams, suggestion } from './line-prompt.ts';
import * as edit from './text-lines.ts';

/** Parameters of a tool, or fields of its answer. */
export interface FieldKind {
  /** `parameter` */
  readonly noun: string;
  /** The flag that takes the same lines: `--input`. */
  readonly flag: string;
  /** Lines that show the syntax. */
  readonly samples: readonly string[];
  /** `Must symbol be given?` */
  isRequired(path: string): string;
  /** Only parameters have defaults, and there may be none of them, written `none`. */
  readonly isInput: boolean;
}

export interface FieldEditorOptions extends Streams {
  readonly message: string;
  readonly kind: FieldKind;
  /** The initial lines. */
  readonly lines: readonly string[];
  /** The answer for Enter while nothing is typed; shown dimmed. */
  readonly suggested: readonly string[];
}

/** The lines and the cursor's row; `fields` is absent if the author asked for the form. */
export interface FieldEditorAnswer {
  readonly lines: readonly string[];
  readonly row: number;
  readonly fields?: readonly Field[];
}

const none = 'none';
const lineNeeded = 'At least one field is needed. Write one, such as price:number Price in USD.';
const keysShown =
  'Tab completes; on an empty line, it asks step by step · ↑↓ moves · Shift-↑↓ reorders · Ctrl-K removes the line · Esc goes back';

/**
 * Asks for fields in the field language, one per line, and shows the meaning of the lines while they are typed.
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
    const { input, output, signal } = options;
    super({ input, output, signal, render: () => this.#frame() }, false);
    this.#options = options;
    this.#text = edit.textLines(options.lines);
    this.on('key', (character, key) => this.#press(character, key));
  }

  /** Inserts pasted text; its lines become lines of the editor. */
  paste(pasted: string): void {
    const clean = pasted
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll('\t', ' ')
      .replaceAll(/(?!\n)\p{Cc}/gu, '');
    this.#change(edit.insert(this.#text, clean));
  }

  /** The present text. */
  get lines(): readonly string[] {
    return this.#text.lines;
  }

  /** The typed fields, of all lines without an error. */
  get typed(): readonly Field[] {
    if (this.#isEmpty) return [];
    return this.#checked().fields;
  }

  get #isEmpty(): boolean {
    return this.lines.every((line) => line.trim() === '');
  }

  get #isNone(): boolean {
    const text = this.lines.join('').trim();
    const isChosen = text === none || (text === '' && this.#options.suggested.length === 0);
    return this.#options.kind.isInput && isChosen;
  }

  #checked(): CheckedLines {
    const { kind, suggested } = this.#options;
    if (this.#isNone) return { fields: [], errors: new Map() };
    return checkLines(this.#isEmpty ? suggested : this.lines, kind.flag);
  }

  #change(text: edit.TextLines): void {
    this.#text = text;
    this.#isRefused = false;
    this.#completing = undefined;
  }

  #press(character: string | undefined, key: edit.KeyPress): void {
    const { suggested } = this.#options;
    // In an empty editor, the right arrow turns the suggestion into editable text.
    const takes = key.name === 'right' && this.#isEmpty && suggested.length > 0;
    const text = takes ? edit.textLines(suggested) : edit.edited(this.#text, character, key);
    if (key.name === 'tab') this.#tab();
    else if (text) this.#change(text);
  }

  /** Completes the word before the cursor; again, with the next candidate. On an empty line, opens the form. */
  #tab(): void {
    const { lines, row } = this.#text;
    if ((lines[row] ?? '').trim() === '') {
      this.value = { lines, row };
      this.state = 'submit';
      return;
    }
    const completing = this.#completing ?? { ...this.#completion(), index: -1 };
    if (completing.words.length === 0) return;
    completing.index = (completing.index + 1) % completing.words.length;
    this.#change(edit.replaceBefore(this.#text, completing.before + completing.words[completing.index]));
    this.#completing = completing;
  }

  #completion() {
    return this.#completing ?? completionOf(edit.aroundCursor(this.#text)[0]);
  }

  protected override _shouldSubmit(): boolean {
    const { lines, row } = this.#text;
    const { fields, errors } = this.#checked();
    const isLast = row === lines.length - 1;
    const isDone = this.#isEmpty || this.#isNone || (isLast && lines[row]?.trim() === '');
    const invalidRow = errors.has(row) ? row : undefined;
    const invalid = isDone ? [...errors.keys()][0] : invalidRow;
    if (invalid !== undefined) this.#change(edit.at(this.#text, invalid));
    else if (!isDone) {
      const end = edit.at(this.#text, row);
      this.#change(isLast ? edit.insert(end, '\n') : edit.at(end, row + 1));
      return false;
    }
    this.#isRefused = invalid !== undefined || (fields.length === 0 && !this.#isNone);
    this.value = this.#isRefused ? undefined : { lines, row, fields };
    return !this.#isRefused;
  }

  #frame(): string {
    const { message, output } = this.#options;
    if (isPromptOver(this.state)) return promptFrame(output, this.state, message, this.#overLines());
    const editor = this.#editorLines();
    const table = ['', ...this.#tableLines(this.#checked().fields)];
    const help = [styleText('dim', this.#enterHelp()), styleText('dim', keysShown)];
    const frames = [
      [...editor, ...table, '', ...help],
      [...editor, ...table, '', ...help.slice(0, 1)],
      [...editor, ...table],
      editor,
    ].map((body) => promptFrame(output, this.state, message, body));
    // A frame that is higher than the terminal leaves its first lines behind when it is drawn again.
    return frames.find((frame) => frame.split('\n').length <= getRows(output)) ?? frames.at(-1) ?? '';
  }

  #overLines(): readonly string[] {
    if (this.state === 'cancel')
      return this.#isEmpty ? [] : this.lines.map((line) => styleText(['strikethrough', 'dim'], line));
    if (!this.value?.fields) return [styleText('dim', 'step by step')];
    if (this.value.fields.length > 0) return this.#tableLines(this.value.fields);
    return [styleText('dim', none)];
  }

  /** The lines around the cursor, each with its error below it. */
  #editorLines(): readonly string[] {
    const { lines, row } = this.#text;
    if (this.#isEmpty && lines.length === 1) {
      const [first = '', ...rest] = this.#options.suggested;
      const firstLines = [
        first === '' ? '█' : suggestion(first),
        ...rest.map((line) => styleText('dim', line)),
      ];
      return [...firstLines.map((line, i) => `${i + 1}  ${line}`), ...this.#refusal()];
    }
    const { errors } = this.#checked();
    const room = this.#room(3);
    const from = Math.max(0, Math.min(row - Math.floor(room / 2), lines.length - room));
    return lines.slice(from, from + room).flatMap((line, i) => {
      const index = from + i;
      const shownLine = index === row ? this.#lineWithCursor() : singleLine(line);
      return [`${String(index + 1).padEnd(3)}${shownLine}`, ...this.#below(index, errors.get(index))];
    });
  }

  /** How many lines of text, or of the table, fit in the terminal. */
  #room(least: number): number {
    return Math.max(least, Math.floor((getRows(this.#options.output) - 10) / 2));
  }

  #lineWithCursor(): string {
    const [before, after] = edit.aroundCursor(this.#text);
    const [under, ...rest] = [...after];
    if (under === undefined) return `${singleLine(before)}█`;
    return `${singleLine(before)}${styleText('inverse', singleLine(under))}${singleLine(rest.join(''))}`;
  }

  /** The error of a line, dimmed while it is being typed, and what Tab would complete. */
  #below(index: number, error: InputError | undefined): readonly string[] {
    const errorText = error === undefined ? '' : errorLine(error);
    const errorLines = error === undefined ? [] : [`   ${styleText('yellow', errorText)}`];
    if (index !== this.#text.row) return errorLines;
    const { words } = this.#completion();
    const candidates = words.slice(0, 8).join(' · ');
    const completion = words.length === 0 ? [] : [`   ${styleText('dim', `Tab: ${candidates}`)}`];
    if (error === undefined) return [...completion, ...this.#refusal()];
    if (this.#isRefused) return [...errorLines, ...completion];
    if (completion.length > 0) return completion;
    return [`   ${styleText('dim', errorText)}`];
  }

  #refusal(): readonly string[] {
    if (this.#isRefused) return [`   ${styleText('yellow', lineNeeded)}`];
    return [];
  }

  #tableLines(fields: readonly Field[]): readonly string[] {
    const { output, kind } = this.#options;
    if (this.#isNone) return ['The tool has no input.'];
    if (fields.length === 0) return [];
    const { isInput: hasDefaults } = kind;
    const head = { name: 'Name', required: hasDefaults ? 'Required' : 'Always', hasDefaults };
    const lines = tableLines(fieldRows(fieldsSchema(fields)), head, getColumns(output) - 4).map(singleLine);
    const room = this.#room(4);
    const visibleLines =
      lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more`];
    return visibleLines.map((line) => styleText('dim', line));
  }

  #enterHelp(): string {
    const { suggested, kind } = this.#options;
    const orNone = kind.isInput ? `, ${none} for no input` : '';
    if (!this.#isEmpty) return 'Enter starts the next line; on an empty line, it finishes';
    if (suggested.length > 0) return `Enter accepts this · → edits it · or type your own${orNone}`;
    return `Write one field per line${kind.isInput ? ', or Enter for no input' : ''}`;
  }
}
