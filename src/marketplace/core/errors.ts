/** What a person or a program asked of the marketplace and cannot have. */
export class MarketError extends Error {
  /** Constant for programs, `NO_SUCH_LISTING`. */
  readonly code: string;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.name = 'MarketError';
    this.code = code;
    this.hint = hint;
  }
}
