// Removes keys from texts.

/** Shorter texts are too likely to be ordinary words of an answer. */
const leastLength = 8;

/** Of a longer key, so many characters are compared, and the rest of the same word is also removed. */
const maxCompared = 64;

export const removed = '[secret]';

/**
 * Removes keys from an answer, in whatever form an API repeats them: plain, in another case, URL-encoded, in base64 at each position, in
 * hex, with the escapes of JSON or HTML; also in names of members, and as numbers. Takes time linear in the length of the answer.
 *
 * @param secrets the keys; those shorter than `least` are not removed, and those of fewer than 8 characters only as whole words,
 *   in plain form: a user may be `api`
 * @returns a function of JSON text to JSON text; anything but the keys stays unchanged, and so does text that is not JSON. A string with
 *   a key in HTML is decoded.
 */
export function redactorOf(secrets: readonly string[], least = leastLength): (text: string) => string {
  const keys = [...new Set(secrets)].filter((secret) => secret.length >= least);
  const longest = keys.toSorted((a, b) => b.length - a.length);
  // One expression for each key: V8 interprets very large ones.
  const patterns = longest.map((key) => {
    // Only base64 hides that `Bearer …` contains a key.
    const isWhole = keys.some((part) => part !== key && part.length >= leastLength && key.includes(part));
    return patternsOf(key)
      .slice(isWhole ? -alignments.length : 0)
      .join('|');
  });
  if (patterns.length === 0) return (text) => text;
  const forms = patterns.map((pattern) => new RegExp(pattern, 'u'));
  const everyForm = patterns.map((pattern) => new RegExp(pattern, 'gu'));
  const hasKey = (text: string) => forms.some((form) => form.test(text));
  const withoutKeys = (text: string) =>
    everyForm.reduce((left, form) => left.replaceAll(form, removed), text);
  const cleaned = (token: string): string => {
    if (!token.startsWith('"')) return hasKey(token) ? `"${removed}"` : token;
    const text: string = JSON.parse(token);
    if (hasKey(text)) return JSON.stringify(withoutKeys(text));
    const decoded = decodeHtml(text);
    if (hasKey(decoded)) return JSON.stringify(withoutKeys(decoded));
    return token;
  };
  return (text) => {
    if (!hasKey(text) && !text.includes(escapedPercent)) {
      const decoded = decodeHtml(text);
      if (decoded === text || !hasKey(decoded)) return text;
    }
    if (!isJson(text)) return text;
    return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, cleaned);
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

/** The escape of JSON that can hide a form in the text, but not in the parsed value. `decodeHtml` reads the one of `&`. */
const escapedPercent = String.raw`\u0025`;

const htmlNames: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const htmlReference = /(?:&|\\u0026)(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/g;
const maxHtmlLevels = 3;

/** A text with its references of HTML decoded, up to three times: `&amp;`, `&#38;`, `&#x26;`. */
function decodeHtml(text: string): string {
  let decoded = text;
  for (let level = 0; level < maxHtmlLevels; level++) {
    const outer = decoded;
    decoded = outer.replaceAll(htmlReference, (reference, name?: string, decimal?: string, hex?: string) => {
      if (name !== undefined) return htmlNames[name] ?? reference;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      if (code <= 0x10_ff_ff) return String.fromCodePoint(code);
      return reference;
    });
    if (decoded === outer) break;
  }
  return decoded;
}

/** Numbers of bytes before a key in a group of base64, which has three. */
const alignments = [0, 1, 2];

/** Patterns for the forms of a key, base64 last; they contain no unbounded repetition that could fail after it. */
function patternsOf(secret: string): readonly string[] {
  const compared = [...secret].slice(0, maxCompared);
  const parts = compared.join('').match(/\\+|[\s\S]/gu) ?? [];
  const plainPattern = parts.map((part) => anyForm(part, eitherCase(part))).join('');
  const rest = compared.length < secret.length ? String.raw`[\w.~+/%=-]*` : '';
  if (secret.length < leastLength)
    return [String.raw`(?<![\p{L}\p{N}_])(?:${plainPattern})(?![\p{L}\p{N}_])`];
  const bytes = Buffer.from(compared.join(''));
  return [
    plainPattern + rest,
    [...bytes.toString('hex')].map(eitherCase).join('') + (rest && '[\\da-fA-F]*'),
    ...alignments.map((before) => base64Pattern(bytes, before)),
  ];
}

/** The pattern of a key behind so many bytes: the characters of base64 that only the key decides, and all that follow them. */
function base64Pattern(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const first = Math.ceil((before * 8) / 6);
  const end = Math.floor(((before + bytes.length) * 8) / 6);
  const decided = [...encoded.slice(first, end)];
  return `${decided.map((character) => anyForm(character, base64Form(character))).join('')}[\\w+/%=-]*`;
}

/**
 * A plain character, one in a URL (encoded up to three times), or as JSON escapes it (up to three times). Backslashes are one
 * part: the forms of each could be read in many ways.
 */
function anyForm(character: string, plainForm: string): string {
  if (character.startsWith('\\')) {
    return String.raw`(?:\\|%(?:25){0,2}5[cC]|u005[cC]){1,${8 * character.length}}`;
  }
  const bytes = [...Buffer.from(character).toString('hex').matchAll(/../g)];
  const inUrl = bytes.map(([hex]) => `%(?:25){0,2}${[...hex].map(eitherCase).join('')}`).join('');
  const inJson = Array.from({ length: character.length }, (_, unit) => {
    const hex = character.charCodeAt(unit).toString(16).padStart(4, '0');
    return String.raw`\\{1,8}u${[...hex].map(eitherCase).join('')}`;
  }).join('');
  const escaped = /["/]/.test(character) ? String.raw`|\\{1,8}${plainForm}` : '';
  const inForm = character === ' ' ? String.raw`|\+` : '';
  return `(?:${inUrl}|${inJson}${escaped}${inForm}|${plainForm})`;
}

function eitherCase(character: string): string {
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  if (cases.size === 1) return escapePattern(character);
  return `(?:${[...cases].map(escapePattern).join('|')})`;
}

/** The alphabet for URLs replaces two characters. */
function base64Form(character: string): string {
  return { '+': String.raw`[+\-]`, '/': '[/_]' }[character] ?? escapePattern(character);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
