import { isJwt, isKeyName } from './key-names.ts';

/** Shorter texts may be ordinary words. */
const leastLength = 8;
/** A word of so many letters is no ordinary one. */
const leastLetters = 16;

/** A URL with a password. */
const withPassword = /^[a-z][a-z\d+.-]*:\/\/[^/?#@]*:[^/?#@]+@/i;

/** Whether the value of a variable or of a header is a secret, and no word that a text may contain by chance. */
export function isSecretValue(name: string, value: string): boolean {
  if (value.length < leastLength) return false;
  if (isJwt(value) || withPassword.test(value)) return true;
  const isMixed = /\d/.test(value) && /[a-z]/i.test(value);
  return isKeyName(name) && (isMixed || value.length >= leastLetters);
}
