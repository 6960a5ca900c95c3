/** Shorter texts are too likely to be ordinary words of an answer. */
const leastLength = 8;

/** Of a longer key, so many characters are compared, and what follows them in the same word is removed, too. */
const maxCompared = 64;

export const removed = '[secret]';

/**
 * Removes keys from an answer, in whatever form an API repeats them: plain, in another case, URL-encoded, in base64, in hex,
 * with JSON's escapes; also in names of members, and as numbers. Takes time linear in the length of the answer.
 *
 * @param secrets the keys; those shorter than `least` are not removed, and those of fewer than 8 characters only as whole words,
 *   in plain form: a user may be `api`
 * @returns a function of JSON text to JSON text; anything but the keys stays as it is, and so does text that is not JSON
 */
export function redactorOf(secrets: readonly string[], least = leastLength): (text: string) => string {
  const keys = [...new Set(secrets)].filter((secret) => secret.length >= least);
  const longest = keys.toSorted((a, b) => b.length - a.length);
  const patterns = longest.flatMap((key) => {
    // Only base64 hides that `Bearer …` contains a key.
    const isWhole = keys.some((part) => part !== key && part.length >= leastLength && key.includes(part));
    return patternsOf(key).slice(isWhole ? -1 : 0);
  });
  if (patterns.length === 0) return (text) => text;
  const oneKey = new RegExp(patterns.join('|'), 'u');
  const everyKey = new RegExp(oneKey, 'gu');
  const cleaned = (token: string): string => {
    if (!token.startsWith('"')) return oneKey.test(token) ? `"${removed}"` : token;
    const said: string = JSON.parse(token);
    return oneKey.test(said) ? JSON.stringify(said.replaceAll(everyKey, removed)) : token;
  };
  return (text) => {
    if (!oneKey.test(text) && !text.includes(escapedPercent)) return text;
    return isJson(text) ? text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, cleaned) : text;
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The one escape of JSON that can hide a form in the text, but not in the parsed value. */
const escapedPercent = String.raw`\u0025`;

/** Patterns for the forms of a key, base64 last; they contain no unbounded repetition that could fail after it. */
function patternsOf(secret: string): readonly string[] {
  const compared = [...secret].slice(0, maxCompared);
  const parts = compared.join('').match(/\\+|[\s\S]/gu) ?? [];
  const plain = parts.map((part) => anyForm(part, eitherCase(part))).join('');
  const rest = compared.length < secret.length ? String.raw`[\w.~+/%=-]*` : '';
  if (secret.length < leastLength) return [String.raw`(?<![\p{L}\p{N}_])(?:${plain})(?![\p{L}\p{N}_])`];
  const bytes = Buffer.from(compared.join(''));
  // Whatever follows the key changes only what follows its last three bytes.
  const base64 = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
  return [
    plain + rest,
    [...bytes.toString('hex')].map(eitherCase).join('') + (rest && '[\\da-fA-F]*'),
    `${[...base64].map((character) => anyForm(character, base64Form(character))).join('')}[\\w+/%=-]*`,
  ];
}

/**
 * A character as it is, in a URL (encoded up to three times), or as JSON escapes it (up to three times). Backslashes are one
 * part: the forms of each could be read in many ways.
 */
function anyForm(character: string, plain: string): string {
  if (character.startsWith('\\')) {
    return String.raw`(?:\\|%(?:25){0,2}5[cC]|u005[cC]){1,${8 * character.length}}`;
  }
  const bytes = [...Buffer.from(character).toString('hex').matchAll(/../g)];
  const inUrl = bytes.map(([hex]) => `%(?:25){0,2}${[...hex].map(eitherCase).join('')}`).join('');
  const inJson = Array.from({ length: character.length }, (_, unit) => {
    const hex = character.charCodeAt(unit).toString(16).padStart(4, '0');
    return String.raw`\\{1,8}u${[...hex].map(eitherCase).join('')}`;
  }).join('');
  const escaped = /["/]/.test(character) ? String.raw`|\\{1,8}${plain}` : '';
  const inForm = character === ' ' ? String.raw`|\+` : '';
  return `(?:${inUrl}|${inJson}${escaped}${inForm}|${plain})`;
}

function eitherCase(character: string): string {
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  return cases.size === 1 ? literal(character) : `(?:${[...cases].map(literal).join('|')})`;
}

/** The alphabet for URLs replaces two characters. */
function base64Form(character: string): string {
  return { '+': String.raw`[+\-]`, '/': '[/_]' }[character] ?? literal(character);
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
