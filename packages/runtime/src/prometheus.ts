import { type Gauge, readGauge, unknownName } from './server/log.ts';

/** A metric: its name, what it says, and its current values. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Lines of the text form, without the comments. */
  lines(): Iterable<string>;
}

/** All metrics in the text form of Prometheus, version 0.0.4. */
export function metricsText(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap((metric) => [
    `# HELP ${metric.name} ${metric.help}`,
    `# TYPE ${metric.name} ${metric.type}`,
    ...metric.lines(),
  ]);
  return `${lines.join('\n')}\n`;
}

/** @returns a metric that counts, for each list of label values */
export function createCounter(name: string, help: string, labels: readonly string[]) {
  const counts = new Map<string, number>();
  return {
    name,
    help,
    type: 'counter' as const,
    add(values: readonly string[]): void {
      const key = labelsText(labels, values);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    lines: () => [...counts].map(([key, count]) => `${name}{${key}} ${count}`),
  };
}

/**
 * @param bounds upper bounds of the buckets, ascending
 * @returns a metric that counts values in buckets, for each list of label values
 */
export function createHistogram(
  name: string,
  help: string,
  labels: readonly string[],
  bounds: readonly number[],
) {
  const series = new Map<string, { readonly buckets: number[]; sum: number; count: number }>();
  return {
    name,
    help,
    type: 'histogram' as const,
    add(values: readonly string[], value: number): void {
      const key = labelsText(labels, values);
      const histogram = series.get(key) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 };
      series.set(key, histogram);
      const at = bounds.findIndex((bound) => value <= bound);
      if (at !== -1) histogram.buckets[at] = (histogram.buckets[at] ?? 0) + 1;
      histogram.sum += value;
      histogram.count++;
    },
    *lines() {
      for (const [key, { buckets, sum, count }] of series) {
        let cumulative = 0;
        for (const [at, bound] of bounds.entries()) {
          cumulative += buckets[at] ?? 0;
          yield `${name}_bucket{${key},le="${bound}"} ${cumulative}`;
        }
        yield `${name}_bucket{${key},le="+Inf"} ${count}`;
        yield `${name}_sum{${key}} ${sum}`;
        yield `${name}_count{${key}} ${count}`;
      }
    },
  };
}

/** @returns a metric whose value is read when it is asked for */
export function createGauge(
  name: string,
  help: string,
  read: () => number,
  labels: { readonly [name: string]: string } = {},
  type: 'counter' | 'gauge' = 'gauge',
): Metric {
  const key = labelsText(Object.keys(labels), Object.values(labels));
  return { name, help, type, lines: () => [`${name}${key && `{${key}}`} ${read()}`] };
}

/** @returns a metric with the present values of a gauge of the server */
export function createReadingGauge(name: string, help: string, gauge: Gauge): Metric {
  const lines = () =>
    readGauge(gauge).map(({ value, labels = {} }) => {
      const key = labelsText(Object.keys(labels), Object.values(labels));
      return `${name}${key && `{${key}}`} ${value}`;
    });
  return { name, help, type: 'gauge', lines };
}

/** Maximum number of values of a label that others choose, and of the characters of each. */
const limits = { values: 100, characters: 100 };

/** @returns a function that gives the first hundred different values, and `_OTHER` for all further ones */
export function limited(): (value: string) => string {
  const knownValues = new Set<string>();
  return (value) => {
    const short = value.slice(0, limits.characters);
    if (knownValues.size < limits.values) knownValues.add(short);
    return knownValues.has(short) ? short : unknownName;
  };
}

function labelsText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, at) => `${name}="${escapeLabel(values[at] ?? '')}"`).join(',');
}

const escapes: { readonly [character: string]: string } = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => escapes[character] ?? character);
}
