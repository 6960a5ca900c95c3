/** What a terminal sends for a key. */
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
};
