import { isObject, shorten } from '../json/json.ts';
import { propertiesOf, typesOf } from '../json/keywords.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { type FoundCall, foundCallWith } from '../wire/explored-calls.ts';
import type { Probe } from '../wire/probe.ts';
import { inputSchemaOf } from '../wire/tool-cases.ts';
import type { CallFinding } from './call-findings.ts';
import { joinWords } from './returned-values.ts';
import { isText } from './schema-problems.ts';

/** Names of parameters that say by which field the entries are sorted. */
const sorting = /^(?:sort|order)(?:ed)?(?: (?:by|on|field|key|column|property))?$/;

const direction = /\b(?:asc|desc|ascending|descending|by)\b/g;

/** Entries that stand before the others whatever the order is. */
const placedFirst = /\b(?:pinned|sponsored|promoted|featured|sticky|group|category|section)\b/;

/** Fields whose digits are not one number: 1.10 comes after 1.9. */
const numbered = /\b(?:versions?|releases?|revisions?)\b/;

/** Entries that are sorted in neither direction by the field that the call names. */
export async function disorderedEntries(
  calls: readonly [FoundCall, ...FoundCall[]],
  probe: Probe,
): Promise<CallFinding | undefined> {
  const [{ tool, name: toolName }] = calls;
  if (probe.target.sampled?.has(toolName)) return undefined;
  for (const [name, schema] of propertiesOf(inputSchemaOf(tool))) {
    if (!sorting.test(joinWords([name])) || !typesOf(schema).includes('string')) continue;
    for (const call of await sortedCalls(calls, name, schema, probe)) {
      const entries = entriesOf(call);
      const field = fieldNamed(call.arguments[name], entries);
      if (field === undefined || !isDisordered(entries, field)) continue;
      const values = entries.map((entry) => entry[field] ?? null);
      return {
        expected: `entries that are sorted by ${field}, as ${name} asks`,
        actual: `${field}: ${values.slice(0, shownValues).map(shortValue).join(', ')}`,
        calls: [call],
      };
    }
  }
  return undefined;
}

const shownValues = 8;

function shortValue(value: Json): string {
  return shorten(value, 30);
}

/** The calls that name a field of their entries, or else one more that does. */
async function sortedCalls(
  calls: readonly [FoundCall, ...FoundCall[]],
  name: string,
  { enum: listed, examples }: JsonObject,
  probe: Probe,
): Promise<readonly FoundCall[]> {
  const naming = calls.filter((call) => fieldNamed(call.arguments[name], entriesOf(call)) !== undefined);
  if (naming.length > 0) return naming;
  const longCall = calls.find((call) => entriesOf(call).length > 2);
  const values = [listed, examples].flatMap((list) => (Array.isArray(list) ? list : []));
  const value =
    longCall && values.find((candidate) => fieldNamed(candidate, entriesOf(longCall)) !== undefined);
  const sorted = longCall && value !== undefined && (await foundCallWith(probe, longCall, { name, value }));
  if (sorted) return [sorted];
  return [];
}

/** The entries of the longest list at the root of the data. */
function entriesOf({ data }: FoundCall): readonly JsonObject[] {
  const lists = Object.values(data).filter(Array.isArray);
  const [longest = []] = lists.toSorted((left, right) => right.length - left.length);
  if (longest.every(isObject)) return longest;
  return [];
}

/** The field of the entries that a value such as `price`, `-price` or `price_desc` names. */
function fieldNamed(value: Json | undefined, [entry = {}]: readonly JsonObject[]): string | undefined {
  if (!isText(value)) return undefined;
  const wordsOf = (text: string) =>
    joinWords([text]).replaceAll(direction, ' ').replaceAll(/\W+/g, ' ').trim();
  return Object.keys(entry).find((field) => wordsOf(field) === wordsOf(value) && wordsOf(field) !== '');
}

/** Fields whose texts are sorted by their letters, and not by a meaning such as low, medium, high. */
const sortedByLetters = /^(?:id|symbol|ticker|code|slug|name)$/i;

function isDisordered(entries: readonly JsonObject[], field: string): boolean {
  const isPlaced = entries.some((entry) => placedFirst.test(joinWords(Object.keys(entry))));
  const values = entries
    .map((entry) => entry[field])
    .filter((value) => value !== undefined && value !== null);
  if (isPlaced || numbered.test(joinWords([field])) || new Set(values).size < 3) return false;
  const numbers = values.map(numberOf);
  if (numbers.every((number) => number !== undefined))
    return isUnsorted(numbers, subtract) && isUnsorted(numbers.map(Math.abs), subtract);
  const texts = values.filter((value) => isText(value) && !/\s/.test(value)) as readonly string[];
  if (!sortedByLetters.test(field) || texts.length < values.length) return false;
  return [compareCodes, compareLetters].every((compare) => isUnsorted(texts, compare));
}

/** A number, a text of digits, or a time; undefined for any other value. */
function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  if (!isText(value) || value.trim() === '') return undefined;
  const number = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number(value);
  if (Number.isNaN(number)) return undefined;
  return number;
}

/** Whether values are sorted in neither direction. One of ten may have changed since the source sorted them. */
function isUnsorted<T>(values: readonly T[], compare: (left: T, right: T) => number): boolean {
  const steps = values.slice(1).map((value, at) => compare(values[at] as T, value));
  const allowedSteps = Math.floor(values.length / 10);
  const rises = steps.filter((step) => step < 0).length;
  const falls = steps.filter((step) => step > 0).length;
  return Math.min(rises, falls) > allowedSteps;
}

function subtract(left: number, right: number): number {
  return left - right;
}

function compareCodes(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

function compareLetters(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true, ignorePunctuation: true, sensitivity: 'base' });
}
