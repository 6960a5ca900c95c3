import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { JsonObject } from 'market-mcp-contract/json';

/** The key set of a platform as it publishes it: the public key, for RSA also as a certificate (`x5c`). */
export function publishedKeySet(privateKey: KeyObject, algorithm: string): JsonObject {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as JsonObject;
  const key = { ...jwk, alg: algorithm, use: 'sig', kid: 'local' };
  if (privateKey.asymmetricKeyType !== 'rsa') return { keys: [key] };
  return { keys: [{ ...key, x5c: [selfSigned(privateKey).toString('base64')] }] };
}

const [integer, bitString, nothing, identifier, time, sequence, version] = [2, 3, 5, 6, 23, 48, 160];
const sha256WithRsa = Buffer.from('2a864886f70d01010b', 'hex');

/** A self-signed X.509 certificate of an RSA key, as DER. */
export function selfSigned(key: KeyObject): Buffer {
  const algorithm = der(sequence, der(identifier, sha256WithRsa), der(nothing));
  const name = der(sequence);
  const content = der(
    sequence,
    der(version, der(integer, Buffer.of(2))),
    der(integer, Buffer.of(1)),
    algorithm,
    name,
    der(sequence, der(time, Buffer.from('250101000000Z')), der(time, Buffer.from('490101000000Z'))),
    name,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
  );
  return der(sequence, content, algorithm, der(bitString, Buffer.of(0), sign('sha256', content, key)));
}

/** A value in DER: tag, length in the definite form, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 128) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length);
  return Buffer.concat([Buffer.of(tag, 0x82), length, content]);
}
