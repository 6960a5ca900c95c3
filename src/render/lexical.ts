/** A property name as it stands in an object literal. `__proto__` must be computed: otherwise it sets the prototype. */
export function propertyName(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return isIdentifierName(name) ? name : stringLiteral(name);
}

/** The access to a member: `input.symbol`, `input['a b']`. */
export function memberAccess(object: string, name: string): string {
  return isIdentifierName(name) ? `${object}.${name}` : `${object}[${stringLiteral(name)}]`;
}

/**
 * A string literal in single quotes, or in double quotes if they need fewer escapes. Line terminators, invisible characters and
 * direction characters are escaped, so that the source reads as it runs.
 */
export function stringLiteral(text: string): string {
  const quote = text.split("'").length > text.split('"').length ? '"' : "'";
  const escaped = text.replace(unsafe, (character) => {
    if (character === "'" || character === '"') return character === quote ? `\\${character}` : character;
    return escapes.get(character) ?? unicodeEscape(character);
  });
  return quote + escaped + quote;
}

const unsafe =
  /['"\\]|\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}|\p{Bidi_Control}|[\u00ad\u200b\u2060\ufeff]|[\u{e0000}-\u{e007f}]/gu;
const escapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function unicodeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

function isIdentifierName(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}
