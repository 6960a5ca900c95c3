import { type JsonObject, objectOr, parseJsonText } from 'market-mcp-contract/json';

/** An error in the code of a server, as the runtime logs it: one JSON line `{"event":"incident",…}`. */
export interface Incident {
  /** The id that the caller got in place of the error; absent if the error belongs to no call. */
  readonly id?: string;
  readonly tool?: string;
  /** A stack, or the mismatch between an answer and its schema. */
  readonly detail: string;
  /** What to do, one sentence. */
  readonly hint?: string;
}

/**
 * A request to an API that failed in a call, as the runtime logs it: one JSON line `{"event":"source",…}`. Or the cause that a tool
 * gave to `fail`: `{"event":"failure",…}`.
 */
export interface SourceFailure {
  readonly tool?: string;
  /** The code that the tool answered with, unless it chose another one. */
  readonly code: string;
  /** Absent in the log of an earlier runtime. */
  readonly detail?: string;
  /** The place of the author's code, `src/tools/get-gas.ts:24`; absent in production. */
  readonly at?: string;
  /** What to do, one sentence. */
  readonly hint?: string;
  /** The request and the status of its response: `GET /parcels/{id} of api.example.com: HTTP 401`. */
  readonly request?: string;
}

/** Limits; the first incidents matter most. */
const bounds = { incidents: 500, failures: 500, answers: 100_000, detail: 8_000, line: 64 * 1024 } as const;

/** An answer that a tool got through the source kit, as the runtime logs it for a check. */
export interface SourceAnswer {
  /** `document`: an example from the API's own document. */
  readonly from: 'network' | 'recorded' | 'document';
  /** `GET /gas/{chain}` */
  readonly request: string;
}

/** Reads a log in pieces and keeps its incidents, the sources of answers, and for each tool and code the last failed request to an API. */
export class ServerLog {
  readonly #incidents: Incident[] = [];
  readonly #failures = new Map<string, SourceFailure>();
  readonly #answers: SourceAnswer[] = [];
  #rest = '';

  get answers(): readonly SourceAnswer[] {
    return this.#answers;
  }

  get incidents(): readonly Incident[] {
    return this.#incidents;
  }

  get failures(): readonly SourceFailure[] {
    return [...this.#failures.values()];
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, bounds.line);
    for (const line of lines) {
      const incident = this.#incidents.length < bounds.incidents && loggedIncident(line);
      if (incident) this.#incidents.push(incident);
      const answer = this.#answers.length < bounds.answers && loggedSourceAnswer(line);
      if (answer) this.#answers.push(answer);
      const failure = this.#failures.size < bounds.failures && loggedFailure(line);
      if (failure) this.#failures.set(failureKey(failure), failure);
    }
  }
}

/** A cause that a tool gave does not replace its failed request, which says more. */
function failureKey({ tool, code, request }: SourceFailure): string {
  return `${tool} ${code} ${request !== undefined}`;
}

/**
 * The errors that a server has printed to its standard error: `get_price TypeError: …` with its stack, as
 * `console.error('get_price', error)` prints it. A word before the error is read as the name of a tool.
 */
export function printedErrors(errors: string): readonly Incident[] {
  const printed = errors.slice(0, firstCrash(errors)).matchAll(printedError);
  return [...printed].map(({ groups: { tool, detail = '' } = {} }) => ({
    ...(tool !== undefined && { tool }),
    detail: detail.slice(0, bounds.detail),
  }));
}

const printedError =
  /^(?:(?<tool>[\w.-]+):? )?(?<detail>(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)\b(?: \[\w+\])?:? ?.*(?:\n(?! {4}at ).*){0,4}(?:\n {4}at .*)+(?:\n +\[?cause\]?: .*)?)/gm;

/** The error that ended the process is not a printed one. */
function firstCrash(errors: string): number {
  const at = errors.search(/^\S.*:\d+\n(?:.*\n)?[ \t~]*\^+\n/m);
  return at === -1 ? errors.length : at;
}

function loggedIncident(line: string): Incident | undefined {
  const { id, tool, detail, hint } = membersOfEvent(line, 'incident');
  if (typeof detail !== 'string') return undefined;
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof tool === 'string' && { tool }),
    detail: detail.slice(0, bounds.detail),
    ...(typeof hint === 'string' && { hint }),
  };
}

function loggedFailure(line: string): SourceFailure | undefined {
  const members = membersOfEvent(line, 'source', 'failure');
  const { tool, code, detail, at, hint } = members;
  const request = loggedRequest(members);
  if (typeof code !== 'string') return undefined;
  return {
    code,
    ...(typeof tool === 'string' && { tool }),
    ...(typeof detail === 'string' && { detail: detail.slice(0, bounds.detail) }),
    ...(typeof at === 'string' && { at }),
    ...(typeof hint === 'string' && { hint }),
    ...(request !== undefined && { request }),
  };
}

function loggedRequest({ method, path, host, status }: JsonObject): string | undefined {
  if (typeof method !== 'string' || typeof path !== 'string') return undefined;
  const target = typeof host === 'string' ? ` of ${host}` : '';
  const request = `${method.toUpperCase()} ${path}${target}`;
  if (typeof status === 'number') return `${request}: HTTP ${status}`;
  return request;
}

function loggedSourceAnswer(line: string): SourceAnswer | undefined {
  const { from, request } = membersOfEvent(line, 'source-answer');
  if (typeof request !== 'string') return undefined;
  if (from === 'network' || from === 'recorded' || from === 'document') return { from, request };
  return undefined;
}

/** The members of a log line with one of these events; none of another line. */
function membersOfEvent(line: string, ...events: readonly string[]): JsonObject {
  const isLikely = line.startsWith('{') && events.some((event) => line.includes(`"${event}"`));
  const members = objectOr(isLikely ? parseJsonText(line)[0] : undefined);
  if (events.includes(String(members.event))) return members;
  return {};
}
