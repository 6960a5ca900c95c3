/**
 * Whether a text is printable ASCII, with tabs and line breaks, as most names and descriptions are. A regular expression
 * with classes of Unicode takes milliseconds to build, so it is used only for other texts.
 */
export function isAscii(text: string): boolean {
  return !/[^\t\n\r -~]/.test(text);
}
