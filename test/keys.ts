/** The bytes that a terminal sends for each key. */
export const keys = {
  enter: '\r',
  ctrlC: '\u0003',
  ctrlU: '\u0015',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  space: ' ',
  tab: '\t',
  ctrlD: '\u0004',
  ctrlK: '\u000b',
  shiftUp: '\u001b[1;2A',
  pasteStart: '\u001b[200~',
  pasteEnd: '\u001b[201~',
};

/** The bytes that a terminal sends for a marked paste; line breaks are sent as typed. */
export function pasted(text: string): string {
  return keys.pasteStart + text.replaceAll('\n', '\r') + keys.pasteEnd;
}
