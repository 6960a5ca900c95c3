import { diff3Merge, diffIndices } from 'node-diff3';

/** A merged text and its conflicts. */
export interface Merged {
  readonly text: string;
  /** The lines of the opening markers, 1-based. Empty if there are no conflicts. */
  readonly conflicts: readonly number[];
}

/** Limit of equal line pairs, which bounds the time of a merge: 2,000 equal lines on each side make 4,000,000 pairs. */
const maxPairs = 250_000;

const [opening, middle] = ['<<<<<<< yours', '======='];

/**
 * Three-way merge of texts, line by line. Conflicting changes are put between markers.
 *
 * @param label names `theirs` after the closing marker
 */
export function mergeLines(base: string, ours: string, theirs: string, label: string): Merged {
  const [a, o, b] = [ours, base, theirs].map((text) => text.split('\n')) as [string[], string[], string[]];
  const out = new Lines(label);
  if (pairsOf(a, o) + pairsOf(b, o) > maxPairs) out.differ(a, b);
  else {
    for (const { ok, conflict } of diff3Merge(a, o, b, { excludeFalseConflicts: true })) {
      if (ok) out.agree(ok);
      else if (conflict) out.differ(conflict.a, conflict.b);
    }
  }
  return out.merged();
}

/** Merges two texts without a base: every difference is put between markers. */
export function markDifferences(ours: string, theirs: string, label: string): Merged {
  const [a, b] = [ours.split('\n'), theirs.split('\n')];
  const out = new Lines(label);
  let at = 0;
  for (const {
    buffer1: [start, length],
    buffer1Content,
    buffer2Content,
  } of diffIndices(a, b)) {
    out.agree(a.slice(at, start));
    out.differ(buffer1Content, buffer2Content);
    at = start + length;
  }
  out.agree(a.slice(at));
  return out.merged();
}

/** Whether a text still contains a marker of `mergeLines`. */
export function hasMarkers(text: string): boolean {
  return /^(?:<<<<<<< yours|>>>>>>> create-market-mcp \S+)\r?$/m.test(text);
}

/** The number of pairs of equal lines, which determines the time of the search for common lines. */
function pairsOf(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of b) counts.set(line, (counts.get(line) ?? 0) + 1);
  return a.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}

/** Builds a merged text. */
class Lines {
  /** The line that ends a conflict. */
  readonly #closing: string;
  readonly #lines: string[] = [];
  readonly #conflicts: number[] = [];

  constructor(label: string) {
    this.#closing = `>>>>>>> ${label}`;
  }

  agree(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  /** Lines that both sides share at the beginning or the end are put outside the markers. */
  differ(ours: readonly string[], theirs: readonly string[]): void {
    const most = Math.min(ours.length, theirs.length);
    let head = 0;
    while (head < most && ours[head] === theirs[head]) head += 1;
    let tail = 0;
    while (tail < most - head && ours.at(-1 - tail) === theirs.at(-1 - tail)) tail += 1;
    this.agree(ours.slice(0, head));
    this.#conflicts.push(this.#lines.length + 1);
    this.agree([opening, ...ours.slice(head, ours.length - tail), middle]);
    this.agree([...theirs.slice(head, theirs.length - tail), this.#closing]);
    this.agree(ours.slice(ours.length - tail));
  }

  merged(): Merged {
    return { text: this.#lines.join('\n'), conflicts: this.#conflicts };
  }
}
