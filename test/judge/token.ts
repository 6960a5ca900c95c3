import { createPublicKey, verify } from 'node:crypto';
import type { Data } from './tools.ts';

/** What a server must know to verify the tokens of the platform. */
export interface Trust {
  /** PEM (SPKI) of the platform's RSA key. */
  readonly publicKey: string;
  readonly issuer: string;
  readonly audience: string;
}

/** The parts of a token in compact form. */
export interface Token {
  readonly header: Data;
  readonly claims: Data;
  /** What is signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** The parts of a token; undefined if a text is none. */
export function readToken(text: string): Token | undefined {
  const [header = '', claims = '', signature = '', ...more] = text.split('.');
  if (more.length > 0 || /[^\w.-]/.test(text)) return undefined;
  try {
    const [one, two] = [header, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    if (typeof one !== 'object' || typeof two !== 'object') return undefined;
    const bytes = Buffer.from(signature, 'base64url');
    if (bytes.toString('base64url') !== signature) return undefined;
    return {
      header: one ?? {},
      claims: two ?? {},
      signed: Buffer.from(`${header}.${claims}`),
      signature: bytes,
    };
  } catch {
    return undefined;
  }
}

/** The checks of a token (platform-facts.md, "Token"), each of which a broken server may leave out. */
export const tokenChecks = {
  algorithm: ({ header }: Token): boolean => header.alg === 'RS256',
  signature: ({ signed, signature }: Token, { publicKey }: Trust): boolean =>
    verify('RSA-SHA256', signed, createPublicKey(publicKey), signature),
  issuer: ({ claims }: Token, { issuer }: Trust): boolean => claims.iss === issuer,
  audience: ({ claims }: Token, { audience }: Trust): boolean => claims.aud === audience,
  expiry: ({ claims }: Token): boolean => typeof claims.exp === 'number' && claims.exp > Date.now() / 1000,
  /** The platform's tokens are valid for two minutes. */
  lifetime: ({ claims: { exp, iat } }: Token): boolean => {
    const now = Date.now() / 1000;
    return Number(iat ?? now) <= now + 60 && Number(exp ?? now) - Number(iat ?? now) <= 1_200;
  },
  start: ({ claims: { nbf } }: Token): boolean =>
    nbf === undefined || (typeof nbf === 'number' && nbf <= Date.now() / 1000 + 5),
};

export type TokenChecks = typeof tokenChecks;
