import { createHmac, createSecretKey, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { dropOldest } from './bounded.ts';

/** Sessions as the `mcp-session-id` header names them (C§3.1). */
export interface Sessions {
  /** Opens a session and returns its identifier. */
  open(): string;
  /** Whether the identifier is of this server, not expired and not closed. */
  isKnown(id: string | undefined): boolean;
  /** Ends a session before its time. Only this process knows of it; the oldest ones are forgotten first. */
  close(id: string): void;
}

const mostClosed = 10_000;
const mostVerified = 5_000;
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;

/**
 * Sessions that are signed, not stored: random part, time of issue, and an HMAC-SHA256 of both. They cost no memory,
 * outlive a restart and hold on every replica with the same secret.
 *
 * @param secret null for a random one: the sessions then end with the process
 */
export function createSessions(secret: string | null, ttlSeconds: number): Sessions {
  const key = createSecretKey(secret === null ? randomBytes(32) : Buffer.from(secret));
  const closed = new Set<string>();
  const verified = new Map<string, number>();
  const signatureOf = (claim: string) => createHmac('sha256', key).update(claim).digest('base64url');

  /** When a session expires, in seconds since the epoch; long ago where the signature is not ours. */
  const verify = (id: string): number => {
    const [, claim = '', issued = '', signature = ''] = form.exec(id) ?? [];
    if (claim === '' || !timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(claim)))) return 0;
    const expiry = Number.parseInt(issued, 36) + ttlSeconds;
    verified.set(id, expiry);
    dropOldest(verified, mostVerified);
    return expiry;
  };

  return {
    open() {
      const claim = `${randomUUID()}.${nowSeconds().toString(36)}`;
      return `${claim}.${signatureOf(claim)}`;
    },
    isKnown(id) {
      if (id === undefined) return false;
      const expiry = verified.get(id) ?? verify(id);
      return nowSeconds() < expiry && !closed.has(id);
    },
    close(id) {
      closed.add(id);
      dropOldest(closed, mostClosed);
    },
  };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
