import { type Automaton, automatonOf } from './pattern-automaton.ts';

/** Longer patterns, or repeats of more places, are not examined. */
const limits = { characters: 2_000, places: 80 };

/** Characters by which two places are compared, beside those of the pattern. */
const alphabet = [...Array.from({ length: 256 }, (_, i) => String.fromCodePoint(i)), ...'Ωжא中あ한€\u2028😀'];

/** What is wrong with a pattern, and the fix: it does not compile, or testing a text against it may never end. */
export function patternFlaw(
  pattern: string,
): { readonly message: string; readonly hint: string } | undefined {
  const no = { message: 'is not a regular expression', hint: 'Write one of JavaScript: ^[A-Z]{3}$' };
  if (!isRegular(() => new RegExp(pattern, 'u'))) return no;
  const hazard = patternHazard(pattern);
  if (hazard !== undefined) return { message: hazard, hint: 'Part what it repeats: ^[a-z]+(-[a-z]+)*$' };
  // Only a first run tells that a pattern is too large for the engine.
  if (isRegular(() => new RegExp(pattern, 'u').test(''))) return undefined;
  return { message: 'is too large to be run', hint: 'Repeat less: ^[A-Z]{3}$' };
}

function isRegular(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/**
 * What keeps a pattern from being tested against any text in bearable time; undefined where nothing does.
 *
 * A matcher that backtracks takes exponential time where a repeat can match one text in two ways: `(a+)+`, `(a|a)*`,
 * `(\w+\s?)*` (Weber and Seidl 1991, criterion EDA). This is read from the pattern, which is never run. Bounded
 * repeats count as unbounded ones, so that some harmless patterns are named too.
 *
 * @param pattern a regular expression that compiles with the flag `u`
 */
export function patternHazard(pattern: string): string | undefined {
  if (pattern.length > limits.characters) return `is longer than ${limits.characters} characters`;
  const automaton = automatonOf(pattern);
  if (automaton.loops.some(([from, to]) => to - from > limits.places)) return 'repeats too large a group';
  const overlap = overlapsOf(automaton.atoms, pattern);
  return automaton.loops.some((loop) => isAmbiguous(automaton, loop, overlap))
    ? 'takes exponential time on some texts: a repeat in it can match the same text in two ways'
    : undefined;
}

type Overlap = (a: number, b: number) => boolean;

/** Whether two readings of one text can part inside a loop and meet again. */
function isAmbiguous(
  { follow }: Automaton,
  [from, to]: readonly [number, number],
  overlap: Overlap,
): boolean {
  const size = to - from;
  const inside = (place: number) => [...(follow[place] ?? [])].filter(([next]) => next >= from && next < to);
  const nextOf = Array.from({ length: size }, (_, i) => inside(from + i));
  if (nextOf.some((next) => next.some(([, twice]) => twice))) return true;

  const together = Array.from({ length: size }, (_, i) => i * size + i);
  const pending = [...together];
  const reached = new Set(together);
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    for (const [a] of nextOf[Math.floor(pair / size)] ?? []) {
      for (const [b] of nextOf[pair % size] ?? []) {
        if (!overlap(a, b)) continue;
        const next = (a - from) * size + (b - from);
        if (a === b && pair % (size + 1) !== 0) return true;
        if (reached.has(next)) continue;
        reached.add(next);
        pending.push(next);
      }
    }
  }
  return false;
}

/** Compares places by the characters they match; one that matches none of the known ones may match any. */
function overlapsOf(atoms: readonly string[], pattern: string): Overlap {
  const characters = [...new Set([...alphabet, ...pattern])];
  const matches = new Map(
    [...new Set(atoms)].map((atom) => {
      const one = new RegExp(`^(?:${atom})$`, 'u');
      const known = characters.filter((character) => one.test(character));
      return [atom, new Set(known.length > 0 ? known : characters)];
    }),
  );
  const known = new Map<string, boolean>();
  return (a, b) => {
    const [left = '', right = ''] = [atoms[a], atoms[b]];
    const key = `${left}\n${right}`;
    const others = matches.get(right);
    const answer = known.get(key) ?? [...(matches.get(left) ?? [])].some((one) => others?.has(one));
    known.set(key, answer);
    return answer;
  };
}
