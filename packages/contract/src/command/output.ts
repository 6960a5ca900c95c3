import { type CommandError, type ExitCode, exitCodes } from './command-error.ts';
import { type Paint, painted, plain } from './paint.ts';
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
 * The only writer of a command. With `json`, stdout gets exactly one JSON object, and a failure is one
 * JSON line on stderr.
 */
export class Output {
  readonly #options: OutputOptions;

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
    return this.hasColors ? painted : plain;
  }

  /** A line of text. */
  line(text = ''): void {
    if (!this.json) this.#options.stdout.write(`${text}\n`);
  }

  /** A completed step. */
  done(text: string): void {
    this.line(`${this.style('green', '✔')} ${singleLine(text)}`);
  }

  /** A note for the author. */
  note(text: string): void {
    this.line(`${this.style('yellow', '!')} ${singleLine(text)}`);
  }

  /** Lines for a person beside the result, which may be for a program. */
  comment(lines: readonly string[]): void {
    if (this.json) return;
    for (const line of lines) this.#options.stderr.write(`${singleLine(line)}\n`);
  }

  /** The text that a command was asked for; printed with and without `json`. */
  text(text: string): void {
    this.#options.stdout.write(`${text}\n`);
  }

  /** The result of a command as JSON. @returns the exit code: 1 if the result is not `ok` */
  result(value: object): ExitCode {
    if (this.json) this.#options.stdout.write(`${safeJson(value)}\n`);
    return 'ok' in value && value.ok === false ? exitCodes.checkFailed : exitCodes.ok;
  }

  error({ code, message, hint, details, data }: CommandError): void {
    const { stderr } = this.#options;
    if (this.json) {
      const error = { code, message, hint, ...(details.length > 0 && { details }), ...data };
      stderr.write(`${safeJson({ error })}\n`);
      return;
    }
    stderr.write(`${styled(stderr, 'red', '✘')} ${message.split('\n').map(singleLine).join('\n  ')}\n`);
    for (const detail of details) stderr.write(`    ${singleLine(detail)}\n`);
    if (hint !== '') stderr.write(`  ${singleLine(hint)}\n`);
  }

  /** A step in progress: animated on a terminal, silent elsewhere. */
  progress(text: string): Progress {
    const { stderr } = this.#options;
    return startProgress(this.json || !stderr.isTTY ? undefined : stderr, text);
  }

  style(style: Style, text: string): string {
    return styled(this.#options.stdout, style, text);
  }
}

function styled(sink: Sink, style: Style, text: string): string {
  return hasColors(sink) ? painted[style](text) : text;
}

/** Node's `hasColors` handles NO_COLOR, FORCE_COLOR and TERM. */
function hasColors(sink: Sink): boolean {
  return sink.isTTY === true && sink.hasColors?.() === true;
}
