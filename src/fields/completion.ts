import { baseTypes, typeAliases } from './declaration.ts';

/** Formats that Ajv checks and authors commonly need. */
const formats = ['date-time', 'date', 'time', 'duration', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
const types = [...baseTypes, ...baseTypes.map((type) => `${type}[]`)];
const options = ['min=', 'max=', 'format=', 'pattern=/', 'examples=', 'enum=', 'nullable'];

/** The possible continuations of an incomplete declaration. */
export interface Completion {
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
  const meant = [...typeAliases].filter(([alias]) => alias === word.toLowerCase()).map(([, type]) => type);
  return [...new Set([...meant, ...startingWith(types, word)])].filter((type) => type !== word);
}

function startingWith(words: readonly string[], start: string): readonly string[] {
  return words.filter((word) => word.startsWith(start) && word !== start);
}
