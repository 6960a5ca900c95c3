import { type PatternAlternatives, type PatternPart, patternTree } from './pattern-tree.ts';

/** Attempts of a backtracking engine that take about 20 ms, and the texts on which 2^n attempts are more. */
const maxAttempts = 2_000_000;
const maxDoubled = 20;

const limits = { characters: 2_000, copies: 8, positions: 400, work: 200_000 };

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
  work: Work = { left: limits.work },
): string | undefined {
  if (pattern.length > limits.characters) return `is longer than ${limits.characters} characters`;
  const budget = { left: Math.min(work.left, limits.work) };
  const before = budget.left;
  try {
    if (new Automaton(pattern, true, budget).isDoubling()) {
      if (maxLength > maxDoubled) return 'takes twice as long with every few characters';
      return undefined;
    }
    const power = new Automaton(pattern, false, budget).power();
    const isSlow = power > 1 && Math.min(maxLength, 2 ** 20) ** power > maxAttempts;
    if (isSlow) return `takes time that grows with the length to the power of ${power}`;
    return undefined;
  } catch (error) {
    if (error instanceof TooLarge) return 'is too large to be judged, or one of too many patterns';
    throw error;
  } finally {
    work.left -= before - budget.left;
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
const commonCharacters = [...'a0A -_.,/@:;!é\n\u0001'];

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
    this.#alphabet = [...new Set([...pattern.replace(/\\[a-z]/gi, ''), ...commonCharacters])];
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
      const starts = next.flatMap((loop, index) =>
        next.slice(index + 1).map((otherLoop) => [loop, otherLoop]),
      );
      return this.#reaches(starts, (at) => at[0] === from && at[1] === from) && this.#canFail(from);
    });
  }

  /** The power of the length with which the number of ways to match a part of a text grows. */
  power(): number {
    const loops = [...this.#next.keys()].filter((at) => this.#leads(at, at));
    const powers = new Map<number, number>();
    const powerFrom = (at: number): number => {
      const knownPower = powers.get(at);
      if (knownPower !== undefined) return knownPower;
      powers.set(at, 0); // a loop is counted once
      const following = loops.filter((to) => to !== at && this.#isSharedBy(at, to)).map(powerFrom);
      const power = (this.#canFail(at) ? 1 : 0) + Math.max(0, ...following);
      powers.set(at, power);
      return power;
    };
    return Math.max(0, ...loops.map(powerFrom));
  }

  /** Whether a text leads from one loop to itself, from it to another, and from the other to itself. */
  #isSharedBy(loop: number, otherLoop: number): boolean {
    if (this.#leads(otherLoop, loop)) return false;
    return this.#reaches(
      this.#after([loop, loop, otherLoop]),
      (at) => at[0] === loop && at[1] === otherLoop && at[2] === otherLoop,
    );
  }

  /** Whether something can follow a loop, so that all ways are tried if it does not. */
  #canFail(loop: number): boolean {
    const left = new Set([loop]);
    for (const at of left) for (const next of this.#next[at] ?? []) left.add(next);
    return [...left].some((at) => !this.#leads(at, loop));
  }

  #leads(from: number, to: number): boolean {
    const reached = new Set(this.#next[from]);
    for (const at of reached) for (const next of this.#next[at] ?? []) reached.add(next);
    return reached.has(to);
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
    const visited = new Set<string>();
    for (const at of waiting) {
      if (isThere(at)) return true;
      const key = at.join();
      if (visited.has(key)) continue;
      visited.add(key);
      for (const next of this.#after(at)) if (this.#isShared(next)) waiting.push(next);
    }
    return false;
  }

  #isShared([first = 0, ...otherLoops]: readonly number[]): boolean {
    if (--this.#work.left < 0) throw new TooLarge();
    for (const character of this.#characters[first] ?? []) {
      if (otherLoops.every((position) => this.#characters[position]?.has(character))) return true;
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
        // The following part matches the same text again.
        const body = this.#joined(this.#either(part.alternatives), this.#position(new Set()));
        return { first: body.first, last: [], isEmpty: true };
      }
      case 'repeat':
        return this.#repeated(part);
    }
  }

  #either(alternatives: PatternAlternatives): Ends {
    const branches = alternatives.map((parts) => this.#sequence(parts));
    return {
      first: branches.flatMap(({ first }) => first),
      last: branches.flatMap(({ last }) => last),
      isEmpty: branches.some(({ isEmpty }) => isEmpty),
    };
  }

  #repeated({ of, min, max }: Extract<PatternPart, { kind: 'repeat' }>): Ends {
    const isEndless = max === Number.POSITIVE_INFINITY || (this.#isLooped && max > limits.copies);
    const needed = Math.min(min, isEndless ? 1 : limits.copies);
    const optional = isEndless ? 1 - needed : Math.min(max - min, limits.copies);
    let sequence = nothing;
    for (let copy = 0; copy < needed; copy++) {
      const copyOfPart = this.#part(of);
      if (isEndless) this.#link(copyOfPart, copyOfPart);
      sequence = this.#joined(sequence, copyOfPart);
    }
    let rest = nothing;
    for (let copy = 0; copy < optional; copy++) {
      const optionalPart = this.#part(of);
      if (isEndless) this.#link(optionalPart, optionalPart);
      rest = { ...this.#joined(optionalPart, rest), isEmpty: true };
    }
    return this.#joined(sequence, rest);
  }

  #position(characters: ReadonlySet<string>): Ends {
    const at = this.#characters.push(characters) - 1;
    if (at > limits.positions) throw new TooLarge();
    this.#next.push([]);
    return { first: [at], last: [at], isEmpty: false };
  }

  #classOf(source: string): ReadonlySet<string> {
    let characters = this.#classes.get(source);
    if (characters) return characters;
    const classPattern = new RegExp(`^(?:${source})$`, 'u');
    characters = new Set(this.#alphabet.filter((character) => classPattern.test(character)));
    this.#classes.set(source, characters);
    return characters;
  }
}
