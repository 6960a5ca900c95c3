const scripts = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}';
const pieces = new RegExp(
  `(\\p{Script=Latin}+)|(\\p{Nd}+)|([${scripts}]+)|([\\p{L}\\p{M}]+)|[^\\s\\p{L}\\p{Nd}\\p{M}]+`,
  'gu',
);

/**
 * The estimated number of tokens of a text. Compared with the tokenizer o200k_base, the estimate is 0.93 to 1.07 of
 * the count for tool definitions, tables of numbers, hexadecimal ids, dates, prose, Chinese and Russian, and about half of
 * it for base64.
 */
export function estimatedTokens(text: string): number {
  let tokens = 0;
  for (const [piece, latin, digits, ideographs, letters] of text.matchAll(pieces)) {
    if (latin) tokens += Math.max(1, piece.length / 6);
    else if (digits) tokens += Math.ceil(piece.length / 3);
    else if (ideographs) tokens += piece.length * 0.75;
    else tokens += Math.max(1, piece.length / (letters ? 4.5 : 3));
  }
  return Math.ceil(tokens);
}
