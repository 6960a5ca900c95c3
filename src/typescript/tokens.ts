import jsTokens, { type Token } from 'js-tokens';

/** The tokens of TypeScript source without white space; with comments on request. */
export function codeTokens(
  text: string,
  comments: 'with comments' | 'without' = 'without',
): readonly Token[] {
  return [...jsTokens(text.replace(/^\ufeff/, ''))].filter(({ type }) => {
    if (type === 'WhiteSpace' || type === 'LineTerminatorSequence') return false;
    return comments === 'with comments' || !type.endsWith('Comment');
  });
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
        const code = long ?? four ?? two;
        return code === undefined ? (escapes.get(other) ?? other) : character(Number.parseInt(code, 16));
      },
    );
}

function character(code: number): string {
  return code > 0x10ffff ? '' : String.fromCodePoint(code);
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
