import { stripVTControlCharacters } from 'node:util';

const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text as one line for a terminal: colours of other programs are dropped, other control characters are shown as codes. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(controls, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
