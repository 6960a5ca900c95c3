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
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;

/**
 * Sessions that are signed, not stored: random part, time of issue, and an HMAC-SHA256 of both. They cost no memory,
 * outlive a restart and hold on every replica with the same secret.
 *
 * @param secret null for a random one: the sessions then end with the process
 */
export function createSessions(secret: string | null, ttlSeconds: number): Sessions {
  const closed = new Set<string>();
  let key: KeyObject | undefined;
  const sign = (claim: string) => {
    key ??= createSecretKey(secret === null ? randomBytes(32) : Buffer.from(secret));
    return createHmac('sha256', key).update(claim).digest('base64url');
  };
  return {
    open() {
      const claim = `${randomUUID()}.${nowSeconds().toString(36)}`;
      return `${claim}.${sign(claim)}`;
    },
    isKnown(id): id is string {
      const [, claim, issued, signature] = form.exec(id ?? '') ?? [];
      if (id === undefined || !claim || !issued || !signature) return false;
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(claim)))) return false;
      return nowSeconds() < Number.parseInt(issued, 36) + ttlSeconds && !closed.has(id);
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
