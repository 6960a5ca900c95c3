/**
 * Whether a text is printable ASCII with tabs and line breaks, as most names and descriptions are. A regular expression
 * with Unicode classes takes milliseconds to build, so callers use one only for other texts.
 */
export function isAscii(text: string): boolean {
  return !/[^\t\n\r -~]/.test(text);
}
