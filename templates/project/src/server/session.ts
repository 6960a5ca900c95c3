import {
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';

/** Sessions as the `mcp-session-id` header names them (C§3.1). */
export interface Sessions {
  /** Opens a session and returns its identifier. */
  open(): string;
  /** Whether the identifier is of this server, not expired and not closed. */
  isKnown(id: string | undefined): id is string;
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
  const closed = new Set<string>();
  // An HMAC costs a third of a call: a session that was verified is remembered with its end, in seconds.
  const verified = new Map<string, number>();
  let key: KeyObject | undefined;
  const sign = (claim: string) => {
    key ??= createSecretKey(secret === null ? randomBytes(32) : Buffer.from(secret));
    return createHmac('sha256', key).update(claim).digest('base64url');
  };
  /** When a session ends; long ago where the signature is not ours. */
  const endOf = (id: string): number => {
    const [, claim, issued, signature] = form.exec(id) ?? [];
    if (!claim || !issued || !signature) return 0;
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(claim)))) return 0;
    const end = Number.parseInt(issued, 36) + ttlSeconds;
    verified.set(id, end);
    if (verified.size > mostVerified) verified.delete(verified.keys().next().value ?? '');
    return end;
  };
  return {
    open() {
      const claim = `${randomUUID()}.${nowSeconds().toString(36)}`;
      return `${claim}.${sign(claim)}`;
    },
    isKnown(id): id is string {
      if (id === undefined) return false;
      return nowSeconds() < (verified.get(id) ?? endOf(id)) && !closed.has(id);
    },
    close(id) {
      closed.add(id);
      if (closed.size > mostClosed) closed.delete(closed.values().next().value ?? '');
    },
  };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
