/** Why a request is refused, and what to write instead. Nothing has been sent then. */
export class RequestRefusal extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
