import { styleText } from 'node:util';

/**
 * Makes untrusted text harmless in a terminal and in a CI log: control and direction characters become
 * visible, and so does one character of anything that GitHub Actions reads as a command (`::` at the beginning of a line, `##[`
 * anywhere).
 */
export function printable(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, codePointEscape)
    .replace(/^(\s*):(?=:)/u, (_, blanks) => `${blanks}${codePointEscape(':')}`)
    .replaceAll('##[', `#${codePointEscape('#')}[`);
}

function codePointEscape(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** The caller decides on colours, not Node. */
const always = { validateStream: false };

/** Colours of a report. */
export type Paint = Record<'red' | 'green' | 'yellow' | 'dim' | 'bold', (text: string) => string>;

export const painted: Paint = {
  red: (text) => styleText('red', text, always),
  green: (text) => styleText('green', text, always),
  yellow: (text) => styleText('yellow', text, always),
  dim: (text) => styleText('dim', text, always),
  bold: (text) => styleText('bold', text, always),
};

const unchanged = (text: string): string => text;
export const plainPaint: Paint = {
  red: unchanged,
  green: unchanged,
  yellow: unchanged,
  dim: unchanged,
  bold: unchanged,
};
