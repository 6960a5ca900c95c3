import { type CommandError, type ExitCode, exitCodes } from './command-error.ts';
import { wrapText } from './format-text.ts';
import { type Paint, painted, plainPaint } from './paint.ts';
import { type Progress, type Sink, startProgress } from './progress.ts';
import { safeJson } from './safe-json.ts';
import { singleLine } from './single-line.ts';

export interface OutputOptions {
  readonly json: boolean;
  readonly stdout: Sink;
  readonly stderr: Sink;
}

type Style = keyof Paint;

/**
 * The only writer of a command. With `json`, stdout gets exactly one JSON object: the result, or `{"ok":false,"error":…}`.
 * Only an error after the result is written to stderr.
 */
export class Output {
  readonly #options: OutputOptions;
  #hasResult = false;
  #lineCount = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  get json(): boolean {
    return this.#options.json;
  }

  get hasColors(): boolean {
    return hasColors(this.#options.stdout);
  }

  /** The colours of standard output. */
  get paint(): Paint {
    return this.hasColors ? painted : plainPaint;
  }

  /** The number of lines for a person that were printed so far. */
  get lineCount(): number {
    return this.#lineCount;
  }

  /** A line of text. */
  line(text = ''): void {
    if (this.json) return;
    this.#lineCount += text.split('\n').length;
    this.#options.stdout.write(`${text}\n`);
  }

  /** A completed step. */
  done(text: string): void {
    this.#marked(this.style('green', '✔'), text);
  }

  /** A note for the author. */
  note(text: string): void {
    this.#marked(this.style('yellow', '!'), text);
  }

  /** A sentence in an indented line, which wraps between words at a terminal. */
  paragraph(text: string, indent: number): void {
    for (const line of wrapLines(this.#options.stdout, text, indent))
      this.line(`${' '.repeat(indent)}${line}`);
  }

  /** The number of lines that a note takes. */
  heightOf(text: string): number {
    return wrapLines(this.#options.stdout, text, 2).length;
  }

  /** Lines for a person beside the result, which may be for a program. */
  comment(lines: readonly string[]): void {
    if (this.json) return;
    const { stderr } = this.#options;
    for (const text of lines) writeIndented(stderr, text, /^ */.exec(text)?.[0].length ?? 0);
  }

  /** The text that a command was asked for; printed with and without `json`. */
  text(text: string): void {
    this.#hasResult = true;
    this.#options.stdout.write(`${text}\n`);
  }

  /** The result of a command as JSON. @returns the exit code: 1 if the result is not `ok` */
  result(value: object): ExitCode {
    if (this.json) this.text(safeJson(value));
    if ('ok' in value && value.ok === false) return exitCodes.checkFailed;
    return exitCodes.ok;
  }

  /** The result of a command that failed, with its error. @returns the exit code of the error */
  failure(value: object, error: CommandError): ExitCode {
    if (this.json) this.result({ ...value, ok: false, error: errorData(error) });
    else this.error(error);
    return error.exitCode;
  }

  error(error: CommandError): void {
    const { message, hint, details } = error;
    const { stdout, stderr } = this.#options;
    if (this.json) {
      const isLate = this.#hasResult || error.code === 'NOT_WRITTEN';
      (isLate ? stderr : stdout).write(`${safeJson({ ok: false, error: errorData(error) })}\n`);
      return;
    }
    const lines = message.split('\n').flatMap((line) => wrapLines(stderr, line, 2));
    stderr.write(`${styled(stderr, 'red', '✘')} ${lines.join('\n  ')}\n`);
    for (const detail of details) writeIndented(stderr, detail, 4);
    if (hint !== '') writeIndented(stderr, hint, 2);
  }

  /** A step in progress: animated on a terminal, silent elsewhere. */
  progress(text: string): Progress {
    const { stderr } = this.#options;
    return startProgress(this.json || !stderr.isTTY ? undefined : stderr, text);
  }

  style(style: Style, text: string): string {
    return styled(this.#options.stdout, style, text);
  }

  #marked(mark: string, text: string): void {
    this.line(`${mark} ${wrapLines(this.#options.stdout, text, 2).join('\n  ')}`);
  }
}

function errorData({ code, message, hint, details, data }: CommandError): object {
  return { code, message, hint, ...(details.length > 0 && { details }), ...data };
}

function writeIndented(sink: Sink, text: string, indent: number): void {
  for (const line of wrapLines(sink, text.slice(/^ */.exec(text)?.[0].length), indent))
    sink.write(`${' '.repeat(indent)}${line}\n`);
}

/** A text in printable lines. At a terminal, they wrap between words; a command at the end has a line for itself, to be copied. */
function wrapLines(sink: Sink, text: string, indent: number): readonly string[] {
  const line = singleLine(text);
  const width = (sink.columns ?? 80) - indent;
  if (!sink.isTTY || [...line].length <= width) return [line];
  const [, sentence = line, command] = finalCommand.exec(line) ?? [];
  return [...wrapText(sentence, width), ...(command === undefined ? [] : [command])];
}

const finalCommand = /^(.*?:) ((?:npx|npm|pnpm|yarn|bunx?|node|git|cd|docker) \S.*)$/;

function styled(sink: Sink, style: Style, text: string): string {
  return hasColors(sink) ? painted[style](text) : text;
}

/** Node's `hasColors` handles NO_COLOR, FORCE_COLOR and TERM. */
function hasColors(sink: Sink): boolean {
  return sink.isTTY === true && sink.hasColors?.() === true;
}
