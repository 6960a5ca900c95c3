import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createHoldings, type Limits } from './limits.ts';
import type { Report } from './log.ts';

const mostVerified = 5_000;
/** A random part, the time of issue in seconds (base 36), and the signature of both. */
const form = /^([0-9a-f-]{36}\.([0-9a-z]{1,9}))\.([\w-]{43})$/;

/**
 * Issues and checks the ids in the `mcp-session-id` header (C§3.1). They are signed with HMAC-SHA256, not stored: sessions
 * need no memory, survive a restart and are valid on every replica with the same secret.
 *
 * @param secret null for a random one: sessions then end with the process
 * @param audience part of the signature, so that servers with the same secret do not share sessions
 */
export function createSessions(
  secret: string | null,
  ttlSeconds: number,
  audience = '',
  closed = createClosed(),
) {
  // Caches the time of issue of verified sessions: an HMAC is a third of the cost of a call.
  const verified = new Map<string, number>();
  let key: string | Buffer | null = secret;
  const sign = (claim: string) => {
    key ??= randomBytes(32);
    return createHmac('sha256', key).update(`${claim}\n${audience}`).digest('base64url');
  };
  /** The time of issue; undefined if the signature is wrong or the session is closed. */
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
    /** Opens a session and returns its id. */
    open(): string {
      for (;;) {
        const claim = `${randomUUID()}.${Math.max(nowSeconds(), closed.allBefore()).toString(36)}`;
        const id = `${claim}.${sign(claim)}`;
        if (!closed.has(id)) return id;
      }
    },
    /** Whether an id is valid, not expired and not closed. */
    isKnown(id: string | undefined): id is string {
      if (id === undefined) return false;
      const issued = verified.get(id) ?? issuedAt(id);
      return issued !== undefined && issued >= closed.allBefore() && nowSeconds() < issued + ttlSeconds;
    },
    /** Closes a session, in this process only. */
    close(id: string): void {
      closed.add(id);
      verified.delete(id);
    },
  };
}

const filterBytes = 2 ** 21;
const bitsOfOne = 8;

/**
 * Stores closed sessions in a Bloom filter of 2 MiB, allocated on first use. Closed sessions are always recognized. An open
 * session is taken for closed with a probability of up to 0.1% as the filter fills. After `most` sessions the filter starts
 * again, and every session issued before is closed: clients open a new one.
 */
export function createClosed(most = 1_000_000) {
  let bits = new Uint8Array();
  let count = 0;
  let allBefore = 0;
  return {
    /** Sessions issued before this time, in seconds, are closed. */
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

/** The filter bits of a session. Its signature is random enough to serve as the hash. */
function placesOf(id: string): number[] {
  const hash = Buffer.from(id.slice(-43), 'base64url');
  return Array.from({ length: bitsOfOne }, (_, at) => hash.readUIntBE(at * 3, 3));
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

const keepAliveMs = 25_000;
const keepAlive = ': keep-alive\n\n';

/**
 * The open event streams of `GET /mcp`: the newest one of each session and of each connection. A server with only tools
 * sends no events; comments keep proxies from closing the stream.
 */
export function createStreams({ maxStreams }: Pick<Limits, 'maxStreams'>, report: Report) {
  type End = () => void;
  const bySession = new Map<string, End>();
  const bySocket = new Map<Socket, End>();
  const streams = createHoldings<End>(
    maxStreams,
    () => true,
    (end) => end(),
  );
  return {
    /** Starts a stream on a response whose head is written. */
    open(session: string, address: string, socket: Socket, response: ServerResponse): void {
      const timer = setInterval(() => response.write(keepAlive), keepAliveMs).unref();
      const end = () => {
        clearInterval(timer); // a write after `end` would crash the process while the response waits behind others
        response.end();
      };
      bySession.get(session)?.();
      bySession.set(session, end);
      bySocket.set(socket, end);
      response.once('close', () => {
        clearInterval(timer);
        streams.remove(address, end);
        if (bySession.get(session) === end) bySession.delete(session);
        if (bySocket.get(socket) === end) bySocket.delete(socket);
      });
      response.write(keepAlive);
      if (!streams.add(address, end)) report('MAX_STREAMS');
    },
    close(session: string): void {
      bySession.get(session)?.();
    },
    /** Ends the stream of a connection, because another request waits behind it. */
    giveWay(socket: Socket): void {
      bySocket.get(socket)?.();
    },
    closeAll(): void {
      for (const end of bySocket.values()) end();
    },
  };
}
