import { hasUrlSecret, type UrlPart, urlParts } from './url-secrets.ts';

/**
 * Quotes arguments as one line to paste. This is the only place that quotes: every command that is printed goes through it.
 *
 * A secret of a URL becomes a variable, `$URL_KEY`. For a POSIX shell, characters that a terminal would interpret or hide are written as
 * octal numbers for printf, except line feeds at the end.
 * On Windows, the line is one for cmd and PowerShell alike. No line with quotes, `$`, `%` or control characters is the same in
 * both: it is the one for a POSIX shell, and its comment states that.
 *
 * @param platform as `process.platform`
 */
export function shellLine(pieces: readonly string[], platform: string = process.platform): string {
  if (platform !== 'win32') return posixLine(pieces);
  if (!pieces.every((piece) => unchangedInQuotes.test(piece) && !hasUrlSecret(piece)))
    return `${posixLine(pieces)}  ${forGitBash}`;
  return pieces.map((piece) => (needsNoQuotes.test(piece) ? piece : `"${piece}"`)).join(' ');
}

/** Quotes arguments for a POSIX shell on every system: for lines that use more of the shell than its arguments. */
export function posixLine(pieces: readonly string[]): string {
  return pieces.map((piece) => quotedParts(urlParts(piece))).join(' ');
}

/** In a quoted line, a long run of one character is written by a command, so that the line can be read. */
export function shortenRuns(line: string): string {
  return line.replaceAll(
    /([\w[\]{}:,.-])\1{99,}/g,
    (run) => `'"$(printf %${run.length}s | tr ' ' '${run[0]}')"'`,
  );
}

/** Quotes the parts of a URL as one argument for a POSIX shell, which fills in the variables of its secrets. */
export function quotedParts(parts: readonly UrlPart[]): string {
  return parts
    .map(({ text, variable }) => (variable === undefined ? quotePosix(text) : `"${variable}"`))
    .join('');
}

/** Commands for a POSIX shell, as text to paste: on Windows, they state that. */
export function posixCommands(lines: readonly string[]): string {
  return [...(process.platform === 'win32' ? [forGitBash] : []), ...lines].join('\n');
}

const forGitBash = '# for Git Bash';

/** Texts that cmd and PowerShell pass on unchanged between double quotes: a backslash at the end would quote the quote. */
const unchangedInQuotes = /^(?!.*\\$)[^"$`%“”„\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;

/** Those that need no quotes in either: PowerShell splits `-a.b` and reads commas as lists. */
const needsNoQuotes = /^(?:[\w][\w:./\\-]*|-{1,2}[\w-]+)$/;

/** A path as an argument that no program mistakes for an option. */
export function asOperand(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function quotePosix(piece: string): string {
  if (/^[\w@%+:,./-]+$/.test(piece)) return piece;
  // Command substitution removes trailing line feeds.
  const [, text = '', lineFeeds = ''] = /^(.*?)(\n*)$/s.exec(piece) ?? [];
  const quotedText = text.search(unseen) < 0 ? '' : `"$(printf ${singleQuoted(printfFormat(text))})"`;
  if (quotedText === '') return singleQuoted(piece);
  if (lineFeeds === '') return quotedText;
  return quotedText + singleQuoted(lineFeeds);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A printf format that prints a text. A leading dash would be an option; bash expands `!` even in quotes within quotes. */
function printfFormat(text: string): string {
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
