import type { JsonObject } from '../contract/model.ts';
import { sampleOfPattern } from './pattern-sample.ts';

/** The words of a field's name, lower case: `maxFeePerGas` → max, fee, per, gas. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Noon of a day in 2026, `index` hours on. */
const moment = (index: number) => Date.UTC(2026, 0, 15, 12 + index);
const pick = (values: readonly string[]) => (index: number) => values[index % values.length] ?? '';
const padded = (index: number, length: number) => String(index + 1).padStart(length, '0');

const formats: { readonly [format: string]: (index: number) => string } = {
  'date-time': (index) => new Date(moment(index)).toISOString().replace('.000', ''),
  date: (index) => new Date(moment(index * 24)).toISOString().slice(0, 10),
  time: (index) => new Date(moment(index)).toISOString().slice(11, 19).concat('Z'),
  duration: (index) => `PT${index + 1}H`,
  email: (index) => `person${index + 1}@example.com`,
  'idn-email': (index) => `person${index + 1}@example.com`,
  hostname: (index) => `host${index + 1}.example.com`,
  'idn-hostname': (index) => `host${index + 1}.example.com`,
  ipv4: (index) => `192.0.2.${(index % 250) + 1}`,
  ipv6: (index) => `2001:db8::${(index + 1).toString(16)}`,
  uri: (index) => `https://example.com/${index + 1}`,
  url: (index) => `https://example.com/${index + 1}`,
  iri: (index) => `https://example.com/${index + 1}`,
  'uri-reference': (index) => `/items/${index + 1}`,
  'json-pointer': (index) => `/items/${index}`,
  uuid: (index) => `00000000-0000-4000-8000-${(index + 1).toString(16).padStart(12, '0')}`,
  byte: (index) => Buffer.from(`sample ${index + 1}`).toString('base64'),
  regex: () => '^.+$',
};

/** What a text is by the last words of its field's name. First match counts. */
const texts: readonly (readonly [RegExp, (index: number) => string])[] = [
  [/\b(at|timestamp|datetime|time)$/, (index) => (formats['date-time'] as (index: number) => string)(index)],
  [/\b(date|day)$/, (index) => (formats.date as (index: number) => string)(index)],
  [/\b(url|uri|link|href|website|homepage)$/, (index) => `https://example.com/${index + 1}`],
  [/\bemail$/, (index) => `person${index + 1}@example.com`],
  [/\b(symbol|pair|ticker)$/, pick(['BTC/USDT', 'ETH/USDT', 'SOL/USDT'])],
  [/\b(asset|coin|token)$/, pick(['BTC', 'ETH', 'SOL'])],
  [/\bcurrency$/, pick(['USD', 'EUR', 'JPY'])],
  [/\b(chain|network|blockchain)$/, pick(['base', 'ethereum', 'polygon'])],
  [/\bcountry$/, pick(['Germany', 'Japan', 'Brazil'])],
  [/\bcity$/, pick(['Berlin', 'Tokyo', 'Lima'])],
  [/\b(language|locale|lang)$/, pick(['en', 'de', 'ja'])],
  [/\btimezone$/, pick(['UTC', 'Europe/Berlin', 'Asia/Tokyo'])],
  [/\b(address|hash)$/, (index) => `0x${padded(index, 40)}`],
  [/\b(id|uuid|key|code|slug)$/, (index) => `sample-${index + 1}`],
  [
    /\b(price|amount|qty|quantity|volume|open|high|low|close|cost|fee|balance)$/,
    (index) => `${100 + index}.50`,
  ],
];

/** What a number is by the words of its field's name. First match counts. */
const quantities: readonly (readonly [RegExp, (index: number) => number])[] = [
  [/\b(at|timestamp|datetime|time)$/, moment],
  [/\byear\b/, (index) => 2026 + index],
  [/\bmonth\b/, (index) => (index % 12) + 1],
  [/\b(latitude|lat)$/, (index) => 52.52 - index],
  [/\b(longitude|lng|lon)$/, (index) => 13.4 + index],
  [/\b(percent|percentage|percentile|probability|confidence|score|pct)\b/, (index) => 50 + 5 * (index % 10)],
  [/\b(rate|ratio|share|spread)$/, (index) => 0.01 * (index + 1)],
  [/\b(price|cost|fee|amount|value|volume|balance|total)\b/, (index) => 100.5 + index],
  [/\b(limit|count|size|quantity|qty|number)\b/, (index) => 10 + index],
];

/** Characters beyond which no text is made up. */
const longestText = 4_000;

/** A text that fits the schema's length and pattern; undefined where none is found. */
export function sampleString(schema: JsonObject, name: string, index: number): string | undefined {
  const least = numberOf(schema.minLength) ?? 0;
  if (least > longestText) return undefined;
  const most = numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  const said = wordsOf(name).join(' ');
  const byFormat = typeof schema.format === 'string' ? formats[schema.format] : undefined;
  const byName = texts.find(([words]) => words.test(said))?.[1];
  const plain = `Sample ${said || 'text'} ${index + 1}`;
  const pattern = typeof schema.pattern === 'string' ? schema.pattern : undefined;
  const candidates = [byFormat?.(index), byName?.(index), plain, pattern && sampleOfPattern(pattern, index)];
  return candidates
    .filter((text) => text !== undefined)
    .map((text) => (pattern === undefined ? [...text.padEnd(least, '.')].slice(0, most).join('') : text))
    .find((text) => fitsText(text, least, most, pattern));
}

/** A number within the schema's bounds and steps; undefined where none is found. */
export function sampleNumber(schema: JsonObject, name: string, index: number): number | undefined {
  const said = wordsOf(name).join(' ');
  const byName = quantities.find(([words]) => words.test(said))?.[1];
  const isInteger = schema.type === 'integer';
  const step = numberOf(schema.multipleOf) ?? (isInteger ? 1 : undefined);
  const low = numberOf(schema.minimum) ?? numberOf(schema.exclusiveMinimum);
  const high = numberOf(schema.maximum) ?? numberOf(schema.exclusiveMaximum);
  const bases = [
    byName?.(index),
    index + 1,
    low,
    high,
    low !== undefined && high !== undefined ? (low + high) / 2 : 0,
  ].filter((base) => base !== undefined);
  const candidates = bases.flatMap((base) => {
    const near =
      step === undefined ? [base + index / 100] : [0, 1, -1].map((i) => (Math.ceil(base / step) + i) * step);
    return step === undefined ? [base, ...near] : near;
  });
  return candidates.map(rounded).find((number) => fitsNumber(number, schema));
}

/** Whether a number is within bounds and on a step. */
export function fitsNumber(number: number, schema: JsonObject): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, type } = schema;
  const steps = numberOf(multipleOf) === undefined ? 1 : number / Number(multipleOf);
  return (
    number >= (numberOf(minimum) ?? -Number.MAX_VALUE) &&
    number <= (numberOf(maximum) ?? Number.MAX_VALUE) &&
    number > (numberOf(exclusiveMinimum) ?? Number.NEGATIVE_INFINITY) &&
    number < (numberOf(exclusiveMaximum) ?? Number.POSITIVE_INFINITY) &&
    (type !== 'integer' || Number.isInteger(number)) &&
    (multipleOf === undefined || Number.isInteger(steps))
  );
}

function fitsText(text: string, least: number, most: number, pattern: string | undefined): boolean {
  const length = [...text].length;
  return length >= least && length <= most && (pattern === undefined || new RegExp(pattern, 'u').test(text));
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Without the noise of binary fractions. */
function rounded(number: number): number {
  return Number(number.toPrecision(15));
}
