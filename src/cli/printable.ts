import { stripVTControlCharacters } from 'node:util';
import { printable as visible } from '../contract/report.ts';

/** Text as one line for a terminal: colours of other programs are dropped, other control characters are shown as codes. */
export function printable(text: string): string {
  return visible(stripVTControlCharacters(text));
}
