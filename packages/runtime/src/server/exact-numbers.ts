// JSON numbers with more digits than a JavaScript number has.

import { randomUUID } from 'node:crypto';

/** Every shorter integer is exact. */
const leastDigits = 16;

/**
 * The value of JSON text, in which an integer that JavaScript would change is a text of its digits. A decimal becomes the nearest
 * double, as everywhere; `withDecimals` knows more.
 *
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return restoreLongIntegers(text, JSON.parse(text));
}

/**
 * Restores the long integers of JSON text in its value, as texts of their digits.
 *
 * @param value of the text, as `JSON.parse` reads it; it is returned if it is exact
 */
export function restoreLongIntegers(text: string, value: unknown, long = findLongNumbers(text)): unknown {
  if (long !== 'integers') return value;
  const exact = withNumbers(text, (number) => {
    const digits = /^-?\d+(?=(?:\.0+)?$)/.exec(number)?.[0];
    if (digits !== undefined && digits.length >= leastDigits && losesDigits(number)) return `"${digits}"`;
    return number;
  });
  return exact === text ? value : JSON.parse(exact);
}

/** A random prefix, which no other text contains. */
let mark: string | undefined;

function ownMark(): string {
  mark ??= `${randomUUID()} `;
  return mark;
}

/** The value of JSON text for `writeLiterally`: what JavaScript would change is a text that stands for the number. @throws SyntaxError */
export function parseLiterally(text: string): unknown {
  return JSON.parse(
    withNumbers(text, (number) => (losesDigits(number) ? `"${ownMark()}${number}"` : number)),
  );
}

/** JSON text with the numbers as they were written. */
export function writeLiterally(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  if (mark === undefined) return text;
  return text.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

/** How a number was written that `parseLiterally` kept; undefined: JavaScript did not change it. */
export function writtenNumber(value: unknown): string | undefined {
  const isKept = typeof value === 'string' && mark !== undefined && value.startsWith(mark);
  if (isKept) return value.slice(mark?.length);
  return undefined;
}

/** A text of digits as `writeLiterally` writes it: an integer. Anything else is returned unchanged. */
export function asInteger(value: unknown): unknown {
  if (typeof value === 'string' && /^-?(?:0|[1-9]\d*)$/.test(value)) return `${ownMark()}${value}`;
  return value;
}

/** As much text as is copied at once, in units. */
const windowSize = 48 * 1024;

/** The text of a window, in latin1, and the same bytes in words. */
let window: { readonly bytes: Buffer; readonly words: Int32Array } | undefined;

/**
 * Returns which numbers of JSON text may have too many digits to be exact: `integers` and perhaps decimals, or only `decimals`. Digits in
 * texts do not count, unless their neighbours look like JSON.
 *
 * A run of 16 digits and points fills three words of four bytes, so every third word is read. One byte stands for each UTF-16
 * unit: another unit may look like a digit, but no digit like another unit.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scan of each answer, which calls of functions would slow down
export function findLongNumbers(text: string): 'integers' | 'decimals' | undefined {
  if (text.length < shortText && !holdsLongRun(text)) return undefined;
  if (!window) {
    const memory = new ArrayBuffer(windowSize + 12);
    window = { bytes: Buffer.from(memory), words: new Int32Array(memory) };
  }
  const { bytes, words } = window;
  let found: 'decimals' | undefined;
  /** After the first long decimal, only integers matter. */
  let shift = 0x02020202;
  let digitsSeen = 0;
  for (let from = 0; from < text.length; from += windowSize - 12) {
    const byteCount = bytes.write(
      text.length > windowSize ? text.slice(from, from + windowSize) : text,
      'latin1',
    );
    bytes.fill(0, byteCount, byteCount + 12);
    const end = byteCount >> 2;
    for (let at = 2; at <= end; at += 3) {
      if (!isFull(words[at], shift)) continue;
      const isAfter = isFull(words[at + 1], shift);
      let first = at;
      if (isFull(words[at - 1], shift)) {
        first = isFull(words[at - 2], shift) ? at - 2 : at - 1;
        if (first === at - 1 && !isAfter) continue;
      } else if (!isAfter || !isFull(words[at + 2], shift)) continue;
      let start = from + first * 4;
      let past = start + 12;
      while (start > digitsSeen && isPart(text.charCodeAt(start - 1), shift)) start -= 1;
      const isKnown = start <= digitsSeen && digitsSeen > 0;
      digitsSeen = past;
      if (isKnown) continue;
      const before = text.charAt(text.charCodeAt(start - 1) === minus ? start - 2 : start - 1);
      if (!' \n\r\t:,['.includes(before)) continue;
      while (isPart(text.charCodeAt(past), shift)) past += 1;
      digitsSeen = past;
      if (past - start < leastDigits) continue;
      const pointAt = text.slice(start, past).indexOf('.');
      if (pointAt === -1 || pointAt >= leastDigits) return 'integers';
      if (past - start === leastDigits) continue;
      found = 'decimals';
      shift = 0;
    }
  }
  return found;
}

/** To copy a shorter text takes longer than to look at its units. */
const shortText = 4_096;

/** Whether a text has a run of 16 digits and points: one of them is at a multiple of 16. */
function holdsLongRun(text: string): boolean {
  for (let at = 0; at < text.length; at += leastDigits) {
    let start = at;
    while (isPart(text.charCodeAt(start), 1)) start -= 1;
    let past = at;
    while (isPart(text.charCodeAt(past), 1)) past += 1;
    if (past - start > leastDigits) return true;
  }
  return false;
}

/** Whether a UTF-16 unit is a digit, or the point where points count. */
function isPart(unit: number, shift: number): boolean {
  return (unit >= 48 && unit <= 57) || (unit === 46 && shift !== 0);
}

const minus = 45;

/** Whether the four bytes of a word are digits, or with the shift points or slashes, too: half-bytes of 3 after an addition. */
function isFull(word = 0, shift: number): boolean {
  return ((word + shift) & 0xf0f0f0f0) === 0x30303030 && ((word + 0x06060606) & 0xf0f0f0f0) === 0x30303030;
}

function withNumbers(text: string, write: (number: string) => string): string {
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : write(token),
  );
}

/** Whether JavaScript reads a number of JSON as another one, by their decimal values: `1e22` and `1.0` stay what they are. */
export function losesDigits(number: string): boolean {
  const parsed = Number(number);
  return !Number.isFinite(parsed) || decimalOf(number) !== decimalOf(String(parsed));
}

/** The one spelling of a decimal value: `-12e3`. */
function decimalOf(number: string): string {
  const [, sign, pointAt = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (pointAt + fraction).replace(/^0+/, '');
  let length = digits.length;
  while (digits.charAt(length - 1) === '0') length -= 1;
  const power = Number(exponent) - fraction.length + digits.length - length;
  if (length === 0) return '0';
  return `${sign}${digits.slice(0, length)}e${power}`;
}
