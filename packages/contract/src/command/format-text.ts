import { pass, reject } from './input-error.ts';
import type { Result } from './input-result.ts';

/** Control characters except tab and line breaks, and lone surrogates, which no UTF-8 file can contain. */
const unwelcome = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;
const longest = 5000;

/** Free text of an author, such as a description. Trimmed; control characters except line breaks are refused. */
export function parseText(text: string, location: string): Result<string> {
  const trimmed = text.trim();
  const invalid = unwelcome.exec(trimmed)?.[0];
  if (invalid !== undefined) {
    const code = (invalid.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return reject(location, text, `contains the control character U+${code}`, 'Remove it.');
  }
  if (trimmed.length > longest) {
    const message = `the text has ${trimmed.length} characters; at most ${longest} are allowed`;
    return reject(location, text, message, 'Shorten the text.');
  }
  return pass(trimmed);
}

/** A text that must not be empty. */
export function parseSomeText(text: string, location: string, hint: string): Result<string> {
  if (text.trim() === '') return reject(location, text, 'is empty', hint);
  return parseText(text, location);
}

/** `1 change`, `2 changes` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Further names are counted. */
const shownNames = 5;

/** Names in a sentence: `a, b`, or the first few and the number of the others. */
export function nameList(names: readonly string[]): string {
  const moreText = names.length > shownNames ? ` and ${names.length - shownNames} more` : '';
  return `${names.slice(0, shownNames).join(', ')}${moreText}`;
}

/** A text on one line, truncated to `width` characters. */
export function clip(text: string, width: number): string {
  const points = [...text];
  if (points.length <= width) return text;
  return `${points.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Breaks a text between words into lines of at most `width` characters; a longer word has a separate line. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || [...last].length + 1 + [...word].length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
