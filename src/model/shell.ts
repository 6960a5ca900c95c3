/**
 * Quotes arguments for a POSIX shell, as one line to paste. This is the only place that quotes: every command that is printed
 * goes through it. What a terminal would interpret or hide is written as octal numbers for printf, except line feeds at the end.
 */
export function shellLine(pieces: readonly string[]): string {
  return pieces.map(quoted).join(' ');
}

/** A path as an argument that no program mistakes for an option. */
export function asOperand(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function quoted(piece: string): string {
  if (/^[\w@%+:,./-]+$/.test(piece)) return piece;
  // Command substitution removes trailing line feeds.
  const [, text = '', lineFeeds = ''] = /^(.*?)(\n*)$/s.exec(piece) ?? [];
  const shown = text.search(unseen) < 0 ? '' : `"$(printf ${singleQuoted(formatOf(text))})"`;
  if (shown === '') return singleQuoted(piece);
  return lineFeeds === '' ? shown : shown + singleQuoted(lineFeeds);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A printf format that prints a text. A leading dash would be an option; bash expands `!` even in quotes within quotes. */
function formatOf(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')
    .replaceAll(unseen, octal)
    .replaceAll('!', octal)
    .replace(/^-/, octal);
}

function octal(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
