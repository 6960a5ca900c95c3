import { type PatternAlternatives, type PatternPart, patternTree } from './pattern-tree.ts';

/** Attempts of a backtracking engine that take about 20 ms, and the texts on which 2^n attempts are more. */
const maxAttempts = 2_000_000;
const maxDoubled = 20;

const most = { characters: 2_000, copies: 8, positions: 400, work: 200_000 };

/** Work that is left for several patterns: an untrusted list of tools may contain thousands. */
export interface Work {
  left: number;
}

/**
 * The reason why a backtracking engine takes too long for a pattern on texts of a length; undefined if it does not. It is
 * decided by the number of ways in which the pattern matches the same text, not by the clock.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 * @param maxLength the longest text to match; unbounded by default
 */
export function slowness(
  pattern: string,
  maxLength = Number.POSITIVE_INFINITY,
  work: Work = { left: most.work },
): string | undefined {
  if (pattern.length > most.characters) return `is longer than ${most.characters} characters`;
  const own = { left: Math.min(work.left, most.work) };
  const before = own.left;
  try {
    if (new Automaton(pattern, true, own).isDoubling()) {
      return maxLength > maxDoubled ? 'takes twice as long with every few characters' : undefined;
    }
    const power = new Automaton(pattern, false, own).power();
    const isSlow = power > 1 && Math.min(maxLength, 2 ** 20) ** power > maxAttempts;
    return isSlow ? `takes time that grows with the length to the power of ${power}` : undefined;
  } catch (error) {
    if (error instanceof TooLarge) return 'is too large to be judged, or one of too many patterns';
    throw error;
  } finally {
    work.left -= before - own.left;
  }
}

class TooLarge extends Error {}

/** What comes first in a part, what last, and whether the part can match nothing. */
interface Ends {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly isEmpty: boolean;
}

const nothing: Ends = { first: [], last: [], isEmpty: true };

/** Characters that distinguish most classes, in addition to those of a pattern. */
const common = [...'a0A -_.,/@:;!é\n\u0001'];

/** The positions of a pattern and those that can follow each, as often as there are ways. */
class Automaton {
  /** The characters of each position. */
  readonly #characters: ReadonlySet<string>[] = [];
  readonly #next: number[][] = [];
  readonly #alphabet: readonly string[];
  readonly #classes = new Map<string, ReadonlySet<string>>();
  readonly #isLooped: boolean;
  readonly #work: Work;

  /** @param isLooped whether many repeats count as endless, so that doubling is found in `(a|a){30}` */
  constructor(pattern: string, isLooped: boolean, work: Work) {
    this.#isLooped = isLooped;
    this.#work = work;
    this.#alphabet = [...new Set([...pattern.replace(/\\[a-z]/gi, ''), ...common])];
    const alternatives = patternTree(pattern);
    const isAnchored = alternatives.length === 1 && pattern.startsWith('^');
    const anywhere: PatternPart = {
      kind: 'repeat',
      of: { kind: 'one', source: '[^]' },
      min: 0,
      max: Number.POSITIVE_INFINITY,
    };
    this.#sequence([...(isAnchored ? [] : [anywhere]), { kind: 'group', alternatives }]);
  }

  /** Whether two ways lead from a position to itself with the same text. */
  isDoubling(): boolean {
    return this.#next.some((next, from) => {
      const starts = next.flatMap((one, index) => next.slice(index + 1).map((other) => [one, other]));
      return this.#reaches(starts, (at) => at[0] === from && at[1] === from) && this.#canFail(from);
    });
  }

  /** The power of the length with which the number of ways to match a part of a text grows. */
  power(): number {
    const loops = [...this.#next.keys()].filter((at) => this.#leads(at, at));
    const powers = new Map<number, number>();
    const powerFrom = (at: number): number => {
      const known = powers.get(at);
      if (known !== undefined) return known;
      powers.set(at, 0); // a loop is counted once
      const following = loops.filter((to) => to !== at && this.#isSharedBy(at, to)).map(powerFrom);
      const power = (this.#canFail(at) ? 1 : 0) + Math.max(0, ...following);
      powers.set(at, power);
      return power;
    };
    return Math.max(0, ...loops.map(powerFrom));
  }

  /** Whether a text leads from one loop to itself, from it to another, and from the other to itself. */
  #isSharedBy(loop: number, other: number): boolean {
    if (this.#leads(other, loop)) return false;
    return this.#reaches(
      this.#after([loop, loop, other]),
      (at) => at[0] === loop && at[1] === other && at[2] === other,
    );
  }

  /** Whether something can follow a loop, so that all ways are tried if it does not. */
  #canFail(loop: number): boolean {
    const left = new Set([loop]);
    for (const at of left) for (const next of this.#next[at] ?? []) left.add(next);
    return [...left].some((at) => !this.#leads(at, loop));
  }

  #leads(from: number, to: number): boolean {
    const met = new Set(this.#next[from]);
    for (const at of met) for (const next of this.#next[at] ?? []) met.add(next);
    return met.has(to);
  }

  #after(positions: readonly number[]): number[][] {
    return positions.reduce<number[][]>(
      (ways, position) => ways.flatMap((way) => (this.#next[position] ?? []).map((next) => [...way, next])),
      [[]],
    );
  }

  /** Whether the same text leads from some positions to others. */
  #reaches(starts: readonly (readonly number[])[], isThere: (at: readonly number[]) => boolean): boolean {
    const waiting = starts.filter((at) => this.#isShared(at));
    const seen = new Set<string>();
    for (const at of waiting) {
      if (isThere(at)) return true;
      const key = at.join();
      if (seen.has(key)) continue;
      seen.add(key);
      for (const next of this.#after(at)) if (this.#isShared(next)) waiting.push(next);
    }
    return false;
  }

  #isShared([first = 0, ...others]: readonly number[]): boolean {
    if (--this.#work.left < 0) throw new TooLarge();
    for (const character of this.#characters[first] ?? []) {
      if (others.every((position) => this.#characters[position]?.has(character))) return true;
    }
    return false;
  }

  #sequence(parts: readonly PatternPart[]): Ends {
    return parts
      .map((part) => this.#part(part))
      .reduce((before, after) => this.#joined(before, after), nothing);
  }

  #joined(before: Ends, after: Ends): Ends {
    this.#link(before, after);
    return {
      first: before.isEmpty ? [...before.first, ...after.first] : before.first,
      last: after.isEmpty ? [...before.last, ...after.last] : after.last,
      isEmpty: before.isEmpty && after.isEmpty,
    };
  }

  #link(before: Ends, after: Ends): void {
    for (const from of before.last) this.#next[from]?.push(...after.first);
  }

  #part(part: PatternPart): Ends {
    switch (part.kind) {
      case 'one':
        return this.#position(this.#classOf(part.source));
      case 'reference':
        return this.#position(new Set(this.#alphabet));
      case 'end':
        return this.#position(new Set());
      case 'edge':
        return nothing;
      case 'group':
        return this.#either(part.alternatives);
      case 'look': {
        // What it matches is matched again by what follows it.
        const inside = this.#joined(this.#either(part.alternatives), this.#position(new Set()));
        return { first: inside.first, last: [], isEmpty: true };
      }
      case 'repeat':
        return this.#repeated(part);
    }
  }

  #either(alternatives: PatternAlternatives): Ends {
    const all = alternatives.map((parts) => this.#sequence(parts));
    return {
      first: all.flatMap(({ first }) => first),
      last: all.flatMap(({ last }) => last),
      isEmpty: all.some(({ isEmpty }) => isEmpty),
    };
  }

  #repeated({ of, min, max }: Extract<PatternPart, { kind: 'repeat' }>): Ends {
    const isEndless = max === Number.POSITIVE_INFINITY || (this.#isLooped && max > most.copies);
    const needed = Math.min(min, isEndless ? 1 : most.copies);
    const optional = isEndless ? 1 - needed : Math.min(max - min, most.copies);
    let all = nothing;
    for (let copy = 0; copy < needed; copy++) {
      const one = this.#part(of);
      if (isEndless) this.#link(one, one);
      all = this.#joined(all, one);
    }
    let rest = nothing;
    for (let copy = 0; copy < optional; copy++) {
      const one = this.#part(of);
      if (isEndless) this.#link(one, one);
      rest = { ...this.#joined(one, rest), isEmpty: true };
    }
    return this.#joined(all, rest);
  }

  #position(characters: ReadonlySet<string>): Ends {
    const at = this.#characters.push(characters) - 1;
    if (at > most.positions) throw new TooLarge();
    this.#next.push([]);
    return { first: [at], last: [at], isEmpty: false };
  }

  #classOf(source: string): ReadonlySet<string> {
    let known = this.#classes.get(source);
    if (known) return known;
    const one = new RegExp(`^(?:${source})$`, 'u');
    known = new Set(this.#alphabet.filter((character) => one.test(character)));
    this.#classes.set(source, known);
    return known;
  }
}
