import { stripVTControlCharacters } from 'node:util';
import { printable } from '../contract/report/report.ts';

/** Text as one line for a terminal: colours of other programs are dropped, other control characters are shown as codes. */
export function singleLine(text: string): string {
  return printable(stripVTControlCharacters(text));
}
