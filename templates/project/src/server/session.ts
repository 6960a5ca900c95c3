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
  /** Ends a session before its time. Only this process knows of it. */
  close(id: string): void;
}

const mostVerified = 5_000;
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;

/**
 * Sessions that are signed, not stored: random part, time of issue, and an HMAC-SHA256 of both. They cost no memory,
 * outlive a restart and hold on every replica with the same secret.
 *
 * @param secret null for a random one: the sessions then end with the process
 * @param audience what else is signed: servers that share a secret do not share sessions
 */
export function createSessions(secret: string | null, ttlSeconds: number, audience = ''): Sessions {
  const closed = createClosed();
  // An HMAC costs a third of a call: a session that was verified is remembered with its time of issue, in seconds.
  const verified = new Map<string, number>();
  let key: KeyObject | undefined;
  const sign = (claim: string) => {
    key ??= createSecretKey(secret === null ? randomBytes(32) : Buffer.from(secret));
    return createHmac('sha256', key).update(`${claim}\n${audience}`).digest('base64url');
  };
  /** When an open session was issued; long ago where the signature is not ours or it is closed. */
  const issuedAt = (id: string): number => {
    const [, claim, issued, signature] = form.exec(id) ?? [];
    if (!claim || !issued || !signature) return Number.NEGATIVE_INFINITY;
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(claim)))) return Number.NEGATIVE_INFINITY;
    if (closed.has(id)) return Number.NEGATIVE_INFINITY;
    const at = Number.parseInt(issued, 36);
    verified.set(id, at);
    if (verified.size > mostVerified) verified.delete(verified.keys().next().value ?? '');
    return at;
  };
  const isKnown = (id: string | undefined): id is string => {
    if (id === undefined) return false;
    const issued = verified.get(id) ?? issuedAt(id);
    return nowSeconds() < issued + ttlSeconds && issued >= closed.knownSince();
  };
  return {
    open() {
      for (;;) {
        const claim = `${randomUUID()}.${nowSeconds().toString(36)}`;
        const id = `${claim}.${sign(claim)}`;
        if (!closed.has(id)) return id;
      }
    },
    isKnown,
    close(id) {
      closed.add(id);
      verified.delete(id);
    },
  };
}

const filterBytes = 2 ** 21;
const bitsOfOne = 8;

interface Filter {
  readonly bits: Uint8Array;
  readonly since: number;
  count: number;
}

/**
 * The closed sessions, in two Bloom filters of 2 MiB that are allocated when they are needed. A closed session is never
 * taken for an open one; an open one is taken for closed with a chance that grows from nothing to one in a thousand as
 * the filters fill. When both hold a million, the older one is dropped, and with it every session that was issued
 * before the newer one began: their clients open another.
 */
export function createClosed(mostInFilter = 1_000_000) {
  let older: Filter | undefined;
  let newer: Filter | undefined;
  let knownSince = Number.NEGATIVE_INFINITY;
  const holds = (filter: Filter | undefined, places: readonly number[]) =>
    filter !== undefined && places.every((place) => (filter.bits[place >> 3] ?? 0) & (1 << (place & 7)));
  return {
    /** Sessions issued before are all taken for closed, in seconds. */
    knownSince: () => knownSince,
    has(id: string): boolean {
      if (newer === undefined) return false;
      const places = placesOf(id);
      return holds(newer, places) || holds(older, places);
    },
    add(id: string): void {
      if (newer === undefined || newer.count >= mostInFilter) {
        // Everything that the dropped filter holds was issued before the next one began.
        if (older) knownSince = newer?.since ?? knownSince;
        older = newer;
        newer = { bits: new Uint8Array(filterBytes), since: nowSeconds() + 1, count: 0 };
      }
      newer.count++;
      for (const place of placesOf(id))
        newer.bits[place >> 3] = (newer.bits[place >> 3] ?? 0) | (1 << (place & 7));
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
