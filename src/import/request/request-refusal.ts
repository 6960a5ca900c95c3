import { type Result, reject } from 'market-mcp-contract/command';

/** Why no tool can send a request, and what to write instead. Nothing has been sent then. */
export class RequestRefusal extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** Returns a refusal that `parse` throws as an error of the flag. @throws any other error */
export function catchRefusal<T>(parse: () => Result<T>): Result<T> {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RequestRefusal)
      return reject('--from-request', undefined, error.message, error.hint);
    throw error;
  }
}
