/** Lines of text with a cursor. `column` counts code points. There is always at least one line. */
export interface TextLines {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** A key as readline names it. */
export interface KeyPress {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
}

const lineEnd = Number.POSITIVE_INFINITY;

/** The lines with the cursor at the end of the last one. */
export function textLines(lines: readonly string[]): TextLines {
  const allLines = lines.length > 0 ? lines : [''];
  return at({ lines: allLines, row: 0, column: 0 }, allLines.length - 1);
}

/** The text before and after the cursor on its line. */
export function aroundCursor({ lines, row, column }: TextLines): readonly [string, string] {
  const points = [...(lines[row] ?? '')];
  return [points.slice(0, column).join(''), points.slice(column).join('')];
}

/** Moves the cursor to a line, to the given column or the end of the line. */
export function at(text: TextLines, row: number, column = lineEnd): TextLines {
  const next = Math.min(Math.max(row, 0), text.lines.length - 1);
  const length = [...(text.lines[next] ?? '')].length;
  return { ...text, row: next, column: Math.min(Math.max(column, 0), length) };
}

/** Inserts text; its line breaks start new lines. */
export function insert(text: TextLines, typed: string): TextLines {
  const [before, after] = aroundCursor(text);
  const lines = `${before}${typed}`.split('\n');
  const moved = { ...text, lines: text.lines.toSpliced(text.row, 1, ...lines) };
  const end = at(moved, text.row + lines.length - 1);
  return { ...end, lines: end.lines.with(end.row, `${end.lines[end.row]}${after}`) };
}

/** Replaces the text before the cursor on its line. */
export function replaceBefore(text: TextLines, before: string): TextLines {
  const [, after] = aroundCursor(text);
  return { ...text, lines: text.lines.with(text.row, before + after), column: [...before].length };
}

/** The text after a key; undefined if the key does not edit. */
export function edited(text: TextLines, character: string | undefined, key: KeyPress): TextLines | undefined {
  const { name = '', ctrl, meta, shift } = key;
  const edit = edits[ctrl && name.length === 1 ? `ctrl-${name}` : name];
  if (edit) return edit(text, Boolean(shift || meta || ctrl));
  const isTyped = character !== undefined && !ctrl && !meta && !/\p{Cc}/u.test(character);
  if (isTyped) return insert(text, character);
  return undefined;
}

/** What each key does; `isHeld`: together with Shift, Alt or Ctrl. */
const edits: { readonly [key: string]: (text: TextLines, isHeld: boolean) => TextLines } = {
  up: (text, isHeld) => (isHeld ? moveLine(text, -1) : at(text, text.row - 1)),
  down: (text, isHeld) => (isHeld ? moveLine(text, 1) : at(text, text.row + 1)),
  left: (text) => at(text, text.row, text.column - 1),
  right: (text) => at(text, text.row, text.column + 1),
  home: (text) => at(text, text.row, 0),
  'ctrl-a': (text) => at(text, text.row, 0),
  end: (text) => at(text, text.row),
  'ctrl-e': (text) => at(text, text.row),
  backspace,
  delete(text) {
    const [before, after] = aroundCursor(text);
    return { ...text, lines: text.lines.with(text.row, before + [...after].slice(1).join('')) };
  },
  'ctrl-k'({ lines, row, column }) {
    const rest = lines.length > 1 ? lines.toSpliced(row, 1) : [''];
    return at({ lines: rest, row, column }, row, column);
  },
  'ctrl-u': (text) => replaceBefore(text, ''),
  'ctrl-w': (text) => replaceBefore(text, aroundCursor(text)[0].replace(/\S+\s*$/, '')),
};

/** Swaps the cursor's line with the one above (-1) or below (1). */
function moveLine(text: TextLines, by: -1 | 1): TextLines {
  const { lines, row } = text;
  const targetLine = lines[row + by];
  if (targetLine === undefined) return text;
  return { ...text, lines: lines.with(row + by, lines[row] ?? '').with(row, targetLine), row: row + by };
}

/** Removes the character before the cursor; at the start of a line, the line break. */
function backspace(text: TextLines): TextLines {
  const [before, after] = aroundCursor(text);
  if (before !== '') return replaceBefore(text, [...before].slice(0, -1).join(''));
  const previousLine = text.lines[text.row - 1];
  if (previousLine === undefined) return text;
  const lines = text.lines.toSpliced(text.row - 1, 2, previousLine + after);
  return { lines, row: text.row - 1, column: [...previousLine].length };
}
