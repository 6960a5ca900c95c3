/** A file as text, with its byte order mark and line ends. */
export function textOf(content: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
}

/** Removes the byte order mark and normalizes line ends to `\n`. */
export function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
}

/** A text with the byte order mark and line ends of the author's copy. If that mixes line ends, the more frequent one is used. */
export function inStyle(authors: string, text: string): Uint8Array {
  const mark = authors.startsWith('\ufeff') ? '\ufeff' : '';
  const isWindows = (authors.split('\r\n').length - 1) * 2 > authors.split('\n').length - 1;
  const lines = plain(text);
  return new TextEncoder().encode(mark + (isWindows ? lines.replaceAll('\n', '\r\n') : lines));
}
