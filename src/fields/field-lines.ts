import type { InputError, Result } from 'market-mcp-contract/command';
import { memoize } from 'market-mcp-contract/json';
import type { Field } from '../model/tool-model.ts';
import { baseTypes, typeAliases } from './declaration.ts';
import { parseFields } from './language.ts';

/** The result of checking lines of the field language while they are typed. */
export interface CheckedLines {
  /** The fields of all lines that have no error. */
  readonly fields: readonly Field[];
  /** The first error of a line, by its index. */
  readonly errors: ReadonlyMap<number, InputError>;
}

/**
 * Parses lines as fields, one per line; empty lines are ignored. A line that contradicts earlier lines, such as a
 * name that is declared again, gets the error.
 *
 * @param flag the flag that takes the same text, for the errors: `--input`
 */
export function checkLines(lines: readonly string[], flag: string): CheckedLines {
  const errors = new Map<number, InputError>();
  const read = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const singleLine = parseAlone(`${flag} ${line}`);
    if (singleLine.ok) return [{ line, index }];
    keepFirst(errors, index, singleLine);
    return [];
  });
  const everyField = parseFields(fieldLines(read), flag);
  if (everyField.ok) return { fields: everyField.value, errors };

  let agreed: typeof read = [];
  for (const candidate of read) {
    const joined = parseFields(fieldLines([...agreed, candidate]), flag);
    if (joined.ok) agreed = [...agreed, candidate];
    else keepFirst(errors, candidate.index, joined);
  }
  const fields = parseFields(fieldLines(agreed), flag);
  return { fields: fields.ok ? fields.value : [], errors };
}

/** Parses a single line. The text starts with the flag and a space. */
const parseAlone = memoize((text: string): Result<readonly Field[]> => {
  const space = text.indexOf(' ');
  return parseFields([text.slice(space + 1)], text.slice(0, space));
});

function fieldLines(read: readonly { readonly line: string }[]): readonly string[] {
  return read.map(({ line }) => line);
}

function keepFirst(errors: Map<number, InputError>, index: number, result: Result<unknown>): void {
  const [first] = result.ok ? [] : result.errors;
  if (first) errors.set(index, first);
}

/** Formats that Ajv checks and authors commonly need. */
const formats = ['date-time', 'date', 'time', 'duration', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
const types = [...baseTypes, ...baseTypes.map((type) => `${type}[]`)];
const options = ['min=', 'max=', 'format=', 'pattern=/', 'examples=', 'enum=', 'nullable'];

/** The possible continuations of an incomplete declaration. */
interface Completion {
  /** The text before the incomplete word. */
  readonly before: string;
  /** Candidates for the word, the most likely first. */
  readonly words: readonly string[];
}

/**
 * Completes a type after the colon, an option in brackets, and a format.
 *
 * @param text a declaration up to the cursor
 */
export function completionOf(text: string): Completion {
  const type = /^((?:"(?:[^"\\]|\\.)*"|[^\s:"])+:)([a-z[\]-]*)$/i.exec(text);
  if (type) return { before: type[1] ?? '', words: typeWords(type[2] ?? '') };
  const format = /^(.*[(,]\s*format=)([a-z0-9-]*)$/.exec(text);
  if (format) return { before: format[1] ?? '', words: startingWith(formats, format[2] ?? '') };
  const option = /^([^\s(]+:[a-z]+[^\s]*\((?:[^)]*,\s*)?)([a-z]*)$/.exec(text);
  if (option) return { before: option[1] ?? '', words: startingWith(options, option[2] ?? '') };
  return { before: text, words: [] };
}

/** `int` means integer, `date` a string of that format. */
function typeWords(word: string): readonly string[] {
  const meantTypes = [...typeAliases]
    .filter(([alias]) => alias === word.toLowerCase())
    .map(([, type]) => type);
  return [...new Set([...meantTypes, ...startingWith(types, word)])].filter((type) => type !== word);
}

function startingWith(words: readonly string[], start: string): readonly string[] {
  return words.filter((word) => word.startsWith(start) && word !== start);
}
