import { cachedByObject, isObject, type Json } from 'market-mcp-contract/json';

/** Characters of a text that count as one value. */
const charactersPerValue = 100;

/** Keywords whose values are data, which is read to its end. */
const dataKeywords = new Set(['example', 'examples', 'default', 'enum', 'const']);

/** Levels of data that are read. */
const dataLevels = 100;

const countInside = cachedByObject((value: object) => countOf(value as Json, 2));

/**
 * Counts the values that are read in one place of a document: its members, their members, and all data. A text counts for its
 * length, because it is read as a whole.
 */
export function countValues(value: Json): number {
  if (isObject(value) || Array.isArray(value)) return countInside(value);
  return countOf(value, 0);
}

function countOf(value: Json, levels: number): number {
  if (typeof value === 'string') return 1 + countText(value);
  if (typeof value !== 'object' || value === null || levels === 0) return 1;
  let count = 1;
  for (const [name, member] of Object.entries(value)) {
    const memberLevels = dataKeywords.has(name) ? dataLevels : levels - 1;
    count += countText(name) + countOf(member, memberLevels);
  }
  return count;
}

/** Counts a text, such as a pointer, in addition to the value that it is. */
export function countText(text: string): number {
  return Math.floor(text.length / charactersPerValue);
}
