/** What one piece of a pattern matches: a choice of characters or of sequences, repeated. */
interface Piece {
  readonly pick: (index: number) => string;
  readonly least: number;
}

/** Repetitions that one text may take, those inside others counted each time. */
const budget = 4_000;

/**
 * A text that a regular expression matches, where it is built of literals, classes, groups, alternatives and
 * quantifiers; undefined for anything else, and for one too long. Different indexes give different texts where the pattern leaves room.
 */
export function sampleOfPattern(pattern: string, index: number): string | undefined {
  try {
    const text = new PatternReader(pattern).whole()(index);
    return new RegExp(pattern, 'u').test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

const classes: { readonly [letter: string]: string } = {
  d: '1234567890',
  w: 'abcdefghijklmnopqrstuvwxyz',
  s: ' ',
  D: 'abcdef',
  W: '-',
  S: 'abcdefghijklmnopqrstuvwxyz',
};
const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r' };

class PatternReader {
  readonly #text: string;
  #at = 0;
  #spent = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): (index: number) => string {
    const pick = this.#alternatives();
    if (this.#at < this.#text.length) throw new SyntaxError('unbalanced');
    return pick;
  }

  #alternatives(): (index: number) => string {
    const choices = [this.#sequence()];
    while (this.#eat('|')) choices.push(this.#sequence());
    return (index) => choices[index % choices.length]?.(Math.floor(index / choices.length)) ?? '';
  }

  #sequence(): (index: number) => string {
    const pieces: Piece[] = [];
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at] ?? '')) {
      const pick = this.#piece();
      pieces.push({ pick, least: this.#least() });
    }
    return (index) =>
      pieces
        .map(({ pick, least }) =>
          Array.from({ length: least }, (_, i) => this.#spend(pick, index + i)).join(''),
        )
        .join('');
  }

  #spend(pick: Piece['pick'], index: number): string {
    this.#spent += 1;
    if (this.#spent > budget) throw new RangeError('too long');
    return pick(index);
  }

  #piece(): (index: number) => string {
    if (this.#eat('^') || this.#eat('$')) return () => '';
    if (this.#eat('(')) {
      if (this.#eat('?') && !this.#eat(':') && !this.#take(/<[A-Za-z]\w*>/y))
        throw new SyntaxError('a lookaround');
      const pick = this.#alternatives();
      if (!this.#eat(')')) throw new SyntaxError('no end of group');
      return pick;
    }
    const characters = this.#eat('[') ? this.#class() : this.#character();
    return (index) => characters[index % characters.length] ?? '';
  }

  #class(): string {
    const negated = this.#eat('^');
    let members = '';
    while (!this.#eat(']')) {
      const from = this.#character('in class');
      const range = this.#take(/-(?=[^\]])/y);
      members += range ? between(from, this.#character('in class')) : from;
    }
    if (!negated) return members;
    return [...'abcdefghijklmnopqrstuvwxyz0123456789-_ '].filter((one) => !members.includes(one)).join('');
  }

  /** The characters that one element matches. */
  #character(place?: 'in class'): string {
    const character = this.#take(/\\?[\s\S]/uy);
    if (character === undefined) throw new SyntaxError('ended early');
    if (character === '.' && !place) return 'abcdefghijklmnopqrstuvwxyz';
    if (!character.startsWith('\\')) return character;
    const escaped = character.slice(1);
    if (/[bBpPukxc1-9]/.test(escaped)) throw new SyntaxError('an escape of its own kind');
    return classes[escaped] ?? escapes[escaped] ?? escaped;
  }

  /** How often the piece before is repeated; once more than never, so that nothing stays empty. */
  #least(): number {
    const quantifier = this.#take(/[*+?]|\{\d+(?:,\d*)?\}/y);
    this.#eat('?');
    if (quantifier === undefined || !quantifier.startsWith('{')) return 1;
    const [, least, most] = /\{(\d+)(?:,(\d*))?\}/.exec(quantifier) ?? [];
    return Math.min(Math.max(Number(least), most === '0' ? 0 : 1), 1000);
  }

  #eat(literal: string): boolean {
    if (this.#text[this.#at] !== literal) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }
}

function between(from: string, to: string): string {
  const [first, last] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  const length = Math.min(Math.max(last - first + 1, 0), 100);
  return Array.from({ length }, (_, i) => String.fromCodePoint(first + i)).join('');
}
