import { safeJson } from '../check/report/json.ts';
import { type Paint, painted } from '../contract/report.ts';
import type { CommandError } from '../model/command-error.ts';
import { type Progress, startProgress } from './progress.ts';
import { singleLine } from './single-line.ts';
import type { Sink } from './sink.ts';

export interface OutputOptions {
  readonly json: boolean;
  readonly stdout: Sink;
  readonly stderr: Sink;
}

type Style = keyof Paint;

/**
 * The only writer of a command. With `json`, stdout gets exactly one JSON object and nothing else, and a failure is one
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

  /** A line for a person. */
  line(text = ''): void {
    if (!this.json) this.#options.stdout.write(`${text}\n`);
  }

  /** Something done. */
  done(text: string): void {
    this.line(`${this.style('green', '✔')} ${singleLine(text)}`);
  }

  /** Something the author should know. */
  note(text: string): void {
    this.line(`${this.style('yellow', '!')} ${singleLine(text)}`);
  }

  /** What a person should know while a command runs, beside its result, which may be for a program. */
  aside(lines: readonly string[]): void {
    if (this.json) return;
    for (const line of lines) this.#options.stderr.write(`${singleLine(line)}\n`);
  }

  /** The text that a command was asked for, in whatever form; `json` or not. */
  text(text: string): void {
    this.#options.stdout.write(`${text}\n`);
  }

  /** The result of a command for a program. */
  result(value: object): void {
    if (this.json) this.#options.stdout.write(`${safeJson(value)}\n`);
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

  /** A step under way: moving on a terminal, silent elsewhere. */
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

/** NO_COLOR, FORCE_COLOR and TERM are honoured by Node's own `hasColors`. */
function hasColors(sink: Sink): boolean {
  return sink.isTTY === true && sink.hasColors?.() === true;
}
