import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { exportJwk } from './server/platform-keys.ts';

export type ReadText = (path: string) => string;

const keyTypes: { readonly [family: string]: string } = { RS: 'rsa', PS: 'rsa', ES: 'ec', Ed: 'ed25519' };

/**
 * The value of PLATFORM_PUBLIC_KEY.
 *
 * @param text PEM, its line breaks also as \n, or the path of a file
 * @throws Error that says what is wrong, without the text
 */
export function publicKeyOf(text: string, algorithms: readonly string[], readText: ReadText): JsonWebKey {
  const pem = text.includes('-----BEGIN') ? text.replaceAll('\\n', '\n') : readKeyFile(text, readText);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(pem))
    throw new Error('contains a private key; use the public key of the platform.');
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw new Error(
      'expected a public key or a certificate as PEM text, or the path of a file that contains it.',
    );
  }
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails } = key;
  if (!algorithms.some((algorithm) => keyTypes[algorithm.slice(0, 2)] === type)) {
    throw new Error(`is a key of type ${type}, which cannot be used with ${algorithms.join(' or ')}.`);
  }
  if (type === 'rsa' && Number(asymmetricKeyDetails?.modulusLength) < 2048) {
    throw new Error('expected an RSA key of 2048 bits or more.');
  }
  return exportJwk(key);
}

function readKeyFile(path: string, readText: ReadText): string {
  try {
    return readText(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new Error(`is neither PEM text nor the path of a readable file (${reason}).`);
  }
}
