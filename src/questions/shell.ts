/**
 * Quotes arguments for a POSIX shell, as one line. Characters that a terminal would
 * interpret or hide are written as octal numbers for printf.
 */
export function shellLine(pieces: readonly string[]): string {
  return pieces.map(quoted).join(' ');
}

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function quoted(piece: string): string {
  if (/^[\w@%+:,./-]+$/.test(piece)) return piece;
  if (!/[^ -~]/.test(piece)) return singleQuoted(piece);
  // Command substitution removes trailing line feeds.
  if (piece.search(unseen) >= 0 && !piece.endsWith('\n'))
    return `"$(printf ${singleQuoted(formatOf(piece))})"`;
  return singleQuoted(piece);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A printf format that prints a text; a leading dash would be an option. */
function formatOf(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll(unseen, octal).replace(/^-/, octal);
}

function octal(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
