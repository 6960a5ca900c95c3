import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JsonObject } from '../../contract/model.ts';
import { certificateOf } from './certificate.ts';

/** The key set of a platform as it publishes it: the public key, for RSA also as a certificate (`x5c`). */
export function keySetOf(privateKey: KeyObject, algorithm: string): JsonObject {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as JsonObject;
  const key = { ...jwk, alg: algorithm, use: 'sig', kid: 'local' };
  if (privateKey.asymmetricKeyType !== 'rsa') return { keys: [key] };
  return { keys: [{ ...key, x5c: [certificateOf(privateKey).toString('base64')] }] };
}
