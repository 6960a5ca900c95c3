/** A step outside of this program that failed. `lines` are the last ones it wrote. */
export class SystemError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly lines: readonly string[];

  constructor(code: string, message: string, hint: string, lines: readonly string[] = []) {
    super(message);
    this.name = 'SystemError';
    this.code = code;
    this.hint = hint;
    this.lines = lines;
  }
}
