/** Errors that a caller can make deliberately. */
export const deliberateErrors = {
  'no-token': 'No token',
  expired: 'Expired token',
  'wrong-audience': 'Token for another endpoint',
  'wrong-key': 'Token signed with another key',
  batch: 'Unpaid call in a batch',
  slow: 'Slow client',
  'dropped-session': 'Dropped session',
} as const;

export type DeliberateError = keyof typeof deliberateErrors;
