import { type Alternatives, type Part, treeOf } from './pattern-tree.ts';

/** Characters for texts, in addition to those of a pattern. */
const common = [...'a0A -_.,/@:;!é\n'];
const syntax = new Set('^$()[]{}|*+?\\');
const most = { repeats: 12, pumps: 8, ownEnds: 3 };

/**
 * Texts on which a backtracking matcher probably takes longest: a prefix that leads to each repeat, then many
 * repetitions of what it matches, then something that cannot follow. Empty if the pattern is too simple to
 * be slow: one repeat of one character at the start.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 * @param length approximate length of each text
 */
export function slowTexts(pattern: string, length: number): readonly string[] {
  const alternatives = treeOf(pattern);
  const own = [...new Set(pattern.replace(/\\[a-z]/gi, ''))].filter((character) => !syntax.has(character));
  const alphabet = [...new Set([...own, ...common])];
  const sampler = new Sampler(alphabet);
  const repeats = repeatsIn(alternatives, '', sampler).slice(0, most.repeats);
  const isAnchored = alternatives.length === 1 && pattern.startsWith('^');
  const quantifiers = pattern.match(/[*+?{]/g)?.length ?? 0;
  if (isAnchored && quantifiers <= 1 && repeats.every(({ isOfOne }) => isOfOne)) return [];

  const singles = alphabet.filter((character) => sampler.isUsed(character)).slice(0, most.pumps);
  // Most patterns fail on the first of these, so a matcher backtracks through all alternatives.
  const ends = ['\u0001', '\n', '', ...own.filter((one) => /[^a-z\d]/i.test(one)).slice(0, most.ownEnds)];
  // A prefix that no alternative matches prevents the first one from matching at once.
  const fronts = isAnchored ? [''] : ['', '\u0001'];
  const ways = new Map<string, Set<string>>([['', new Set(singles)]]);
  for (const { before, pumps } of repeats) {
    const known = ways.get(before) ?? new Set(singles);
    ways.set(before, known);
    for (const pump of pumps) if (pump !== '') known.add(pump);
  }
  return [...ways].flatMap(([before, pumps]) =>
    [...pumps].flatMap((pump) => {
      const room = Math.max(0, length - before.length - 2);
      const middle = before + pump.repeat(Math.floor(room / pump.length));
      return fronts.flatMap((front) => ends.map((end) => front + middle + end));
    }),
  );
}

interface Repeat {
  /** A text that leads to the repeat. */
  readonly before: string;
  /** Texts that the repeat matches once or a few times. */
  readonly pumps: readonly string[];
  /** Whether it repeats one character. */
  readonly isOfOne: boolean;
}

/** The repeats with more than a few iterations, outermost first. */
function repeatsIn(alternatives: Alternatives, lead: string, sampler: Sampler): Repeat[] {
  return alternatives.flatMap((parts) => {
    let before = lead;
    return parts.flatMap((part) => {
      const found = repeatsOf(part, before, sampler);
      before += sampler.of(part, 0);
      return found;
    });
  });
}

function repeatsOf(part: Part, before: string, sampler: Sampler): Repeat[] {
  if (part.kind === 'group' || part.kind === 'look') return repeatsIn(part.alternatives, before, sampler);
  if (part.kind !== 'repeat') return [];
  const inside = repeatsOf(part.of, before, sampler);
  if (part.max < 5) return inside;
  const pumps = [0, 1, 2, 3].map((variant) => sampler.of(part.of, variant));
  return [{ before, pumps: [...pumps, pumps.join('')], isOfOne: part.of.kind === 'one' }, ...inside];
}

/** Maximum length of a sample in characters. */
const mostSampled = 2_000;

/** Produces short texts that parts of a pattern match. */
class Sampler {
  readonly #alphabet: readonly string[];
  readonly #matching = new Map<string, readonly string[]>();

  constructor(alphabet: readonly string[]) {
    this.#alphabet = alphabet;
  }

  /** Whether a sampled part matches this character. */
  isUsed(character: string): boolean {
    return [...this.#matching.values()].some((characters) => characters.includes(character));
  }

  /** A text that a part matches; different variants give different texts if possible. */
  of(part: Part, variant: number): string {
    switch (part.kind) {
      case 'one':
        return this.#characterOf(part.source, variant);
      case 'repeat': {
        const once = this.of(part.of, variant);
        const times = Math.max(part.min, Math.min(part.max, 1));
        return once.repeat(Math.min(times, Math.ceil(mostSampled / (once.length + 1))));
      }
      case 'group': {
        const parts = part.alternatives[variant % part.alternatives.length] ?? [];
        return parts
          .map((member) => this.of(member, variant))
          .join('')
          .slice(0, mostSampled);
      }
      default:
        return '';
    }
  }

  #characterOf(source: string, variant: number): string {
    const one = new RegExp(`^(?:${source})$`, 'u');
    const known = this.#matching.get(source) ?? this.#alphabet.filter((character) => one.test(character));
    this.#matching.set(source, known);
    return known[variant % known.length] ?? '';
  }
}

/** The maximum count that engines without backtracking accept, multiplied over nested repeats. */
const mostRepeats = 1_000;

/**
 * Whether only a backtracking engine can match a pattern: it contains look-around, back-references or large counts.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 */
export function needsBacktracking(pattern: string): boolean {
  const needs = (part: Part, times: number): boolean => {
    if (part.kind === 'look' || part.kind === 'reference') return true;
    if (part.kind === 'group')
      return part.alternatives.some((parts) => parts.some((one) => needs(one, times)));
    if (part.kind !== 'repeat') return false;
    const count = times * Math.max(1, Number.isFinite(part.max) ? part.max : part.min);
    return count > mostRepeats || needs(part.of, count);
  };
  return treeOf(pattern).some((parts) => parts.some((part) => needs(part, 1)));
}
