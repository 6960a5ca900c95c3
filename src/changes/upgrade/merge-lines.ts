import { diff3Merge, diffIndices } from 'node-diff3';

/** A merged text, and where its two sides could not both be had. */
export interface Merged {
  readonly text: string;
  /** The line of each opening marker, from 1. Empty where all was merged. */
  readonly conflicts: readonly number[];
}

/** Beyond as many pairs of equal lines a merge would take too long: 2,000 equal lines on each side are 4,000,000. */
const mostPairs = 250_000;

const [opening, middle] = ['<<<<<<< yours', '======='];

/** The line that ends a conflict; `label` names the side that is not the author's. */
function closing(label: string): string {
  return `>>>>>>> ${label}`;
}

/**
 * Merges two texts that were one once, line by line. What both have changed stands between markers.
 *
 * @param label of `theirs`, behind the closing marker
 */
export function mergeLines(base: string, ours: string, theirs: string, label: string): Merged {
  const [a, o, b] = [ours, base, theirs].map((text) => text.split('\n')) as [string[], string[], string[]];
  const out = new Lines(label);
  if (pairsOf(a, o) + pairsOf(b, o) > mostPairs) out.differ(a, b);
  else {
    for (const { ok, conflict } of diff3Merge(a, o, b, { excludeFalseConflicts: true })) {
      if (ok) out.agree(ok);
      else if (conflict) out.differ(conflict.a, conflict.b);
    }
  }
  return out.merged();
}

/** Two texts as one, with markers wherever they differ. */
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

/** Whether a text still holds a marker that `mergeLines` has written. */
export function hasMarkers(text: string): boolean {
  return /^(?:<<<<<<< yours|>>>>>>> create-market-mcp \S+)\r?$/m.test(text);
}

/** What the search for common lines has to look at: each pair of equal lines. */
function pairsOf(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of b) counts.set(line, (counts.get(line) ?? 0) + 1);
  return a.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}

/** A merged text as it grows. */
class Lines {
  readonly #closing: string;
  readonly #lines: string[] = [];
  readonly #conflicts: number[] = [];

  constructor(label: string) {
    this.#closing = closing(label);
  }

  agree(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  /** Lines that both sides begin or end with stand outside of the markers. */
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
