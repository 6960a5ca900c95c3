import { causeOf } from '../../check/causes.ts';
import { printedErrors } from '../../check/logged.ts';
import { isObject, objectOr } from '../../contract/json.ts';
import type { JsonObject } from '../../contract/model.ts';
import { incidentIn } from '../../contract/probe/rpc.ts';
import type { CallReport } from './caller.ts';
import type { CallCause } from './model.ts';
import type { LogLine } from './traffic.ts';
import { walkableJsonIn } from './values.ts';
import { hasNoMismatch } from './verdict.ts';

/** Whether a call did not end as calls should: it has a cause. */
export function wantsCause({ expected, verdict }: CallReport): boolean {
  if (expected) return !expected.met;
  return !['found', 'empty'].includes(verdict.outcome) || !hasNoMismatch(verdict);
}

/** Whether a server has written all about a call: its log line is the last. */
export function isLogged(logs: readonly LogLine[]): boolean {
  return eventsIn(logs).some(({ event }) => event === 'call' || event === 'refused');
}

/** What the answer to a failed call says: the code and the message of the failure, and the id of its incident in the log. */
export interface FailedAnswer {
  readonly code: string | null;
  readonly message: string | null;
  readonly incident: string | undefined;
}

/** What a result says of its failure (C§2.2); a call without a result has none of it. */
export function failureIn(result: JsonObject | null): FailedAnswer {
  const { error, message } = objectOr(result?.structuredContent);
  return { code: textOr(error), message: textOr(message), incident: incidentIn(result?.content) };
}

/**
 * The cause of a failed call; null if neither the answer nor the log has one.
 *
 * @param directory the project: places are shown relative to it
 * @param file the source of the tool, if it is known
 */
export function causeIn(
  { code, message: answered, incident }: FailedAnswer,
  logs: readonly LogLine[],
  directory: string,
  file: string | undefined,
): CallCause | null {
  const events = eventsIn(logs);
  const incidents = events.filter(({ event }) => event === 'incident');
  const logged =
    incidents.find(({ id }) => id !== undefined && id === incident) ??
    events.findLast((line) => line.event === 'source' && line.code === code) ??
    events.findLast(({ event }) => event === 'refused') ??
    incidents.find(({ id }) => id === undefined);
  const errors = logs.flatMap(({ stream, text }) => (stream === 'stderr' ? [`${text}\n`] : [])).join('');
  const printed = logged ? undefined : printedErrors(errors).at(-1)?.detail;
  const message = textOr(logged?.detail) ?? textOr(logged?.reason) ?? printed ?? answered;
  if (message === null) return null;
  // Wrong arguments are no error of the tool.
  const isElsewhere = logged !== undefined || printed !== undefined || code === 'INVALID_ARGUMENTS';
  const { at = textOr(logged?.at) ?? (isElsewhere ? undefined : file), ...cause } = causeOf(
    message,
    directory,
  );
  const advice = fixes.get(textOr(logged?.event) ?? code ?? '');
  const correct = at === undefined ? null : `Correct ${at}.`;
  const elsewhere = isLogged(logs) ? null : 'Read the log of the server where it runs: it is not here.';
  const fix = textOr(logged?.hint) ?? advice ?? (logged || printed ? correct : elsewhere);
  const lines = logs.flatMap(({ text }) => text.split('\n'));
  return { ...cause, ...(at !== undefined && { at }), code, source: sourceOf(logged), fix, lines };
}

/** What to do where the log has no advice: by the code of the answer, or the event. */
const fixes: ReadonlyMap<string, string> = new Map([
  ['INVALID_ARGUMENTS', 'Send arguments that match the inputSchema.'],
  [
    'DEADLINE_EXCEEDED',
    'Make the tool faster: pass signal to all that it waits for, and let that end earlier.',
  ],
  ['refused', 'Compare the PLATFORM_ variables of the server with those of this marketplace.'],
]);

function sourceOf({ event, method, path, host, status }: JsonObject = {}): string | null {
  if (event !== 'source' || typeof method !== 'string' || typeof path !== 'string') return null;
  const asked = `${method.toUpperCase()} ${path}${typeof host === 'string' ? ` of ${host}` : ''}`;
  return typeof status === 'number' ? `${asked}: HTTP ${status}` : asked;
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function eventsIn(logs: readonly LogLine[]): readonly JsonObject[] {
  const lines = logs.flatMap(({ text }) => text.split('\n').filter((line) => line.startsWith('{')));
  return lines.flatMap(walkableJsonIn).filter(isObject);
}
