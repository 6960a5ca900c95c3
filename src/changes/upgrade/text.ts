/** Text as it was saved, byte order mark and line ends included. */
export function textOf(content: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
}

/** Without byte order mark, lines ended by a line feed alone. */
export function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
}

/** A text with the byte order mark and the line ends of its author's copy; of two line ends, the more frequent one. */
export function inStyle(authors: string, text: string): Uint8Array {
  const mark = authors.startsWith('\ufeff') ? '\ufeff' : '';
  const isWindows = (authors.split('\r\n').length - 1) * 2 > authors.split('\n').length - 1;
  const lines = plain(text);
  return new TextEncoder().encode(mark + (isWindows ? lines.replaceAll('\n', '\r\n') : lines));
}
