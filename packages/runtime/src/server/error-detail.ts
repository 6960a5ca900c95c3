// The text of an error for the log.

import { inspect } from 'node:util';
import { maxDetail } from './log.ts';

type Redact = (json: string) => string;
let redact: Redact = (json) => json;

/** Sets the redactor of all later details: a function from JSON text to JSON text. */
export function redactDetailsBy(redactor: Redact): void {
  redact = redactor;
}

/** Maximum number of causes, because causes can form a cycle. */
const maxCauses = 5;

/** The text of an error for the log: its stack and the stacks of its causes, without keys, at most `maxDetail` characters. */
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

/** The first error of an AggregateError, which often has no message: a connection to a name with two addresses fails with one. */
function firstError(error: Error): unknown {
  if (error instanceof AggregateError) return error.errors[0];
  return undefined;
}
