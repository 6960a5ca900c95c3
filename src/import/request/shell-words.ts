import { RequestRefusal } from './request-refusal.ts';

const onlyOne = 'Give one curl command alone, with its URL and its data in quotes.';

/** A command line, as a shell passes it to a program. */
export interface CommandLine {
  readonly words: readonly string[];
  /** The pipe at its end to a program that only shows the response, such as `| jq .`. */
  readonly pipe?: string;
}

/**
 * Splits a command line as a POSIX shell does, or as cmd does where lines are continued or quoted with `^`. Nothing is expanded: `$NAME`
 * stays unchanged.
 *
 * @throws RequestRefusal for whatever a shell would run, redirect or expand
 */
export function splitCommandLine(line: string): CommandLine {
  if (isForCmd(line)) return { words: cmdWords(line) };
  return splitPosixLine(line);
}

/** Whether cmd is meant: it has no single quotes, and doubles or escapes the quotes in a word. */
function isForCmd(line: string): boolean {
  if (/\s'/.test(line.replaceAll(/"[^"]*"/g, ''))) return false;
  return /\^(?:"|[ \t]*\r?\n)/.test(line) || hasDoubledQuotes(line);
}

/** Whether JSON has doubled quotes, as Firefox copies it for Windows: `"{""a"":1}"`. */
function hasDoubledQuotes(line: string): boolean {
  return /\s"[[{][[{\s]*""\w[^"]*""\s*[:,\]]/.test(line);
}

/** Names of the variables that a command line contains outside of single quotes. A backslash before `$` makes it a text. */
export function unquotedVariables(line: string): ReadonlySet<string> {
  const isText = (piece: string) => /^(?:\$?'|\\)/.test(piece);
  // cmd has no single quotes.
  const unquoted = isForCmd(line)
    ? line
    : line.replaceAll(pieces, (piece) => (isText(piece) ? ' ' : piece.replaceAll(/\\[\s\S]/g, ' ')));
  const variables = unquoted.matchAll(/\$\{?([A-Za-z_]\w*)|%([A-Za-z_]\w*)%/g);
  return new Set([...variables].map(([, posix, cmd = '']) => posix ?? cmd));
}

/** The parts of a line; `open` is a quote that nothing ends. */
const pieces =
  /(?<quoted>\$?"(?:[^"\\]|\\[\s\S])*"|'[^']*'|\$'(?:[^'\\]|\\[\s\S])*')|(?<open>\$?["'])|(?<joined>\\\r?\n)|\\(?<escaped>[\s\S]?)|(?<gap>\s+)|(?<operator>\$\(|[|&;<>()`])|[\s\S]/g;

type Piece = { readonly [name: string]: string | undefined };

/** Joins the pieces of a line to words. */
class WordBuilder {
  readonly words: string[] = [];
  #word: string | undefined;
  /** The part of the word that is outside of quotes. */
  #unquotedText = '';

  get isBetweenWords(): boolean {
    return this.#word === undefined;
  }

  add(text: string, { quoted, escaped }: Piece): void {
    if (this.isBetweenWords && /^[“”„‘’‚]/.test(text)) throw typographicQuote(text);
    this.#word = (this.#word ?? '') + (quoted === undefined ? (escaped ?? text) : unquoted(quoted));
    if (quoted === undefined && escaped === undefined) this.#unquotedText += text;
  }

  endWord(): void {
    if (this.#word !== undefined) this.words.push(this.#word);
    if (/\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(this.#unquotedText))
      throw new RequestRefusal('contains a list in braces, which a shell expands', onlyOne);
    this.#word = undefined;
    this.#unquotedText = '';
  }
}

function splitPosixLine(line: string): CommandLine {
  const builder = new WordBuilder();
  let commentEnd = 0;
  for (const { 0: text, index, groups: piece = {} } of line.matchAll(pieces)) {
    if (index < commentEnd) continue;
    const rest = line.slice(index);
    if (piece.operator !== undefined) {
      const pipe = requireViewerPipe(piece.operator, rest);
      builder.endWord();
      return { words: builder.words, pipe };
    }
    if (text === '#' && builder.isBetweenWords) commentEnd = index + rest.search(/\n|$/);
    else addPiece(builder, text, piece, rest);
  }
  builder.endWord();
  return { words: builder.words };
}

/** @param rest the line from this piece on */
function addPiece(builder: WordBuilder, text: string, piece: Piece, rest: string): void {
  if (piece.joined !== undefined) return;
  if (piece.open !== undefined)
    throw new RequestRefusal('has no end for a quote', 'Paste the whole command.');
  if (piece.gap === undefined) {
    builder.add(text, piece);
    return;
  }
  builder.endWord();
  if (builder.words.length > 0) requireNoSecondLine(piece.gap, rest.slice(piece.gap.length));
}

/** @throws RequestRefusal for an operator that is no pipe to a program that only shows the response */
function requireViewerPipe(operator: string, rest: string): string {
  const pipe = operator === '|' ? viewerPipe(rest) : undefined;
  if (pipe === undefined) throw new RequestRefusal(`contains ${operator}, which a shell runs`, onlyOne);
  return pipe;
}

/** @throws RequestRefusal if a line break ends the command, and more than a pipe or a comment follows */
function requireNoSecondLine(gap: string, rest: string): void {
  const isAtEnd = /^(?:\||(?:#[^\n]*|\s)*$)/.test(rest);
  if (gap.includes('\n') && !isAtEnd)
    throw new RequestRefusal('contains a second line that no \\ continues', onlyOne);
}

/** Programs that only change how a response is shown. */
const viewer = /^\|\s*(?:jq|json_pp|python3? -m json\.tool)(?=\s|$)/;

/** Returns the pipe at the end of a line if it leads only to such a program. */
function viewerPipe(text: string): string | undefined {
  const [start] = viewer.exec(text) ?? [];
  if (start === undefined) return undefined;
  // A second command, an open quote, a substitution.
  const hasShellSyntax = [...text.slice(start.length).trimEnd().matchAll(pieces)].some(
    ({ groups: { operator, open, quoted = '', gap = '' } = {} }) =>
      operator !== undefined || open !== undefined || gap.includes('\n') || /^\$?".*(?:`|\$\()/s.test(quoted),
  );
  if (hasShellSyntax) return undefined;
  return text.trim();
}

function typographicQuote(quote: string): RequestRefusal {
  return new RequestRefusal(
    `contains the typographic quote ${quote}`,
    'A text program has replaced the quotes: write each as " or \'.',
  );
}

function unquoted(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  if (text.startsWith("$'")) return ansi(text.slice(2, -1));
  const inner = text.slice(text.indexOf('"') + 1, -1);
  if (/(?<!\\)(?:\\\\)*(?:`|\$\()/.test(inner))
    throw new RequestRefusal('contains a command in double quotes, which a shell runs', onlyOne);
  return inner.replaceAll(/\\(\r?\n|[\s\S])/g, (escapeText, character: string) => {
    if (/^\r?\n$/.test(character)) return '';
    if ('$`"\\'.includes(character)) return character;
    return escapeText;
  });
}

const escapes: { readonly [letter: string]: number } = {
  ...{ n: 10, t: 9, r: 13, a: 7, b: 8, e: 27, E: 27, f: 12, v: 11 },
};

/** The text of `$'…'`: octal and hexadecimal escapes are bytes. */
function ansi(text: string): string {
  const coded =
    /\\(?:x(?<hex>[\da-f]{1,2})|(?<octal>[0-7]{1,3})|u(?<short>[\da-f]{1,4})|U(?<long>[\da-f]{1,8})|c(?<control>[\s\S])|(?<letter>[\s\S]))/giu;
  const bytes: Buffer[] = [];
  let from = 0;
  for (const match of text.matchAll(coded)) {
    bytes.push(Buffer.from(text.slice(from, match.index)), ansiEscape(match[0], match.groups ?? {}));
    from = match.index + match[0].length;
  }
  return Buffer.concat([...bytes, Buffer.from(text.slice(from))]).toString('utf8');
}

/** The bytes that an escape stands for; an unknown escape stands for itself. */
function ansiEscape(escapeText: string, { hex, octal, short, long, control, letter = '' }: Piece): Buffer {
  const codePoint = short ?? long;
  if (hex !== undefined) return Buffer.from([Number.parseInt(hex, 16)]);
  if (octal !== undefined) return Buffer.from([Number.parseInt(octal, 8) & 255]);
  if (codePoint !== undefined) return Buffer.from(String.fromCodePoint(Number.parseInt(codePoint, 16)));
  if (control !== undefined) return Buffer.from([control.charCodeAt(0) & 31]);
  if (escapes[letter] !== undefined) return Buffer.from([escapes[letter]]);
  if (/[\\'"?]/.test(letter)) return Buffer.from(letter);
  return Buffer.from(escapeText);
}

/** The words as cmd and then a C program read a line: in a quoted word, `\"` and `""` are a quote. */
function cmdWords(line: string): readonly string[] {
  const words = decodeCmdLine(line).matchAll(/(?:"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s"])+/g);
  return [...words].map(([word]) => withoutQuotes(word));
}

/** A line without the escapes of cmd: `^` escapes outside of quotes. Chrome of 2018 writes `^\^` for a quote in a quoted word. */
function decodeCmdLine(line: string): string {
  const escapesInQuotes = /[^^]\^\\\^"/.test(line);
  const isDoubled = hasDoubledQuotes(line);
  let decoded = '';
  let isQuoted = false;
  let at = 0;
  while (at < line.length) {
    const character = line[at] ?? '';
    if (isDoubled && isQuoted && line.startsWith('""', at)) {
      decoded += '\\"';
      at += 2;
      continue;
    }
    if (character === '^' && (!isQuoted || escapesInQuotes)) {
      const { text, length } = caretEscape(line.slice(at));
      decoded += text;
      at += length;
      continue;
    }
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && /[&|<>]/.test(character))
      throw new RequestRefusal(`contains ${character}, which cmd runs`, onlyOne);
    decoded += character;
    at += 1;
  }
  return decoded;
}

/** The text that `^` at the start of a text stands for, and the length of the escape. `^` at the end of a line joins two lines. */
function caretEscape(text: string): { readonly text: string; readonly length: number } {
  const [joint] = /^\^[ \t]*\r?\n/.exec(text) ?? [];
  if (joint === undefined) return { text: text[1] ?? '', length: 2 };
  const [emptyLine = ''] = /^\r?\n/.exec(text.slice(joint.length)) ?? [];
  return { text: emptyLine === '' ? '' : '\n', length: joint.length + emptyLine.length };
}

/** A word as a C program reads it: two backslashes before a quote are one, and a backslash before a quote makes it a text. */
function withoutQuotes(word: string): string {
  return word
    .replaceAll(
      /(\\*)"/g,
      (_, slashes: string) => '\\'.repeat(slashes.length >> 1) + (slashes.length % 2 ? '"' : '\0'),
    )
    .replaceAll('\0', '');
}
