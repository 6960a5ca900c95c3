import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Where a marketplace answers, and the secret that admits to it. */
export interface Access {
  /** `http://127.0.0.1:4400`, for programs: not all of them resolve names under `.localhost`. */
  readonly url: string;
  readonly secret: string;
}

/** A secret of 128 bits. */
export function newSecret(): string {
  return randomBytes(16).toString('base64url');
}

/**
 * Where browsers open the pages: `http://<16 hexadecimal digits>.localhost:4400`. Browsers send a cookie to every port of its
 * host, so the host is one that no other program knows: only a client that has the secret may learn it. It is derived from the
 * secret, does not reveal it, and remains the same as long as the secret does.
 */
export function pageUrlOf({ url, secret }: Access): string {
  return url.replace(programHost, pageHostOf(secret));
}

/** The link to open in a browser: `http://<16 hexadecimal digits>.localhost:4400/?secret=…` */
export function linkOf(access: Access): string {
  return `${pageUrlOf(access)}/?secret=${access.secret}`;
}

/** The value of MARKET_MCP_URL for programs: `http://127.0.0.1:4400/?secret=…` */
export function programLinkOf({ url, secret }: Access): string {
  return `${url}/?secret=${secret}`;
}

/** The parts of a link of either form. Undefined for any other text: a marketplace listens only on loopback. */
export function accessIn(link: unknown): Access | undefined {
  const parts = /^http:\/\/([^/:@]+):(\d{1,5})\/\?secret=([\w-]{22})$/.exec(String(link));
  const [, host = '', port, secret = ''] = parts ?? [];
  const isOwn = host === programHost || host === pageHostOf(secret);
  if (isOwn) return { url: `http://${programHost}:${port}`, secret };
  return undefined;
}

const programHost = '127.0.0.1';

function pageHostOf(secret: string): string {
  return `${createHmac('sha256', secret).update('host').digest('hex').slice(0, 16)}.localhost`;
}

/** Whether two texts are the same, compared in a time that depends on neither. */
export function isSame(value: unknown, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return typeof value === 'string' && timingSafeEqual(hash(value), hash(expected));
}

export const proofPath = '/.well-known/market-mcp';
export const proofHeader = 'x-market-mcp-proof';

/**
 * Proves to anyone who asks with a random text that a marketplace knows the secret, without sending it. It is bound to the URL:
 * another program at another port cannot pass it on.
 */
export function proofOf({ url, secret }: Access, nonce: string): string {
  return createHmac('sha256', secret).update(`${url} ${nonce}`).digest('base64url');
}
