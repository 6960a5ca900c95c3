import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

/** Sessions as the `mcp-session-id` header names them (C§3.1). */
export interface Sessions {
  /** Opens a session and returns its identifier. */
  open(): string;
  /** Whether the identifier is of this server, not expired and not closed. */
  isKnown(id: string | undefined): id is string;
  /** Ends a session before its time. Only this process knows of it. */
  close(id: string): void;
}

const mostVerified = 5_000;
/** Random part and time of issue in seconds, then the signature of both. */
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;

/**
 * Sessions that are signed, not stored: random part, time of issue, and an HMAC-SHA256 of both. They cost no memory,
 * outlive a restart and hold on every replica with the same secret.
 *
 * @param secret null for a random one: the sessions then end with the process
 * @param audience what else is signed: servers that share a secret do not share sessions
 */
export function createSessions(
  secret: string | null,
  ttlSeconds: number,
  audience = '',
  closed = createClosed(),
): Sessions {
  // An HMAC costs a third of a call: a session that was verified is remembered with its time of issue.
  const verified = new Map<string, number>();
  let key: string | Buffer | null = secret;
  const sign = (claim: string) => {
    key ??= randomBytes(32);
    return createHmac('sha256', key).update(`${claim}\n${audience}`).digest('base64url');
  };
  /** When an open session was issued; undefined where the signature is not ours or it is closed. */
  const issuedAt = (id: string): number | undefined => {
    const [, claim = '', issued = '', signature = ''] = form.exec(id) ?? [];
    if (!signature || !timingSafeEqual(Buffer.from(signature), Buffer.from(sign(claim)))) return undefined;
    if (closed.has(id)) return undefined;
    const at = Number.parseInt(issued, 36);
    verified.set(id, at);
    if (verified.size > mostVerified) verified.delete(verified.keys().next().value ?? '');
    return at;
  };
  return {
    open() {
      for (;;) {
        const claim = `${randomUUID()}.${Math.max(nowSeconds(), closed.allBefore()).toString(36)}`;
        const id = `${claim}.${sign(claim)}`;
        if (!closed.has(id)) return id;
      }
    },
    isKnown(id): id is string {
      if (id === undefined) return false;
      const issued = verified.get(id) ?? issuedAt(id);
      return issued !== undefined && issued >= closed.allBefore() && nowSeconds() < issued + ttlSeconds;
    },
    close(id) {
      closed.add(id);
      verified.delete(id);
    },
  };
}

const filterBytes = 2 ** 21;
const bitsOfOne = 8;

/**
 * The closed sessions, in a Bloom filter of 2 MiB that is allocated when it is needed. A closed session is never taken
 * for an open one; an open one is taken for closed with a chance that grows from nothing to one in a thousand as the
 * filter fills. When it holds a million, every session that was issued until then is closed, and it begins anew: their
 * clients open another.
 */
export function createClosed(most = 1_000_000) {
  let bits = new Uint8Array();
  let count = 0;
  let allBefore = 0;
  return {
    /** Sessions issued before are all closed, in seconds. */
    allBefore: () => allBefore,
    has: (id: string): boolean => placesOf(id).every((place) => ((bits[place >> 3] ?? 0) >> (place & 7)) & 1),
    add(id: string): void {
      if (count === most) allBefore = nowSeconds() + 1;
      if (count === 0 || count === most) {
        bits = new Uint8Array(filterBytes);
        count = 0;
      }
      count++;
      for (const place of placesOf(id)) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
    },
  };
}

/** Where a session is marked: its signature is as good as random, so that its bytes are the hash. */
function placesOf(id: string): number[] {
  const hash = Buffer.from(id.slice(-43), 'base64url');
  return Array.from({ length: bitsOfOne }, (_, at) => hash.readUIntBE(at * 3, 3));
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
