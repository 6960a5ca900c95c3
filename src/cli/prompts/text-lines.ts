/** Lines of text with a cursor. `column` counts code points. There is always at least one line. */
export interface TextLines {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** The lines with the cursor at the end of the last one. */
export function textLines(lines: readonly string[]): TextLines {
  const all = lines.length > 0 ? lines : [''];
  return at({ lines: all, row: all.length - 1, column: 0 }, all.length - 1, Number.POSITIVE_INFINITY);
}

/** The text before and after the cursor on its line. */
export function aroundCursor({ lines, row, column }: TextLines): readonly [string, string] {
  const points = [...(lines[row] ?? '')];
  return [points.slice(0, column).join(''), points.slice(column).join('')];
}

/** Moves the cursor to a line, to the given column or the end of the line. */
export function at(text: TextLines, row: number, column = text.column): TextLines {
  const next = Math.min(Math.max(row, 0), text.lines.length - 1);
  return { ...text, row: next, column: Math.min(column, [...(text.lines[next] ?? '')].length) };
}

/** Inserts text; its line breaks start new lines. */
export function insert(text: TextLines, typed: string): TextLines {
  const [before, after] = aroundCursor(text);
  const parts = typed.split('\n');
  const last = parts.length === 1 ? before + typed : (parts.at(-1) ?? '');
  const lines =
    parts.length === 1 ? [last + after] : [before + parts[0], ...parts.slice(1, -1), last + after];
  const row = text.row + parts.length - 1;
  return { lines: text.lines.toSpliced(text.row, 1, ...lines), row, column: [...last].length };
}

/** Replaces the text before the cursor on its line. */
export function replaceBefore(text: TextLines, before: string): TextLines {
  const [, after] = aroundCursor(text);
  return { ...text, lines: text.lines.with(text.row, before + after), column: [...before].length };
}

/** Removes the cursor's line. */
export function removeLine(text: TextLines): TextLines {
  const lines = text.lines.toSpliced(text.row, 1);
  return at({ ...text, lines: lines.length > 0 ? lines : [''] }, text.row);
}

/** Swaps the cursor's line with the one above (-1) or below (1). */
export function moveLine(text: TextLines, by: -1 | 1): TextLines {
  const { lines, row } = text;
  const other = lines[row + by];
  if (other === undefined) return text;
  return { ...text, lines: lines.with(row + by, lines[row] ?? '').with(row, other), row: row + by };
}

/** Removes the character before the cursor; at the start of a line, the line break. */
export function backspace(text: TextLines): TextLines {
  const [before, after] = aroundCursor(text);
  if (before !== '') return replaceBefore(text, [...before].slice(0, -1).join(''));
  const above = text.lines[text.row - 1];
  if (above === undefined) return text;
  const lines = text.lines.toSpliced(text.row - 1, 2, above + after);
  return { lines, row: text.row - 1, column: [...above].length };
}

/** Removes the character under the cursor. */
export function deleteNext(text: TextLines): TextLines {
  const [before, after] = aroundCursor(text);
  return { ...text, lines: text.lines.with(text.row, before + [...after].slice(1).join('')) };
}
