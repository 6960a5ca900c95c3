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
  return exactly(text, JSON.parse(text));
}

/** @param value of the text, as `JSON.parse` reads it; it is returned if it is exact */
export function exactly(text: string, value: unknown, long = longNumbersIn(text)): unknown {
  if (long !== 'integers') return value;
  const exact = withNumbers(text, (number) => {
    const digits = /^-?\d+(?=(?:\.0+)?$)/.exec(number)?.[0];
    return digits !== undefined && digits.length >= leastDigits && isChanged(number) ? `"${digits}"` : number;
  });
  return exact === text ? value : JSON.parse(exact);
}

/** No text of others contains it. */
let mark: string | undefined;

function ownMark(): string {
  mark ??= `${randomUUID()} `;
  return mark;
}

/** The value of JSON text for `writeLiterally`: what JavaScript would change is a text that stands for the number. @throws SyntaxError */
export function parseLiterally(text: string): unknown {
  return JSON.parse(withNumbers(text, (number) => (isChanged(number) ? `"${ownMark()}${number}"` : number)));
}

/** JSON text with the numbers as they were written. */
export function writeLiterally(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return mark === undefined ? text : text.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

/** How a number was written that `parseLiterally` kept; undefined: JavaScript did not change it. */
export function writtenNumber(value: unknown): string | undefined {
  const isKept = typeof value === 'string' && mark !== undefined && value.startsWith(mark);
  return isKept ? value.slice(mark?.length) : undefined;
}

/** A text of digits as `writeLiterally` writes it: an integer. Anything else is returned as it is. */
export function asInteger(value: unknown): unknown {
  return typeof value === 'string' && /^-?(?:0|[1-9]\d*)$/.test(value) ? `${ownMark()}${value}` : value;
}

/**
 * Which numbers of JSON text may have so many digits that they are not exact: `integers` and perhaps decimals, or `decimals` alone.
 * Digits in texts do not count, as far as their neighbours show. One part of such a number stands at each 16th character, so few
 * characters are read.
 */
export function longNumbersIn(text: string): 'integers' | 'decimals' | undefined {
  let found: 'decimals' | undefined;
  for (let at = leastDigits - 1; at < text.length; at += leastDigits) {
    if (!isPart(text.charCodeAt(at))) continue;
    // Of so many characters around this one, at least 8 stand on one side.
    if (!isPart(text.charCodeAt(at - 8)) && !isPart(text.charCodeAt(at + 8))) continue;
    let start = at;
    while (isPart(text.charCodeAt(start - 1))) start -= 1;
    while (isPart(text.charCodeAt(at + 1))) at += 1;
    const before = text.charAt(text.charAt(start - 1) === '-' ? start - 2 : start - 1);
    if (at - start + 1 < leastDigits || !' \n\r\t:,['.includes(before)) continue;
    const number = text.slice(start, at + 1);
    const whole = number.indexOf('.');
    if (whole === -1 || whole >= leastDigits) return 'integers';
    if (number.length > leastDigits) found = 'decimals';
  }
  return found;
}

/** Whether a UTF-16 unit is a digit or the point. */
function isPart(unit: number): boolean {
  return unit >= 46 && unit <= 57 && unit !== 47;
}

function withNumbers(text: string, write: (number: string) => string): string {
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : write(token),
  );
}

/** Whether JavaScript reads a number of JSON as another one, by their decimal values: `1e22` and `1.0` stay what they are. */
function isChanged(number: string): boolean {
  const held = Number(number);
  return !Number.isFinite(held) || decimalOf(number) !== decimalOf(String(held));
}

/** The one spelling of a decimal value: `-12e3`. */
function decimalOf(number: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let length = digits.length;
  while (digits.charAt(length - 1) === '0') length -= 1;
  const power = Number(exponent) - fraction.length + digits.length - length;
  return length === 0 ? '0' : `${sign}${digits.slice(0, length)}e${power}`;
}
