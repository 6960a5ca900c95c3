import { inspect } from 'node:util';
import { maxDetail } from './log.ts';

type Redact = (json: string) => string;
let redact: Redact = (json) => json;

/** Lets every later detail pass through a redactor: a function of JSON text to JSON text. */
export function redactDetailsBy(redactor: Redact): void {
  redact = redactor;
}

/** Further causes could be a cycle. */
const maxCauses = 5;

/** What the log says of an error: its stack and those of its causes, without keys, and not longer than `maxDetail`. */
export function errorDetail(error: unknown): string {
  return redactDetail(textOfError(error)).slice(0, maxDetail);
}

function redactDetail(text: string): string {
  return JSON.parse(redact(JSON.stringify(text)));
}

/** Other members of an error are not read: they can contain the headers of a request. */
function textOfError(error: unknown, level = 0): string {
  try {
    if (typeof error === 'string') return error;
    if (!(error instanceof Error)) return inspect(error, { depth: 0 });
    const stack = String(error.stack ?? error.message);
    const cause = error.cause ?? firstError(error);
    if (cause === undefined || level === maxCauses) return stack;
    return `${stack}\n[cause]: ${textOfError(cause, level + 1)}`;
  } catch {
    return 'an error whose text cannot be read';
  }
}

/** An AggregateError, such as that of a connection to a name with two addresses, often has no message itself. */
function firstError(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : undefined;
}
