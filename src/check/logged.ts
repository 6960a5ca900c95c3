/** An error in the code of a server, as the runtime logs it: one JSON line `{"event":"incident",…}`. */
export interface Incident {
  /** What the caller was told in place of the error; absent where the error belongs to no call. */
  readonly id?: string;
  readonly tool?: string;
  /** A stack, or where an answer differs from its schema. */
  readonly detail: string;
}

/** What is kept of a log: the first errors are those that count. */
const bounds = { incidents: 500, detail: 8_000, line: 64 * 1024 } as const;

/** Gathers the incidents of a log that comes in pieces. */
export class IncidentLog {
  readonly #incidents: Incident[] = [];
  #rest = '';

  get incidents(): readonly Incident[] {
    return this.#incidents;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, bounds.line);
    for (const line of lines) {
      const incident = this.#incidents.length < bounds.incidents && incidentIn(line);
      if (incident) this.#incidents.push(incident);
    }
  }
}

/**
 * The errors in what a server has printed to its standard error: `get_price TypeError: …` with its stack, as
 * `console.error('get_price', error)` prints it. A word in front is taken for the name of a tool.
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

/** An error of which the process died is not a printed one. */
function firstCrash(errors: string): number {
  const at = errors.search(/^\S.*:\d+\n(?:.*\n)?[ \t~]*\^+\n/m);
  return at === -1 ? errors.length : at;
}

function incidentIn(line: string): Incident | undefined {
  if (!line.startsWith('{') || !line.includes('"incident"')) return undefined;
  try {
    const { event, id, tool, detail } = JSON.parse(line);
    if (event !== 'incident' || typeof detail !== 'string') return undefined;
    return {
      ...(typeof id === 'string' && { id }),
      ...(typeof tool === 'string' && { tool }),
      detail: detail.slice(0, bounds.detail),
    };
  } catch {
    return undefined;
  }
}
