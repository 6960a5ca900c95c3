/** A text of the document as one line, without markup, control and direction characters, truncated to a length. */
export function plainText(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return '';
  const plainWords = text
    .slice(0, maxLength * 20)
    .replaceAll(/<[^<>]{1,200}>/g, ' ')
    .replaceAll(/!?\[([^[\]]{0,500})\]\([^()]{0,1000}\)/g, '$1')
    .replaceAll(
      /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u200b\u2060\ufeff\u{e0000}-\u{e007f}]+/gu,
      ' ',
    )
    .replaceAll(/[*`#]+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (plainWords.length <= maxLength) return plainWords;
  return `${[...plainWords.slice(0, maxLength)].slice(0, -1).join('').trimEnd()}…`;
}
