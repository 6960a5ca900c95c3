import { stripVTControlCharacters } from 'node:util';
import { errorSentence } from './input-error.ts';
import type { InputError } from './input-result.ts';
import { printable } from './paint.ts';

/** Text as one line for a terminal: colours of other programs are dropped, other control characters are shown as codes. */
export function singleLine(text: string): string {
  return printable(stripVTControlCharacters(text));
}

/** An error beside the input that it is about: the wrong value, what is wrong, and the fix. */
export function errorLine({ value, message, hint }: InputError): string {
  const isNamed = value === undefined || message.includes(value);
  const says = isNamed ? `${message}.` : errorSentence({ where: '', value, message, hint }).trim();
  return singleLine(`${says} ${hint}`);
}
