import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Where a marketplace answers, and the secret that admits to it. */
export interface Access {
  /** `http://127.0.0.1:4400` */
  readonly url: string;
  readonly secret: string;
}

/** A secret of 128 bits. */
export function newSecret(): string {
  return randomBytes(16).toString('base64url');
}

/** The link to open, which is also the value of MARKET_MCP_URL: `http://127.0.0.1:4400/?secret=…` */
export function linkOf({ url, secret }: Access): string {
  return `${url}/?secret=${secret}`;
}

/** The parts of a link. Undefined for any other text: a marketplace listens on 127.0.0.1 alone. */
export function accessIn(link: unknown): Access | undefined {
  const parts = /^(http:\/\/127\.0\.0\.1:\d{1,5})\/\?secret=([\w-]{22})$/.exec(String(link));
  return parts ? { url: parts[1] ?? '', secret: parts[2] ?? '' } : undefined;
}

/** Whether two texts are the same, compared in a time that depends on neither. */
export function isSame(given: unknown, wanted: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(hash(given), hash(wanted));
}

export const proofPath = '/.well-known/market-mcp';
export const proofHeader = 'x-market-mcp-proof';

/**
 * Proves to whoever asks with a random text that a marketplace knows the secret, without sending it. It is bound to the URL:
 * a stranger at another port cannot pass it on.
 */
export function proofOf({ url, secret }: Access, nonce: string): string {
  return createHmac('sha256', secret).update(`${url} ${nonce}`).digest('base64url');
}
