import { createPrivateKey, createPublicKey, KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { present } from '../json/json.ts';
import { memoize } from '../json/memoize.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { PlatformProfile } from '../platforms/profile.ts';
import { knownKey } from './known-key.ts';

/** Issues the tokens of a platform, valid and forged ones. */
export interface Signer {
  /** The `iss` claim of a valid token. */
  readonly issuer: string;
  /** The `aud` claim of a valid token: the endpoint's URL. */
  readonly audience: string;
  /** PEM (SPKI) of the key to be trusted. */
  readonly publicKey: string;
  /** A token in compact form, valid unless a variant makes it a forged one. */
  token(variant?: TokenVariant): Promise<string>;
}

/** The changes to an ordinary token. The result is valid or forged. */
export interface TokenVariant {
  /** Replaces claims; undefined removes one. */
  readonly claims?: Readonly<Record<string, Json | undefined>>;
  /** Further header parameters of a token that is signed by `platform`, `untrusted` or `embedded`. */
  readonly header?: JsonObject;
  /**
   * Who signs. `platform`: the trusted key. `untrusted`: another key. `embedded`: another key, which the token's header
   * contains. `nobody`: alg none. `public-key`: HS256 with the trusted public key as the secret.
   * `other-algorithm`: an algorithm that the platform does not use, with the trusted key where it is an RSA key; `algorithm`
   * names one of RSA.
   */
  readonly by?: 'platform' | 'untrusted' | 'embedded' | 'nobody' | 'public-key' | 'other-algorithm';
  readonly algorithm?: string;
}

export interface SignerOptions {
  /** The issuer of the tokens; by default the issuer of the profile. */
  readonly issuer?: string | undefined;
  /** The private key whose public key the server trusts; by default a temporary one. */
  readonly privateKey?: KeyObject | undefined;
}

/**
 * A signer for the first of the profile's algorithms that the key can be used with.
 *
 * @param profile the platform's description of its tokens.
 * @param audience the public URL of the server, as it knows it.
 * @throws Error if the key cannot be used with any of the profile's algorithms.
 */
export async function createSigner(
  profile: PlatformProfile['token'],
  audience: string,
  { issuer = profile.issuer ?? 'https://platform.invalid', privateKey }: SignerOptions = {},
): Promise<Signer> {
  const algorithm = algorithmFor(profile.algorithms, privateKey);
  const ownKeys = privateKey ? keyPair(privateKey) : await newKeys(algorithm);
  const publicKey = ownKeys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  /** A key pair for an algorithm that is not the platform's. */
  const foreign = memoize(async (alg: string): Promise<Keys> => {
    const knownPair = keyPair(createPrivateKey({ key: knownKey, format: 'jwk' }));
    if (/^[RP]S/.test(alg) && !knownPair.publicKey.equals(ownKeys.publicKey)) return knownPair;
    return newKeys(alg);
  });

  return {
    issuer,
    audience,
    publicKey,
    async token({ claims, header: parameters, by = 'platform', algorithm: otherAlgorithm = 'RS512' } = {}) {
      const payload = payloadOf(profile, { iss: issuer, aud: audience, ...claims });
      const signed = (alg: string, header = {}) =>
        new SignJWT(payload).setProtectedHeader({ alg, typ: 'JWT', ...header });
      // jose signs only critical extensions that are passed to it.
      const critical = [parameters?.crit ?? []].flat().map((name) => [name, true]);
      const options = { crit: Object.fromEntries(critical) };
      if (by === 'platform') return signed(algorithm, parameters).sign(ownKeys.privateKey, options);
      if (by === 'other-algorithm') {
        const { privateKey: key } =
          ownKeys.privateKey.asymmetricKeyType === 'rsa' ? ownKeys : await foreign(otherAlgorithm);
        return signed(otherAlgorithm).sign(key);
      }
      if (by === 'public-key') return signed('HS256').sign(new TextEncoder().encode(publicKey));
      if (by === 'nobody') return new UnsecuredJWT(payload).encode();
      const untrusted = await foreign(algorithm);
      const header = { ...parameters };
      if (by === 'embedded') header.jwk = await exportJWK(untrusted.publicKey);
      return signed(algorithm, header).sign(untrusted.privateKey, options);
    },
  };
}

/** The first algorithm that a key can sign with. */
function algorithmFor(algorithms: readonly string[], key: KeyObject | undefined): string {
  if (!key) return algorithms[0] ?? 'RS256';
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: details } = key;
  const fits = keyTypes.find(([name, curve]) => name === type && (!curve || curve === details?.namedCurve));
  const algorithm = algorithms.find((name) => fits?.[2].test(name));
  if (algorithm === undefined) {
    throw new Error(`a key of type ${type} cannot sign with ${algorithms.join(' or ')}`);
  }
  return algorithm;
}

/** Key type, curve, and the algorithms it can sign with (RFC 7518 §3.1, RFC 8037). */
const keyTypes: readonly (readonly [string, string | undefined, RegExp])[] = [
  ['rsa', undefined, /^[RP]S/],
  ['rsa-pss', undefined, /^PS/],
  ['ec', 'prime256v1', /^ES256$/],
  ['ec', 'secp384r1', /^ES384$/],
  ['ec', 'secp521r1', /^ES512$/],
  ['ed25519', undefined, /^EdDSA$/],
];

/** A private key for `createSigner`, which takes longer to generate than all else that it does. */
export async function newPrivateKey({ algorithms }: PlatformProfile['token']): Promise<KeyObject> {
  return (await newKeys(algorithmFor(algorithms, undefined))).privateKey;
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function keyPair(privateKey: KeyObject): Keys {
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

async function newKeys(algorithm: string): Promise<Keys> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { publicKey: KeyObject.from(publicKey), privateKey: KeyObject.from(privateKey) };
}

function payloadOf(
  profile: PlatformProfile['token'],
  changes: NonNullable<TokenVariant['claims']>,
): JsonObject {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return present<Json>({
    ...profile.claims,
    iat: nowSeconds,
    exp: nowSeconds + profile.lifetimeSeconds,
    ...changes,
  });
}
