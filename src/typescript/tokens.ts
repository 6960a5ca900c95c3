import jsTokens, { type Token } from 'js-tokens';

/** A token with the index of its first character. */
export type Placed = Token & { readonly at: number };

/** The tokens of TypeScript source without white space; with comments on request. */
export function codeTokens(
  text: string,
  comments: 'with comments' | 'without' = 'without',
): readonly Placed[] {
  const leftOut = comments === 'without' ? /^(White|Line)|Comment$/ : /^(WhiteSpace|LineTerminatorSequence)$/;
  let end = 0;
  return [...jsTokens(text)].flatMap((token) => {
    end += token.value.length;
    return leftOut.test(token.type) ? [] : [{ ...token, at: end - token.value.length }];
  });
}

/**
 * The tokens of source or JSON, and its comments, as far as no formatter changes them: without commas, semicolons, styles of quotes,
 * brackets around a whole expression or a single parameter, and the first mark of a union.
 */
export function unformattedTokens(text: string): readonly string[] {
  const tokens = codeTokens(text, 'with comments');
  const dropped = outerBrackets(tokens);
  return tokens.flatMap(({ type, value }, at) => {
    const [before, after] = [tokens[at - 1]?.value ?? '', tokens[at + 1]?.value];
    if (value === ',' || value === ';' || dropped.has(at)) return [];
    if (/^[|&]$/.test(value) && /^(|[=:(<,{[?|&;]|=>|as|extends|is|satisfies)$/.test(before)) return [];
    if (/^>+$/.test(value)) return [...value];
    if (type.endsWith('Comment')) return [value.replace(/\s+/g, ' ').trim()];
    if (type !== 'StringLiteral') return [value];
    const isKey = after === ':' && /^[{,]$/.test(before) && /^[\w$]+$/.test(textIn(value));
    return [isKey ? textIn(value) : JSON.stringify(textIn(value))];
  });
}

/** Round brackets that a formatter adds or removes: `return (a || b);`, `(a) => b`. */
function outerBrackets(tokens: readonly Token[]): ReadonlySet<number> {
  const found = new Set<number>();
  const open: number[] = [];
  for (const [at, { value }] of tokens.entries()) {
    if (value === '(') open.push(at);
    if (value !== ')') continue;
    const start = open.pop() ?? 0;
    const [before, after] = [tokens[start - 1]?.value ?? '', tokens[at + 1]?.value ?? ''];
    const isWhole =
      /^(return|throw|=>|[=?:([,])$/.test(before) &&
      !/^([.?!]\.?|[([`+\-*/%<>=&|^]+|=>|as|satisfies|in|instanceof)$/.test(after);
    if (isWhole || (after === '=>' && at === start + 2)) found.add(start).add(at);
  }
  return found;
}

/** `1` for an opening bracket, `-1` for a closing one; the parts of a template count as brackets. */
export function bracketStep(token: Token | undefined): number {
  if (token?.type === 'TemplateHead') return 1;
  if (token?.type === 'TemplateTail') return -1;
  if (token?.type !== 'Punctuator') return 0;
  return '([{'.includes(token.value) ? 1 : ')]}'.includes(token.value) ? -1 : 0;
}

/** The value of a string literal or of a template without substitutions. */
export function textIn(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll('\r\n', '\n')
    .replace(
      /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([\s\S]))/gi,
      (_, long, four, two, other) => {
        const digits = long ?? four ?? two;
        if (digits === undefined) return escapes.get(other) ?? other;
        const code = Number.parseInt(digits, 16);
        return code > 0x10ffff ? '' : String.fromCodePoint(code);
      },
    );
}

const escapes = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
  ['0', '\0'],
  ['\n', ''],
]);
