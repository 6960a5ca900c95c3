import { RequestRefusal } from './request-refusal.ts';

const onlyOne = 'Give one curl command alone, with its URL and its data in quotes.';

/**
 * The words of a command line, as a POSIX shell (or cmd, where lines are continued or quoted with `^`) passes them to a program.
 * Nothing is expanded: `$NAME` stays unchanged.
 *
 * @param leftOut receives a pipe to a program that only shows the response, such as jq
 * @throws RequestRefusal for whatever a shell would run, redirect or expand
 */
export function commandWords(line: string, leftOut: (pipe: string) => void = () => {}): readonly string[] {
  if (isForCmd(line)) return cmdWords(line);
  return posixWords(line, leftOut);
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

function posixWords(line: string, leftOut: (pipe: string) => void): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  /** What stands outside of quotes in the word. */
  let unquotedText = '';
  let from = 0;
  const end = () => {
    if (word !== undefined) words.push(word);
    if (/\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(unquotedText))
      throw new RequestRefusal('contains a list in braces, which a shell expands', onlyOne);
    word = undefined;
    unquotedText = '';
  };
  for (const { 0: text, index, groups: piece = {} } of line.matchAll(pieces)) {
    if (index < from || piece.joined !== undefined) continue;
    const { quoted, open, escaped, gap, operator } = piece;
    if (open !== undefined) throw new RequestRefusal('has no end for a quote', 'Paste the whole command.');
    const pipe = operator === '|' ? viewerPipe(line.slice(index)) : undefined;
    if (pipe !== undefined) {
      leftOut(pipe);
      break;
    }
    if (operator !== undefined) throw new RequestRefusal(`contains ${operator}, which a shell runs`, onlyOne);
    if (gap !== undefined) {
      end();
      from = index + gap.length;
      const isAtEnd = /^(?:\||(?:#[^\n]*|\s)*$)/.test(line.slice(from));
      if (words.length > 0 && gap.includes('\n') && !isAtEnd)
        throw new RequestRefusal('contains a second line that no \\ continues', onlyOne);
    } else if (word === undefined && text === '#') {
      from = index + line.slice(index).search(/\n|$/);
    } else {
      if (word === undefined && /^[“”„‘’‚]/.test(text)) throw typographicQuote(text);
      word = (word ?? '') + (quoted === undefined ? (escaped ?? text) : unquoted(quoted));
      if (quoted === undefined && escaped === undefined) unquotedText += text;
    }
  }
  end();
  return words;
}

/** Programs that only change how a response is shown. */
const viewer = /^\|\s*(?:jq|json_pp|python3? -m json\.tool)(?=\s|$)/;

/** Returns the pipe at the end of a line if it leads only to such a program. */
function viewerPipe(text: string): string | undefined {
  const [start] = viewer.exec(text) ?? [];
  if (start === undefined) return undefined;
  const isRun = [...text.slice(start.length).trimEnd().matchAll(pieces)].some(
    ({ groups: { operator, open, quoted = '', gap = '' } = {} }) =>
      operator !== undefined || open !== undefined || gap.includes('\n') || /^\$?".*(?:`|\$\()/s.test(quoted),
  );
  if (isRun) return undefined;
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
  const coded = /\\(?:x([\da-f]{1,2})|([0-7]{1,3})|u([\da-f]{1,4})|U([\da-f]{1,8})|c([\s\S])|([\s\S]))/giu;
  const bytes: Buffer[] = [];
  let from = 0;
  for (const match of text.matchAll(coded)) {
    const [escapeText, hex, octal, short, long, control, letter = ''] = match;
    bytes.push(Buffer.from(text.slice(from, match.index)));
    from = match.index + escapeText.length;
    const point = short ?? long;
    const isOther = letter !== '' && escapes[letter] === undefined;
    if (hex ?? octal) bytes.push(Buffer.from([Number.parseInt(hex ?? octal ?? '', hex ? 16 : 8) & 255]));
    else if (point) bytes.push(Buffer.from(String.fromCodePoint(Number.parseInt(point, 16))));
    else if (control) bytes.push(Buffer.from([control.charCodeAt(0) & 31]));
    else if (!isOther) bytes.push(Buffer.from([escapes[letter] ?? 0]));
    else if (/[\\'"?]/.test(letter)) bytes.push(Buffer.from(letter));
    else bytes.push(Buffer.from(escapeText));
  }
  return Buffer.concat([...bytes, Buffer.from(text.slice(from))]).toString('utf8');
}

/**
 * As cmd and then a C program read a line: `^` escapes outside of quotes, `\"` and `""` are a quote in a quoted word. Chrome of 2018
 * also escaped inside of quotes.
 */
function cmdWords(line: string): readonly string[] {
  const escapesInQuotes = /[^^]\^\\\^"/.test(line);
  const isDoubled = hasDoubledQuotes(line);
  let decoded = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (isDoubled && isQuoted && line.startsWith('""', at)) {
      decoded += '\\"';
      at += 1;
      continue;
    }
    if (character === '"') isQuoted = !isQuoted;
    if (character === '^' && (!isQuoted || escapesInQuotes)) {
      const [gap] = /^\^[ \t]*\r?\n/.exec(line.slice(at)) ?? [];
      const [, next = ''] = line.slice(at + (gap?.length ?? 0)).match(/^(\r?\n)/) ?? [];
      if (gap === undefined) {
        at += 1;
        decoded += line[at] ?? '';
      } else {
        at += gap.length + next.length - 1;
        if (next !== '') decoded += '\n';
      }
    } else if (!isQuoted && /[&|<>]/.test(character)) {
      throw new RequestRefusal(`contains ${character}, which cmd runs`, onlyOne);
    } else {
      decoded += character;
    }
  }
  const words = decoded.matchAll(/(?:"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s"])+/g);
  return [...words].map(([word]) =>
    word
      .replaceAll(
        /(\\*)"/g,
        (_, slashes: string) => '\\'.repeat(slashes.length >> 1) + (slashes.length % 2 ? '"' : '\0'),
      )
      .replaceAll('\0', ''),
  );
}
