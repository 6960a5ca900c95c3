/** Pieces of a command line as one line that a POSIX shell reads as these very pieces. */
export function shellLine(pieces: readonly string[]): string {
  return pieces.map(quoted).join(' ');
}

function quoted(piece: string): string {
  return /^[\w@%+:,./-]+$/.test(piece) ? piece : `'${piece.replaceAll("'", `'\\''`)}'`;
}
