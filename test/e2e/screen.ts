import { keys } from '../keys.ts';

/** A control sequence, or one character. */
const pieces = new RegExp(String.raw`${keys.escape}\[([\d;?]*)([A-Za-z])|[\s\S]`, 'gu');

/**
 * The screen of a terminal after a program wrote to it, as lines of plain text. Supports the sequences that the prompts use:
 * cursor moves, erasing, colours. Lines that scrolled away are kept, and the cursor cannot reach them.
 */
export function screenOf(output: string, rows: number): readonly string[] {
  const lines: string[][] = [[]];
  let row = 0;
  let top = 0;
  let column = 0;
  const put = (character: string) => {
    const line = lines[row] ?? [];
    lines[row] = line;
    while (line.length < column) line.push(' ');
    line[column++] = character;
  };
  const control = (parameters: string, letter: string) => {
    const count = Number.parseInt(parameters, 10) || 1;
    if (letter === 'A') row = Math.max(top, row - count);
    if (letter === 'B') row = Math.min(top + rows - 1, row + count);
    if (letter === 'C') column += count;
    if (letter === 'D') column = Math.max(0, column - count);
    if (letter === 'G') column = count - 1;
    if (letter === 'J') lines.splice(row, lines.length, (lines[row] ?? []).slice(0, column));
    if (letter === 'K') lines[row] = parameters === '2' ? [] : (lines[row] ?? []).slice(0, column);
  };
  for (const [piece, parameters, letter] of output.matchAll(pieces)) {
    if (letter !== undefined) control(parameters ?? '', letter);
    else if (piece === '\n') {
      row += 1;
      top = Math.max(top, row - rows + 1);
      lines[row] ??= [];
    } else if (piece === '\r') column = 0;
    else if (piece >= ' ') put(piece);
  }
  return Array.from(lines, (line) => (line ?? []).join('').trimEnd());
}
