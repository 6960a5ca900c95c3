/** A number that a part of the server can give at any time, with labels of a limited number of values. */
export interface Reading {
  readonly value: number;
  readonly labels?: { readonly [name: string]: string };
}

/** What the parts of a server say of their present state. */
export type Gauge =
  | 'ready'
  | 'keys'
  | 'shared'
  | 'calls'
  | 'callsLimit'
  | 'connections'
  | 'streams'
  | 'budgetRemaining';

const gauges = new Map<Gauge, Map<string, () => Reading>>();

/**
 * Lets the metrics read a number when somebody asks for them. The latest function of a gauge and key is read: a process has one server.
 *
 * @param key what the number is of, where there are several
 */
export function provide(gauge: Gauge, read: () => Reading, key = ''): void {
  const readers = gauges.get(gauge) ?? new Map<string, () => Reading>();
  gauges.set(gauge, readers);
  readers.set(key, read);
}

/** The present values of a gauge; none if no part of the server provides it. */
export function readingsOf(gauge: Gauge): readonly Reading[] {
  return [...(gauges.get(gauge)?.values() ?? [])].map((read) => read());
}
