/** The places in a pattern where one character is matched, and which may follow which (Glushkov's automaton). */
export interface Automaton {
  /** What each place matches, as a pattern for one character. */
  readonly atoms: readonly string[];
  /** The places after each place; true where two ways lead there. */
  readonly follow: readonly ReadonlyMap<number, boolean>[];
  /** The outermost repeats, as ranges of places `[from, to)`. */
  readonly loops: readonly (readonly [from: number, to: number])[];
}

interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly nullable: boolean;
  /** Matches in one way only, at one length. */
  readonly fixed: boolean;
}

const nothing: Part = { first: [], last: [], nullable: true, fixed: true };
const mostCopies = 64;
const atom =
  /\[(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\x..|\\c.|\\k<[^>]*>|\\[1-9]\d*|\\?[\s\S]/uy;

/**
 * The automaton of a regular expression that compiles. A repeat of variable number counts as unbounded, and so does
 * one of fixed number whose body matches in several ways. What looks around stands beside the rest.
 */
export function automatonOf(pattern: string): Automaton {
  return new Builder(pattern).whole();
}

class Builder {
  readonly #text: string;
  readonly #atoms: string[] = [];
  readonly #follow: Map<number, boolean>[] = [];
  #loops: (readonly [number, number])[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Automaton {
    this.#alternatives();
    return { atoms: this.#atoms, follow: this.#follow, loops: this.#loops };
  }

  #alternatives(): Part {
    const choices = [this.#sequence()];
    while (this.#take(/\|/y)) choices.push(this.#sequence());
    const [only] = choices;
    if (only && choices.length === 1) return only;
    return {
      first: choices.flatMap(({ first }) => first),
      last: choices.flatMap(({ last }) => last),
      nullable: choices.some(({ nullable }) => nullable),
      fixed: false,
    };
  }

  #sequence(): Part {
    let whole = nothing;
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at] ?? '')) {
      const from = this.#atoms.length;
      whole = this.#chain(whole, this.#repeat(this.#element(), from));
    }
    return whole;
  }

  #element(): Part {
    if (this.#take(/\^|\$|\\[bB]/y)) return nothing;
    const group = this.#take(/\((?:\?(?:<?[=!]|<[^>]*>|[\w-]*:))?/y);
    if (group !== undefined) {
      const body = this.#alternatives();
      this.#take(/\)/y);
      return /[=!]$/.test(group) ? nothing : body;
    }
    const source = this.#take(atom) ?? '';
    const isReference = /^\\(?:k<|[1-9])/.test(source);
    const place = this.#place(isReference ? '[^]' : source);
    return { first: [place], last: [place], nullable: isReference, fixed: !isReference };
  }

  /** Applies the quantifier that stands here to the part whose places begin at `from`. */
  #repeat(body: Part, from: number): Part {
    const quantifier = this.#take(/[*+?]|\{\d+(?:,\d*)?\}/y);
    if (quantifier === undefined) return body;
    this.#take(/\?/y);
    const [least, most] = boundsOf(quantifier);
    if (most === 0) return nothing;
    const nullable = body.nullable || least === 0;
    if (most === 1) return { ...body, nullable, fixed: body.fixed && least === 1 };
    if (least === most && body.fixed) return this.#copies(body, from, least);
    this.#connect(body.last, body.first);
    this.#loops = [...this.#loops.filter(([start]) => start < from), [from, this.#atoms.length]];
    return { ...body, nullable, fixed: false };
  }

  /** A part of one way several times in a row; as many as tell its length from others, which is enough to compare. */
  #copies(body: Part, from: number, times: number): Part {
    const size = this.#atoms.length - from;
    const copies = Math.min(times, Math.max(1, Math.floor(mostCopies / Math.max(1, size))));
    let whole = body;
    for (let copy = 1; copy < copies; copy++) {
      const by = copy * size;
      for (let place = from; place < from + size; place++) {
        const follow = [...(this.#follow[place] ?? [])].filter(([next]) => next < from + size);
        this.#place(this.#atoms[place] ?? '');
        this.#follow[place + by] = new Map(follow.map(([next, twice]) => [next + by, twice]));
      }
      const moved = (places: readonly number[]) => places.map((place) => place + by);
      whole = this.#chain(whole, { ...body, first: moved(body.first), last: moved(body.last) });
    }
    return whole;
  }

  #chain(a: Part, b: Part): Part {
    this.#connect(a.last, b.first);
    return {
      first: a.nullable ? [...a.first, ...b.first] : a.first,
      last: b.nullable ? [...a.last, ...b.last] : b.last,
      nullable: a.nullable && b.nullable,
      fixed: a.fixed && b.fixed,
    };
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    for (const place of from) {
      const follow = this.#follow[place];
      for (const next of to) follow?.set(next, follow.has(next));
    }
  }

  #place(source: string): number {
    this.#follow.push(new Map());
    return this.#atoms.push(source) - 1;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }
}

function boundsOf(quantifier: string): readonly [least: number, most: number] {
  if (quantifier === '?') return [0, 1];
  const [, least = quantifier === '+' ? '1' : '0', comma, most] = /\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (comma === '') return [Number(least), Number(least)];
  return [Number(least), most ? Number(most) : Number.POSITIVE_INFINITY];
}
