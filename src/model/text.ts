import { inputError, pass, refuse } from './input-error.ts';
import type { Result } from './model.ts';

/** Controls other than tab and line breaks, and half surrogates, which no file can hold. */
const unwelcome = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;
const longest = 5000;

/** Free text that an author gives: a description. Trimmed; control characters are refused, line breaks are not. */
export function parseText(text: string, where: string): Result<string> {
  const trimmed = text.trim();
  const invalid = unwelcome.exec(trimmed)?.[0];
  if (invalid !== undefined) {
    const code = (invalid.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return refuse(inputError(where, text, `holds the control character U+${code}`, 'Leave it out.'));
  }
  if (trimmed.length > longest) {
    return refuse(
      inputError(where, text, `${trimmed.length} characters, ${longest} at most`, 'Say it shorter.'),
    );
  }
  return pass(trimmed);
}

/** A text that must say something. */
export function parseSomeText(text: string, where: string, hint: string): Result<string> {
  return text.trim() === '' ? refuse(inputError(where, text, 'is empty', hint)) : parseText(text, where);
}
